"""The desk of a call over HTTP: its token's project, its client's conversation, and no file of this machine.

Source: P22, P27; docs/decisions/0016.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from starlette.requests import Request

from pinfold.server.app import Context, client_name
from pinfold.server.clients import identify
from pinfold.server.http.visit import Visit, visit_of
from pinfold.store.errors import InvalidInputError
from pinfold.store.values import Caller
from pinfold.tools.files import Roots
from pinfold.tools.tool import Desk, Limits

SESSION_HEADER = "pinfold-session"
"""What a client's configuration may send as its conversation's id, where the client tells none itself."""

_SESSION = re.compile(r"[A-Za-z0-9._:-]{1,200}")
_PRODUCT = re.compile(r"[A-Za-z0-9._-]{1,64}")


class _NoFiles(Roots):
    """Reads nothing by path: a path in a call is one of the caller's machine."""

    def __init__(self) -> None:
        super().__init__(())

    def open(self, path: str, max_bytes: int) -> NoReturn:
        """Refuse. Raises `InvalidInputError`."""
        raise InvalidInputError(
            "`path` would name a file on the server's machine, and over HTTP none is read.",
            "Pass the text itself as `content`.",
        )


class VisitDesks:
    """Gives each call the desk of the visit that it came with."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._roots = _NoFiles()

    async def desk_of(self, ctx: Context) -> Desk:
        """Return it; raises what opening the project's store raises."""
        assert isinstance(ctx.request, Request)
        visit = visit_of(ctx.request.scope)
        store = await visit.store()
        return Desk(store, _caller(ctx, ctx.request.headers, visit), self._roots, self._limits)

    async def read_on(self, desk: Desk) -> None:
        """Read nothing: the transcript lies on the caller's machine."""


def _caller(ctx: Context, headers: Mapping[str, str], visit: Visit) -> Caller:
    """Return who calls.

    Where a client tells of no conversation, it is the one that a hook of the same token began or went on with last, and
    without hooks all that the token does is one.
    """
    told = _SESSION.fullmatch(headers.get(SESSION_HEADER, ""))
    client = client_name(ctx) or _product(headers.get("user-agent", ""))
    name, conversation = identify(client, ctx.meta or {}, {}, told[0] if told else visit.run)
    return Caller(name, conversation, runs=(visit.run,) if conversation == visit.run else ())


def _product(agent: str) -> str:
    """Return the name in front of a User-Agent header: in the older protocol a call does not say who makes it."""
    found = _PRODUCT.match(agent)
    return found[0].lower() if found else ""
