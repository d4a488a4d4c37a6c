"""Stores by address: a folder on this machine, or where several machines share one; the only place that opens any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.store.errors import InvalidInputError

if TYPE_CHECKING:
    from pinfold.server.settings import Settings
    from pinfold.store import Store
    from pinfold.store.sync import OpenedStore

_FORMS = "A store is a folder, https://HOST/p/PROJECT, or postgresql://USER@HOST/DATABASE."
_WEB = ("https", "http")
_POSTGRES = ("postgresql", "postgres")


async def open_store_of(settings: Settings) -> Store:
    """Open the store that the settings name: that of `PINFOLD_STORE`, else the project's own on this machine."""
    return await open_by_address(settings.address, settings.project.name)


async def open_existing(settings: Settings) -> Store:
    """Open what the settings name; on this machine it has to be there. Raises `NotFoundError` where nothing is kept."""
    if settings.store is None:
        settings.existing_store()
    return await open_store_of(settings)


async def open_by_address(address: str, project: str) -> Store:
    """Open the store at an address, making it when there is none; the caller closes it.

    An address is the folder of one project's SQLite store, that of a team's server (`PINFOLD_TOKEN` opens it), or a
    PostgreSQL database, behind whose `#` the project's name there may stand. `project` names the project otherwise;
    a team's server has its own name for it.
    Raises `InvalidInputError` for another address, and what opening such a store raises.
    """
    scheme, separator, _ = address.partition("://")
    if not separator:
        from pinfold.store.sqlite.store import open_store

        return await open_store(Path(address), project)
    if scheme in _WEB:
        from pinfold.server.team import open_team

        return await open_team(address, os.environ)
    if scheme in _POSTGRES:
        from pinfold.server.postgres import open_postgres

        return await open_postgres(address, project)
    raise InvalidInputError(f"There is no way to open a store by {scheme[:40]}://.", _FORMS)


def open_direct_of(settings: Settings, wait_s: float | None = None) -> OpenedStore:
    """Open what the settings name for those who wait where they call, for a lock at most `wait_s`; see above."""
    scheme, separator, _ = settings.address.partition("://")
    if not separator:
        from pinfold.store.sqlite.direct import open_direct
        from pinfold.store.sqlite.gate import WAIT_S

        return open_direct(
            Path(settings.address), settings.project.name, WAIT_S if wait_s is None else wait_s
        )
    if scheme in _WEB:
        from pinfold.server.team import open_team_direct

        return open_team_direct(settings, os.environ)
    if scheme in _POSTGRES:
        from pinfold.server.postgres import open_postgres_direct

        return open_postgres_direct(settings.address, settings.project.name, wait_s)
    raise InvalidInputError(f"There is no way to open a store by {scheme[:40]}://.", _FORMS)
