"""The one gate: nothing but `GET /health` is answered before a request's name, token and project have been looked at.

What lies behind it never learns of a project that the token does not open: that, and what is not there at all,
get the same answer, and neither costs a look at the disk. Source: P27, P28; docs/decisions/0016.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pinfold.server.http.answering import Answer, guarded
from pinfold.server.http.names import Names
from pinfold.server.http.open_stores import OpenStores
from pinfold.server.http.record import Line, record
from pinfold.server.http.routes import NOT_HERE
from pinfold.server.http.tokens import TokenFile
from pinfold.server.http.visit import Visit
from pinfold.server.notes import note
from pinfold.store.errors import PinfoldError

MAX_CALLS = 128
"""Requests that are answered at a time, as on stdio."""

_OK = 200
_PATH = re.compile(r"/p/(?P<project>[a-z0-9][a-z0-9._-]{0,63})(?P<rest>/.+)")
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""What a proxy adds: behind one, callers are no longer those of this machine alone."""

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/=-]{1,512})")

HEALTHY = "ok\n"
_MISDIRECTED = "This server does not answer to that name; start it with --allow-host NAME.\n"
_FOREIGN = "Pages of other origins are not answered.\n"
_NO_TOKEN = "A token of this server is needed: Authorization: Bearer TOKEN.\n"  # noqa: S105 - a sentence
_ENDING = "The server is ending; nothing was done. Send it again.\n"
_FULL = "The server is busy; nothing was done. Send it again.\n"
_TROUBLE = "The server cannot read its tokens; its log says why.\n"


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may do. `home` is the project of a path that names none; None: it has to."""

    token: str
    projects: frozenset[str]
    may_write: bool
    home: str | None


class _RefusedError(Exception):
    """A request that goes no further, and what it is told."""

    def __init__(self, response: ASGIApp) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, slots=True)
class Rules:
    """What the gate goes by. `open_home` is the project that is open until the first token is made, None: none."""

    names: Names
    tokens: TokenFile
    open_home: str | None = None


class Gate:
    """Stands before an application; `ending` turns away what comes from then on, `running` counts what was let in."""

    def __init__(self, app: ASGIApp, stores: OpenStores, rules: Rules) -> None:
        self._app = app
        self._stores = stores
        self._rules = rules
        self.ending = False
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        line, answer = Line(scope["method"], time.monotonic()), Answer(send)
        is_health = (scope["method"], scope["path"]) == ("GET", "/health")
        try:
            headers = self._named(scope)
            if is_health:
                await PlainTextResponse(HEALTHY)(scope, receive, answer)
            else:
                access = self._admitted(headers, line)
                await self._visit(access, line, scope, receive, answer)
        except _RefusedError as refused:
            await refused.response(scope, receive, answer)
        finally:
            if not (is_health and answer.status == _OK):
                record(line, answer.status)

    async def _visit(
        self, access: Access, line: Line, scope: Scope, receive: Receive, answer: Answer
    ) -> None:
        """Let who has access in to one project, and hold the project's place until the request is answered."""
        line.project = project = self._project(scope, access)
        self.running += 1
        try:
            async with self._stores.at(project) as opened:
                Visit(access.token, project, access.may_write, opened, line).enter(scope)
                await guarded(self._app)(scope, receive, answer)
        finally:
            self.running -= 1

    def _named(self, scope: Scope) -> Headers:
        """Return the headers of a request that calls us by a name of ours and comes from no foreign page."""
        headers, here = Headers(scope=scope), (scope.get("server") or ("", 0))[0]
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._rules.names.knows_host(hosts[0], here):
            raise _refusal(421, _MISDIRECTED)
        if any(not self._rules.names.knows_origin(origin, here) for origin in origins):
            raise _refusal(403, _FOREIGN)
        if self.ending:
            raise _refusal(503, _ENDING, **{"Retry-After": "1", "Connection": "close"})
        return headers

    def _admitted(self, headers: Headers, line: Line) -> Access:
        try:
            access = self._access(headers)
        except PinfoldError as error:
            note(f"nobody can enter: {error}")
            raise _refusal(503, _TROUBLE, **{"Retry-After": "5"}) from None
        if access is None:
            raise _refusal(401, _NO_TOKEN, **{"WWW-Authenticate": "Bearer"})
        if self.running >= MAX_CALLS:
            raise _refusal(503, _FULL, **{"Retry-After": "1"})
        line.token = access.token
        return access

    def _access(self, headers: Headers) -> Access | None:
        tokens, home = self._rules.tokens, self._rules.open_home
        given = headers.getlist("authorization")
        if home is not None and not tokens.exists() and not any(name in headers for name in _FORWARDED):
            return Access("", frozenset({home}), may_write=True, home=home)
        bearer = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        token = None if bearer is None else tokens.find(bearer[1])
        if token is None:
            return None
        tokens.note_use(token.name)
        only = token.projects[0] if len(token.projects) == 1 else None
        return Access(token.name, frozenset(token.projects), token.may_write, only)

    def _project(self, scope: Scope, access: Access) -> str:
        """Return the project that a path names, and leave the rest of the path to the routes behind the gate."""
        found = _PATH.fullmatch(scope["path"])
        project = found["project"] if found else access.home
        if project is None or project not in access.projects:
            raise _RefusedError(NOT_HERE)
        if found:
            scope["path"], scope["raw_path"] = found["rest"], found["rest"].encode()
        return project


def _refusal(status: int, text: str, **headers: str) -> _RefusedError:
    return _RefusedError(PlainTextResponse(text, status, headers=headers))
