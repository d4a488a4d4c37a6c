"""One request that the gate has let in, and what it may reach: the one way from a route to a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from pinfold.server.http.record import Line
from pinfold.server.reading_only import reading_only
from pinfold.store import Store

_KEY = "pinfold.visit"
_NO_TOKEN = "local"  # noqa: S105 - stands where no token is asked for


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of one token (`token` is its name; "" where none is asked for) to one project.

    `line` is what the log will say of it.
    """

    token: str
    project: str
    may_write: bool
    opened: Callable[[], Awaitable[Store]] = field(repr=False)
    line: Line

    @property
    def run(self) -> str:
        """A name for all that one token does, as for a process of a client: hooks say in which conversation that is."""
        return f"token-{self.token or _NO_TOKEN}"

    async def store(self) -> Store:
        """Return the project's store, opened now if need be; without its writes where the token may only read.

        The gate lets go of it when the request is answered. Raises what opening a store raises.
        """
        store = await self.opened()
        return store if self.may_write else reading_only(store)

    def enter(self, scope: MutableMapping[str, Any]) -> None:
        """Go with a request from here on."""
        scope[_KEY] = self


def visit_of(scope: Mapping[str, Any]) -> Visit:
    """Return the visit that goes with a request (`request.scope`); a `KeyError` shows a request past the gate."""
    visit = scope[_KEY]
    assert isinstance(visit, Visit)
    return visit
