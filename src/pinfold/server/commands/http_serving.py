"""`pinfold serve --http`: what is served, from the settings."""

from __future__ import annotations

import click

from pinfold.server.http.listening import DEFAULT, read_listen_address
from pinfold.server.http.open_stores import Opener
from pinfold.server.http.serving import Plan, serve_over_http
from pinfold.server.http.tokens import TokenFile
from pinfold.server.settings import Settings, stores_folder
from pinfold.server.stores import open_by_address, open_store_of
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError
from pinfold.tools.tool import Limits


def serve_http(settings: Settings, address: str, names: tuple[str, ...]) -> int:
    """Serve the projects of the data directory; return the exit status.

    Raises as `serve_over_http`, and `InvalidInputError` where the settings name a project of another server.
    """
    if settings.is_on_a_server:
        raise InvalidInputError(
            f"{settings.address} is one project of another server: every project here would lead to it.",
            "Start this server without PINFOLD_URL and PINFOLD_STORE.",
        )
    plan = Plan(
        address=read_listen_address(address or DEFAULT),
        names=names,
        tokens=TokenFile(settings.home),
        home=settings.project.folder_name,
        opener=_opener(settings),
        limits=Limits(artifact_bytes=settings.max_artifact_bytes),
    )
    return serve_over_http(plan, click.echo)


def _opener(settings: Settings) -> Opener:
    """Return what opens a project by its name: in the database that is set, else in a folder of that name."""

    async def opened(name: str) -> Store:
        if name == settings.project.folder_name:
            return await open_store_of(settings)
        return await open_by_address(_place_of(name, settings), name)

    return opened


def _place_of(name: str, settings: Settings) -> str:
    """Return the address of a project; what stands behind the `#` of a database's is the name of another one."""
    if settings.store is not None:
        return settings.store.partition("#")[0]
    return str(stores_folder(settings.home) / name)
