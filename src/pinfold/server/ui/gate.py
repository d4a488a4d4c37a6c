"""Who gets in: one person on this machine, who has the address with the token in it, and nobody's web page.

Whatever is not let in gets one answer, the same for a wrong token, a wrong host and a wrong way. The token stays in the
path: a cookie would be sent to every other server on this machine, and no page that is shown leads elsewhere.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from hmac import compare_digest
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TOKEN_BYTES = 32
_METHODS = ("GET", "HEAD")
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NOTHING_HERE = PlainTextResponse("Nothing here.\n", 404)
_ONLY_READING = PlainTextResponse("These pages are only for reading.\n", 405, {"Allow": ", ".join(_METHODS)})


class Gate:
    """The outermost part of the application; `hosts` are how the server may be called, e.g. `127.0.0.1:8123`.

    `token` is in the address of every page. `ticket` is good for one visit, which it leads to the first page: it may
    stand in a browser's command line, which every user of the machine can read.
    """

    def __init__(self, inside: ASGIApp, hosts: Collection[str]) -> None:
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.ticket: str | None = secrets.token_urlsafe(_TOKEN_BYTES)
        self.last_visit = time.monotonic()
        self._inside = inside
        self._hosts = frozenset(host.encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or give it the one answer."""
        answer = self._refusal(scope) if scope["type"] == "http" else _NOTHING_HERE
        if answer is None:
            self.last_visit = time.monotonic()
            scope["root_path"] = f"/{self.token}"
        await (answer or self._inside)(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope) -> Response | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _NOTHING_HERE
        given, slash, _ = scope["path"].removeprefix("/").partition("/")
        if self.ticket is not None and _same(given, self.ticket):
            self.ticket = None
            return RedirectResponse(f"/{self.token}/", 303)
        if not (_same(given, self.token) and slash):
            return _NOTHING_HERE
        return None if scope["method"] in _METHODS else _ONLY_READING


def _same(given: str, secret: str) -> bool:
    return compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


def _guarded(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
