"""`DeferringStore`: a team's store for those who cannot wait for it; what it cannot write now is written later.

Hooks use it: whatever becomes of the server, the client goes on. Source: P42, docs/decisions/0017.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from pinfold.store.cleaning import cleaned
from pinfold.store.commands import SAID_NOW, PinDecision, SpillArtifact
from pinfold.store.errors import (
    ConflictError,
    DeferredError,
    InvalidInputError,
    MayNotWriteError,
    NotFoundError,
    PinfoldError,
    RefusedError,
    TooLargeError,
    UnknownOutcomeError,
    UnreachableError,
)
from pinfold.store.private_files import write_private
from pinfold.store.remote.contract import Verb, verb
from pinfold.store.remote.direct import RemoteSyncStore, on_server
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.link import Question
from pinfold.store.remote.outbox import Outbox, Waiting
from pinfold.store.remote.team_server import TeamServer
from pinfold.store.values import stamp

FINAL = (InvalidInputError, ConflictError, NotFoundError, TooLargeError)
"""What a server says of a write that it will say again, however often it is asked."""

_GONE = (UnreachableError, UnknownOutcomeError)
_BEHIND = "earlier things still wait to be sent"


class DeferringStore(RemoteSyncStore):
    """A store whose writes always find a place: on the server, else in `outbox`, where they raise `DeferredError`.

    Order is kept: nothing is written past what waits, but through `at_once`. `trouble` is why nothing more is written
    now, if so; reads go on, unless the server is out of reach or refuses. A token that may only read leaves nothing to
    wait: its writes raise `MayNotWriteError`. What a transcript says (`append_messages` with a mark) is not kept a
    second time: it can be read again.
    """

    def __init__(
        self, server: TeamServer, introduction: Introduction, outbox: Outbox, trouble: PinfoldError | None
    ) -> None:
        super().__init__(server, introduction)
        self.outbox = outbox
        self._may_write = introduction.may_write
        self.trouble = trouble
        self.at_once = on_server(server, introduction)

    def send(self, what: Waiting) -> None:
        """Send one verb that waits; raises as `_asked`. Sent twice it counts once."""
        asked = verb(what.kind)
        self._server.deliver(asked, Question(f"/store/{what.kind}", b"", what.blocks, what.size_bytes))

    def _asked(self, name: str, given: tuple[Any, ...]) -> Any:
        asked = verb(name)
        if asked.is_repeatable:
            return self._read(name, given)
        if not self._may_write:
            raise MayNotWriteError(str(self._server.address))
        given = tuple(map(_keyed, given))
        if self.trouble is None and not self.outbox.to_send():
            try:
                return super()._asked(name, given)
            except FINAL:
                raise
            except PinfoldError as error:
                self.trouble = error
        trouble = self.trouble or UnreachableError(str(self._server.address), _BEHIND)
        if not _is_in_a_transcript(name, given):
            self._keep(asked, given)
            raise DeferredError(trouble)
        raise trouble

    def _read(self, name: str, given: tuple[Any, ...]) -> Any:
        if isinstance(self.trouble, (*_GONE, RefusedError)):
            raise self.trouble
        try:
            return super()._asked(name, given)
        except _GONE as error:
            self.trouble = error
            raise

    def _keep(self, asked: Verb, given: tuple[Any, ...]) -> None:
        question = self._server.question(asked, cleaned(self.redactor, tuple(map(_dated, given))))
        self.outbox.add(asked.name, question.body(), question.size_bytes)


def _is_in_a_transcript(name: str, given: tuple[Any, ...]) -> bool:
    return name == "append_messages" and given[-1] is not None


def _keyed(argument: Any) -> Any:
    """Return an argument as it can be sent any number of times."""
    if isinstance(argument, (PinDecision, SpillArtifact)) and argument.key is None:
        return replace(argument, key=f"later-{secrets.token_hex(16)}")
    return argument


def _dated(argument: Any) -> Any:
    """Return an argument as it can be sent at any time: "now" is over by then."""
    if isinstance(argument, PinDecision) and argument.said_at == SAID_NOW:
        return replace(argument, said_at=stamp(datetime.now(UTC)))
    return argument


def open_deferring(server: TeamServer, folder: Path, project: str) -> DeferringStore:
    """Open a project of a team's server, whether or not that can be reached; the caller closes it.

    `folder` is this machine's for the server. `project` is its name as long as the server has told none.
    """
    outbox, trouble = Outbox(folder / "outbox"), None
    known = _Known(folder / "introduction")
    try:
        introduction = server.introduction()
        known.write(introduction)
    except PinfoldError as error:
        trouble = error
        introduction = known.read() or known.write(Introduction(project, secrets.token_bytes(32)))
    made: Callable[..., DeferringStore] = cast(Any, DeferringStore)  # see `on_server`
    return made(server, introduction, outbox, trouble)


class _Known:
    """What the server said of the project, kept so that secrets are replaced alike while it is out of reach."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Introduction | None:
        with suppress(OSError, ValueError):
            return Introduction.read(self._path.read_bytes())
        return None

    def write(self, introduction: Introduction) -> Introduction:
        if (known := self.read()) is None or known.told() != introduction.told():
            write_private(self._path, introduction.told())
        return introduction
