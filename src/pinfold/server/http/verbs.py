"""The verbs of a store, as `store/remote/` asks for them: one request each. Source: docs/decisions/0017."""

from __future__ import annotations

from collections.abc import AsyncIterable
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import anyio
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pinfold.server.http.visit import Visit, visit_of
from pinfold.server.notes import note_failure
from pinfold.store import Store
from pinfold.store.commands import StartSession
from pinfold.store.content import SPOOL_BYTES
from pinfold.store.errors import FULL, InvalidInputError, NoSpaceError, PinfoldError, TooLargeError
from pinfold.store.remote.bounds import check_bounds
from pinfold.store.remote.contract import VERBS, Verb, verb
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.parts import Incoming
from pinfold.store.remote.replies import BEAT, KIND, error_line, progress_line, result_line

MAX_TEXT_BYTES = 9 * 1024 * 1024
"""How long the text of a request may be, without the bytes of artifacts."""

BEAT_S = 0.5
"""How often a caller hears that the server is still at work."""


async def introduce(request: Request) -> ASGIApp:
    """`GET /store`: what a client has to know of the project."""
    visit = visit_of(request.scope)
    visit.line.method = "store"
    try:
        store = await visit.store()
    except PinfoldError as error:
        return _failed(visit, error)
    found = Introduction(store.project, store.redactor.key, visit.may_write)
    return Response(found.line(), media_type=KIND)


def _failed(visit: Visit, error: PinfoldError) -> Response:
    visit.line.failed = True
    return Response(error_line(error), media_type=KIND)


async def carry_out(request: Request) -> ASGIApp:
    """`POST /store/VERB`: one verb, its arguments in the body."""
    name = request.path_params["verb"]
    if name not in VERBS:
        return NO_VERB
    visit = visit_of(request.scope)
    visit.line.method, visit.line.tool = "store", name
    try:
        body = await _spooled(request.stream())
    except PinfoldError as error:
        return _failed(visit, error)
    return _VerbResponse(visit, verb(name), body)


NO_VERB: ASGIApp = Response("There is no such verb.\n", 404)


class _VerbResponse:
    """The response to one verb, as an ASGI application; `request` is the body."""

    def __init__(self, visit: Visit, asked: Verb, request: IO[bytes]) -> None:
        self._visit = visit
        self._verb = asked
        self._request = request
        self._reached: tuple[int, int] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry the verb out, and answer with beats and progress until its last line."""
        kind = [(b"content-type", KIND.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        async with anyio.create_task_group() as group:
            group.start_soon(self._beat, send)
            last = await self._last_line()
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _beat(self, send: Send) -> None:
        while True:
            await anyio.sleep(BEAT_S)
            reached, self._reached = self._reached, None
            line = BEAT if reached is None else progress_line(*reached)
            await send({"type": "http.response.body", "body": line, "more_body": True})

    async def _last_line(self) -> bytes:
        try:
            return result_line(self._verb, await self._carried_out())
        except PinfoldError as error:
            self._visit.line.failed = True
            return error_line(error)
        except Exception as error:
            note_failure(self._verb.name, error)
            self._visit.line.failed = True
            return error_line(PinfoldError("The team's server failed.", "Its log says where."))

    async def _carried_out(self) -> Any:
        with closing(self._request):
            store = await self._visit.store()
            redactor = store.redactor if self._verb.brings else None
            with closing(Incoming(self._request, redactor)) as incoming:
                read = partial(_read, self._verb, self._request, incoming)
                given = await anyio.to_thread.run_sync(read)
                gave = await self._verb.carry_out(store, given, self._note)
                if self._verb.name == "start_session":
                    await self._meet(store, *given)
                return gave

    async def _meet(self, store: Store, start: StartSession) -> None:
        """Note that calls of the same token are in this conversation now: over HTTP a client may not name its own."""
        await store.start_session(replace(start, run=self._visit.run))

    def _note(self, done: int, total: int) -> None:
        self._reached = done, total


def _read(asked: Verb, request: IO[bytes], incoming: Incoming) -> tuple[Any, ...]:
    """Return the arguments in a request, bytes without their secrets."""
    text = request.readline(MAX_TEXT_BYTES + 1)
    if len(text) > MAX_TEXT_BYTES:
        hint = "Send less at once."
        raise TooLargeError("The request", len(text), MAX_TEXT_BYTES, unit="bytes", hint=hint)
    incoming.begin(len(text))
    try:
        given = asked.arguments.validate_json(text, context=incoming)
    except ValidationError:
        raise InvalidInputError(
            f"The team's server does not understand what {asked.name} is asked.",
            "One of the two is older than the other: bring both up to one version.",
        ) from None
    check_bounds(given)
    return given


async def _spooled(body: AsyncIterable[bytes]) -> IO[bytes]:
    """Return all of a body, at its beginning; a long one lies in a temporary file. The caller closes it.

    Raises `NoSpaceError` where that file finds no room.
    """
    file: IO[bytes] = SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115
    try:
        async for block in body:
            file.write(block)
        file.seek(0)
    except OSError as error:
        _let_go(file)
        if error.errno in FULL:
            raise NoSpaceError("the server's folder of temporary files") from error
        raise
    except BaseException:
        _let_go(file)
        raise
    return file


def _let_go(file: IO[bytes]) -> None:
    with suppress(OSError):  # what it could not write it tries to write once more
        file.close()
