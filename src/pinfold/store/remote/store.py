"""`RemoteStore`: the contract, on a team's server. What a verb takes and gives is nowhere written here."""

from __future__ import annotations

from abc import update_abstractmethods
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import anyio

from pinfold.store import Progress, Store
from pinfold.store.cleaning import cleaned
from pinfold.store.fences import fence
from pinfold.store.logged import LogEnd, LogPart
from pinfold.store.redaction import Redactor
from pinfold.store.remote.address import Address
from pinfold.store.remote.contract import VERBS, Verb, verb
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.link import Patience
from pinfold.store.remote.machine import Machine
from pinfold.store.remote.team_server import TeamServer
from pinfold.store.results import Artifact, ArtifactSlice, StoreStatus


class RemoteStore(Store):
    """One project's log on a team's server; made by `open_remote`. Each verb waits for its answer on a thread."""

    def __init__(self, server: TeamServer, introduction: Introduction) -> None:
        self.project = introduction.project
        self.redactor = Redactor(introduction.key)
        self._server = server

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self.redactor.key, content)

    async def status(self) -> StoreStatus:
        """See `Store.status`; where the store lies is the server's address."""
        found: StoreStatus = await self._asked("status", (), {})
        return replace(found, location=str(self._server.address))

    async def scan_artifact(
        self, number: int, start: int, visit: Callable[[ArtifactSlice], bool]
    ) -> Artifact:
        """See `Store.scan_artifact`; a mebibyte is fetched at a time."""
        scanned: Artifact = await _on_a_thread(partial(_scan, self._server, number, start, visit))
        return scanned

    async def receive(self, part: LogPart) -> LogEnd:
        """See `Store.receive`; a log that was empty has another key afterwards."""
        end: LogEnd = await self._asked("receive", (part,), {})
        if part.secret is not None:
            self.redactor.key = (await _on_a_thread(self._server.introduction)).key
        return end

    async def close(self) -> None:
        """See `Store.close`."""
        self._server.close()

    async def _asked(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        asked = verb(name)
        bound = asked.signature.bind(*given, **named).arguments
        return await _on_a_thread(
            partial(self._ask, asked, asked.travelling(*given, **named), bound.get("progress"))
        )

    def _ask(self, asked: Verb, given: tuple[Any, ...], progress: Progress | None) -> Any:
        clean = cleaned(self.redactor, given) if asked.brings else given
        return self._server.ask(asked.name, clean, progress)


async def _on_a_thread(ask: Callable[[], Any]) -> Any:
    """Ask, and be free at once when cancelled: what was sent is finished by the server, as everywhere."""
    return await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)


def _scan(server: TeamServer, number: int, start: int, visit: Callable[[ArtifactSlice], bool]) -> Artifact:
    artifact: Artifact
    while True:
        artifact, parts = server.ask("scan_artifact", (number, start))
        for part in parts:
            if not visit(part):
                return artifact
        if not parts or parts[-1].stop >= artifact.size_bytes:
            return artifact
        start = parts[-1].stop


def _travels(name: str) -> Callable[..., Awaitable[Any]]:
    async def ask(self: RemoteStore, *given: Any, **named: Any) -> Any:
        """See the method of this name in `Store`."""
        return await self._asked(name, given, named)

    return ask


for _name in VERBS - vars(RemoteStore).keys():
    setattr(RemoteStore, _name, _travels(_name))
update_abstractmethods(cast(Any, RemoteStore))
_whole: Callable[..., RemoteStore] = cast(Any, RemoteStore)
"""With the verbs that a reader of the class alone does not see."""


async def open_remote(address: Address, machine: str, patience: Patience = Patience()) -> RemoteStore:  # noqa: B008
    """Open a project of a team's server; the caller closes it. Raises `UnreachableError`, `RefusedError`."""
    server = TeamServer(address, Machine(machine), patience)
    return _whole(server, await anyio.to_thread.run_sync(server.introduction))
