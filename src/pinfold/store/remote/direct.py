"""`RemoteSyncStore`: a `SyncStore` on a team's server, for those that wait where they call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from pinfold.store.cleaning import cleaned
from pinfold.store.fences import fence
from pinfold.store.redaction import Redactor
from pinfold.store.remote.address import Address
from pinfold.store.remote.contract import VERBS, verb
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.link import Patience
from pinfold.store.remote.machine import Machine
from pinfold.store.remote.team_server import TeamServer
from pinfold.store.sync import SyncStore


class RemoteSyncStore(SyncStore):
    """One project's log on a team's server, for one thread at a time; made by `open_remote_direct`."""

    def __init__(self, server: TeamServer, introduction: Introduction) -> None:
        self.project = introduction.project
        self.redactor = Redactor(introduction.key)
        self._server = server

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self.redactor.key, content)

    def close(self) -> None:
        """Let go of the connection."""
        self._server.close()

    def _asked(self, name: str, given: tuple[Any, ...]) -> Any:
        """Carry out a verb with these arguments, all that travel."""
        return self._server.ask(name, cleaned(self.redactor, given) if verb(name).brings else given)


def _travels(name: str) -> Callable[..., Any]:
    def ask(self: RemoteSyncStore, *given: Any, **named: Any) -> Any:
        """See the method of this name in `Store`."""
        return self._asked(name, verb(name).travelling(*given, **named))

    return ask


for _name in VERBS & vars(SyncStore).keys():
    setattr(RemoteSyncStore, _name, _travels(_name))
on_server: Callable[[TeamServer, Introduction], RemoteSyncStore] = cast(Any, RemoteSyncStore)
"""The store of a server that has introduced itself, with the verbs that a reader of the class alone does not see."""


def open_remote_direct(
    address: Address,
    machine: str,
    patience: Patience = Patience(),  # noqa: B008
) -> RemoteSyncStore:
    """Open a project of a team's server; see `open_remote`."""
    server = TeamServer(address, Machine(machine), patience)
    return on_server(server, server.introduction())
