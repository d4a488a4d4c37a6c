"""A server of nothing but verbs: `python -m tests.remote.bare_server FOLDER TOKEN PORT`; says its port on stdout.

Each project is a store in the folder, at `/p/PROJECT`; the token opens all of them.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pinfold.server.verbs import VerbAnswer, spooled
from pinfold.store import Store
from pinfold.store.remote.contract import VERBS, verb
from pinfold.store.remote.team_server import Introduction
from pinfold.store.sqlite.store import open_store


class Projects:
    """Stores by project, opened when they are first asked for."""

    def __init__(self, folder: Path, token: str) -> None:
        self._folder = folder
        self._token = token
        self._stores: dict[str, Store] = {}
        self._opening = anyio.Lock()

    def admits(self, request: Request) -> bool:
        return request.headers.get("authorization") == f"Bearer {self._token}"

    async def store(self, request: Request) -> Store:
        name = request.path_params["project"]
        async with self._opening:
            if name not in self._stores:
                self._stores[name] = await open_store(self._folder / name, name)
        return self._stores[name]

    async def introduce(self, request: Request) -> Response:
        if not self.admits(request):
            return Response(status_code=401)
        store = await self.store(request)
        return Response(Introduction(store.project, store.redactor.key).told())

    async def carry_out(self, request: Request) -> ASGIApp:
        name = request.path_params["verb"]
        if not self.admits(request):
            return Response(status_code=401)
        if name not in VERBS:
            return Response(status_code=404)
        return VerbAnswer(await self.store(request), verb(name), await spooled(request.stream()))


def main(folder: str, token: str, port: str) -> None:
    projects = Projects(Path(folder), token)
    app = Starlette(
        routes=[
            Route("/p/{project}/store", projects.introduce, methods=["GET"]),
            Route("/p/{project}/store/{verb}", projects.carry_out, methods=["POST"]),
        ]
    )
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(port)))
    listening.listen(2048)
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
