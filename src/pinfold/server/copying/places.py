"""The two ends of a copy: which stores two addresses mean, opened without making what is only to be read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pinfold.server.settings import read_settings
from pinfold.server.stores import open_by_address
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError, NotFoundError
from pinfold.store.sqlite import connection


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is, as `stores.open_by_address` takes it; `project` names it where its address does not.

    `folder` is that of a store on this machine, None for an address.
    """

    address: str
    project: str
    folder: Path | None = None

    @property
    def is_there(self) -> bool:
        """Whether there is a store; of an address it is not known before it is opened."""
        return self.folder is None or _holds_a_store(self.folder)


def place_of(text: str) -> Place:
    """Return what a person means by an address, by the folder of a store, or by that of a project.

    A folder that is not there, or is nobody's project, is where a new store will be. Raises `InvalidInputError` for a
    file.
    """
    if "://" in text:
        return Place(text, read_settings().project.name)
    folder = Path(text).absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{text} is no folder.", "Name a store's folder, a project's, or an address.")
    if folder.is_dir() and not _holds_a_store(folder):
        settings = read_settings(folder=folder)
        return Place(str(settings.folder_at_home), settings.project.name, settings.folder_at_home)
    return Place(str(folder), folder.name or "root", folder)


def _holds_a_store(folder: Path) -> bool:
    return connection.Place(folder).database.exists()


@asynccontextmanager
async def source_at(place: Place) -> AsyncIterator[Store]:
    """Open what is copied from; raises `NotFoundError` where there is no store."""
    if not place.is_there:
        raise NotFoundError(
            f"The source {place.folder}",
            "there is no store in it",
            "Name the folder of a store or of a project, or an address such as postgresql://HOST/DATABASE#PROJECT.",
        )
    async with _opened(place.address, place.project) as store:
        yield store


@asynccontextmanager
async def destination_at(place: Place, project: str, *, makes: bool) -> AsyncIterator[Store | None]:
    """Open what is copied to, for the project of that name where it is made anew; None where it is not to be made."""
    if not (makes or place.is_there):
        yield None
        return
    name = project if place.folder is None or not place.is_there else place.project
    async with _opened(place.address, name) as store:
        yield store


@asynccontextmanager
async def _opened(address: str, project: str) -> AsyncIterator[Store]:
    store = await open_by_address(address, project)
    try:
        yield store
    finally:
        await store.close()
