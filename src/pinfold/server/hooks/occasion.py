"""One event of a client: what it says, read leniently, and where and for whom it is carried out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from pinfold.server.clients import claude_code, codex
from pinfold.server.repository import head_of
from pinfold.server.settings import Settings, read_settings
from pinfold.server.stores import open_direct_of
from pinfold.server.transcripts.lenient import Json, parsed, word
from pinfold.store.errors import InvalidInputError
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

if TYPE_CHECKING:
    from pinfold.server.hooks.team import TeamAtHand

_WAIT_S = 3.0
_WAITS_S = {"session-end": 0.3}
"""How long a hook waits for another process that writes: a client waits with it, at a session's end 1.5 s in all."""

_CLIENTS = {"claude": claude_code.NAME, "codex": codex.NAME}
_MODULES = {claude_code.NAME: "claude_code", codex.NAME: "codex"}


@dataclass(frozen=True)
class Occasion:
    """One event. `client` is the name under which the log knows it, `conversation` the client's session id.

    `faults` are sentences on what could not be done although the event went on.
    """

    event: str
    client: str
    conversation: str
    payload: Json
    settings: Settings
    faults: list[str] = field(default_factory=list)

    def text(self, name: str) -> str | None:
        """Return a field of the payload that is a text and not empty."""
        return word(self.payload.get(name))

    @property
    def transcript(self) -> Path | None:
        """Where the client writes the conversation down, if it says so."""
        return self.path("transcript_path")

    def path(self, name: str) -> Path | None:
        """Return a field of the payload that can be a path; none into the data directory.

        To read and close a file of the store would cost this process the locks that it holds there.
        """
        text = self.text(name)
        return Path(text) if text is not None and self._is_outside(text) else None

    def _is_outside(self, path: str) -> bool:
        home = os.path.join(os.path.realpath(self.settings.home), "")
        return "\0" not in path and not os.path.realpath(path).startswith(home)

    def may_read(self, path: str) -> bool:
        """Whether a path that an event names is a regular file, and not one of the store's."""
        return self._is_outside(path) and os.path.isfile(path)

    @property
    def caller(self) -> Caller:
        """Whoever this happens to, as the store knows callers."""
        head, branch = head_of(self.settings.project)
        return Caller(self.client, self.conversation, "hook", head, branch)

    @contextmanager
    def store(self) -> Iterator[SyncStore]:
        """Open the project's store for the time of the event, making it if need be."""
        if self.team is not None:
            with self.team.store(self.faults) as shared:
                yield shared
            return
        store = open_direct_of(self.settings, _WAITS_S.get(self.event, _WAIT_S))
        try:
            yield store
        finally:
            store.close()

    @cached_property
    def team(self) -> TeamAtHand | None:
        """The team's server, where the store is there."""
        if not self.settings.is_on_a_server:
            return None
        from pinfold.server.hooks.team import TeamAtHand

        return TeamAtHand.of(self.settings, self.event)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Try what the event can go on without: a store that cannot be written still has what it shows."""
        try:
            yield
        except Exception as error:  # a bug in reading must not keep anybody from what is stored
            from pinfold.server.notes import in_words

            self.faults.append(in_words(error))

    @property
    def particulars(self) -> ModuleType:
        """The module that knows this client's hooks."""
        return import_module(f"pinfold.server.clients.{_MODULES[self.client]}.hooks")


def read_occasion(event: str, options: list[str], payload: bytes) -> Occasion:
    """Read an event; the client is what `--client` says, else what the event looks like."""
    given = _options(options)
    content = parsed(payload)
    if content is None:
        raise InvalidInputError(
            f"{event}: standard input holds no JSON object.", "A client's hook sends one."
        )
    client = given.get("--client") or ("codex" if _is_codexs(content) else "claude")
    if client not in _CLIENTS:
        raise InvalidInputError(f"--client is {client[:40]!r}.", f"It is one of {', '.join(_CLIENTS)}.")
    session = word(content.get("session_id"))
    if session is None:
        raise InvalidInputError(f"{event}: the event names no session_id.", "A client's hook sends it.")
    return Occasion(event, _CLIENTS[client], session, content, _settings(client, given, content))


def _is_codexs(content: Json) -> bool:
    """Whether an event looks like one of Codex's: it names the turn, or the rollout; else its surroundings tell."""
    if "turn_id" in content:
        return True
    name = os.path.basename(word(content.get("transcript_path")) or "")
    is_within_claude = os.environ.get("CLAUDECODE") or os.environ.get("CLAUDE_PROJECT_DIR")
    return name.startswith("rollout-") if name else not is_within_claude


def _options(options: list[str]) -> dict[str, str]:
    found = {}
    pending = iter(options)
    for option in pending:
        name, joined, value = option.partition("=")
        if name not in ("--client", "--home"):
            raise InvalidInputError(
                f"{name[:40]!r} is no option of a hook.", "There are --client and --home."
            )
        found[name] = value if joined else next(pending, "")
    return found


def _settings(client: str, given: Mapping[str, str], content: Json) -> Settings:
    """Read the settings; the project is where the client was started, as its server sees it, else where it works.

    A Codex that an agent in Claude Code runs has that one's environment, and hides it from its own servers.
    """
    environment = dict(os.environ)
    if given.get("--home"):
        environment["PINFOLD_HOME"] = given["--home"]
    if client == "codex":
        environment.pop("CLAUDE_PROJECT_DIR", None)
    folder = word(content.get("cwd"))
    is_known = environment.get("PINFOLD_PROJECT") or environment.get("CLAUDE_PROJECT_DIR")
    return read_settings(environment, None if is_known or folder is None or "\0" in folder else Path(folder))
