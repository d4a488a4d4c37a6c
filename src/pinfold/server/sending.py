"""What waits for a team's server goes there, in order: verbs as they were asked, and transcripts to be read on.

Each can be sent twice and counts once, so whatever ends this may end it anywhere. Source: docs/decisions/0017.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pinfold.server.notes import in_words
from pinfold.server.transcripts.finding import Found, found_at
from pinfold.server.transcripts.follow import Source, follow
from pinfold.server.transcripts.lenient import parsed, word
from pinfold.store.errors import InvalidInputError, PinfoldError
from pinfold.store.remote.contract import VERBS
from pinfold.store.remote.deferring import FINAL, DeferringStore
from pinfold.store.remote.outbox import Outbox, Waiting
from pinfold.store.values import Caller

TRANSCRIPT = "transcript"
"""The kind of what waits as a path: what stands in the file is read when the server is there."""

_NO_TIME = "There was no time for more."

Progress = Callable[[int], None]
"""Called with how many have been sent."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a sending came to. `refused` are sentences; `why` is what ended it before all was sent."""

    count: int = 0
    refused: list[str] = field(default_factory=list)
    why: str | None = None


def put_transcript(outbox: Outbox, found: Found, conversation: str) -> None:
    """Have a transcript read later, once for all that is new in it by then."""
    told = json.dumps(
        {"path": str(found.path), "client": found.client, "conversation": conversation}
    ).encode()
    if not any(each.kind == TRANSCRIPT and _holds(each, told) for each in outbox.to_send()):
        outbox.add(TRANSCRIPT, [told], len(told))


def _holds(what: Waiting, told: bytes) -> bool:
    with suppress(FileNotFoundError):  # another process has sent it meanwhile
        return b"".join(what.blocks()) == told
    return False


def send_waiting(
    store: DeferringStore, deadline: float | None = None, progress: Progress | None = None
) -> Sent:
    """Send what waits until `deadline` (a reading of `time.monotonic`), unless another process is at it."""
    if store.trouble is not None:
        return Sent(why=in_words(store.trouble))
    if not store.outbox.to_send():
        return Sent()
    with store.outbox.turn() as is_ours:
        return _send_all(store, deadline, progress) if is_ours else Sent(why="Another pinfold is sending.")


def _send_all(store: DeferringStore, deadline: float | None, progress: Progress | None) -> Sent:
    count, refused = 0, list[str]()
    for what in store.outbox.to_send():
        if deadline is not None and time.monotonic() > deadline:
            return Sent(count, refused, _NO_TIME)
        try:
            is_done = _send(store, what, deadline)
        except PinfoldError as error:
            if not isinstance(error, FINAL):
                store.trouble = error
                return Sent(count, refused, in_words(error))
            store.outbox.refused(what)
            refused.append(f"The team's server will not take what waited ({what.path.name}): {error.message}")
            continue
        if not is_done:
            return Sent(count, refused, _NO_TIME)
        store.outbox.sent(what)
        count += 1
        if progress is not None:
            progress(count)
    return Sent(count, refused)


def _send(store: DeferringStore, what: Waiting, deadline: float | None) -> bool:
    """Send one thing; return whether all of it went."""
    if what.kind == TRANSCRIPT:
        return _read_on(store, what, deadline)
    if what.kind not in VERBS:
        raise InvalidInputError(f"This pinfold knows no {what.kind}.", "A newer one put it there.")
    store.send(what)
    return True


def _read_on(store: DeferringStore, what: Waiting, deadline: float | None) -> bool:
    told = parsed(b"".join(what.blocks())) or {}
    path, client, conversation = (word(told.get(name)) for name in ("path", "client", "conversation"))
    if path is None or conversation is None or not Path(path).is_file():  # it has gone
        return True
    try:
        found = found_at(Path(path), client)
        if found is None:
            return True
        caller = Caller(found.client, conversation, "hook")
        return follow(store.at_once, Source(found, caller, briefed=True), deadline).is_complete
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read ({error.strerror}).", "Import it.") from error
