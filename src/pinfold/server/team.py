"""How to reach a team's server: the token for it, and this machine's name there. Source: docs/decisions/0017."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinfold.server.settings import Settings, read_home
from pinfold.store.errors import InvalidInputError
from pinfold.store.remote.address import Address, read_address
from pinfold.store.remote.deferring import DeferringStore, open_deferring
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.remote.link import Patience
from pinfold.store.remote.machine import Machine, machine_name
from pinfold.store.remote.outbox import Outbox
from pinfold.store.remote.team_server import TeamServer

if TYPE_CHECKING:
    from pinfold.store.remote.store import RemoteStore

_MAX_TOKEN_BYTES = 4096


def team_folder(home: Path) -> Path:
    """Return the folder in which this machine keeps what it knows of teams' servers."""
    return home / "team"


def address_of(url: str, environment: Mapping[str, str]) -> Address:
    """Return a server's address with the token that the environment gives; raises `InvalidInputError`."""
    return read_address(url, _token(environment), in_clear=environment.get("PINFOLD_CLEAR") == "1")


async def open_team(url: str, environment: Mapping[str, str]) -> RemoteStore:
    """Open a project of a team's server; raises as `open_remote`."""
    from pinfold.store.remote.store import open_remote

    machine = machine_name(team_folder(read_home(environment)))
    return await open_remote(address_of(url, environment), machine)


@dataclass(frozen=True, slots=True)
class TeamProject:
    """One project of a team's server: how to get there, and the `folder` of what this machine keeps for it."""

    address: Address
    machine: str
    folder: Path
    project: str

    @property
    def outbox(self) -> Outbox:
        """What waits to be sent."""
        return Outbox(self.folder / "outbox")

    def open(self, patience: Patience) -> DeferringStore:
        """Open the store, whether or not the server can be reached; the caller closes it."""
        server = TeamServer(self.address, Machine(self.machine), patience)
        return open_deferring(server, self.folder, self.project)


def team_project_of(settings: Settings, environment: Mapping[str, str]) -> TeamProject:
    """Return the project that the settings name on a team's server; raises `InvalidInputError` if it is on none."""
    if not settings.is_on_a_server:
        raise InvalidInputError("This project's store is not on a team's server.", "PINFOLD_URL names one.")
    address = address_of(settings.address, environment)
    team = team_folder(settings.home)
    name = hashlib.sha256(str(address).encode()).hexdigest()[:16]
    return TeamProject(address, machine_name(team), team / name, settings.project.name)


def open_team_direct(settings: Settings, environment: Mapping[str, str]) -> RemoteSyncStore:
    """Open the project of a team's server that the settings name, for one thread; raises as `open_remote_direct`."""
    return open_remote_direct(
        address_of(settings.address, environment), machine_name(team_folder(settings.home))
    )


def _token(environment: Mapping[str, str]) -> str:
    """Return `PINFOLD_TOKEN`, else what the file holds that `PINFOLD_TOKEN_FILE` names, else none."""
    token, name = environment.get("PINFOLD_TOKEN", "").strip(), environment.get("PINFOLD_TOKEN_FILE")
    return _token_in(Path(name)) if name and not token else token


def _token_in(path: Path) -> str:
    try:
        with open(path, encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            token = file.read(_MAX_TOKEN_BYTES).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"The token in PINFOLD_TOKEN_FILE cannot be read ({getattr(error, 'strerror', None) or 'it is no text'}).",
            "Write the token, and nothing else, into a file of mode 0600.",
        ) from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidInputError("Others can read the token's file.", f"chmod 600 {path}")
    return token
