"""What `pinfold install` says without a client: which are here, and in which of them pinfold is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pinfold.server.install import CLIENTS
from pinfold.server.install.entries import Scope
from pinfold.server.install.known import client_named, is_here, planner_as_registered
from pinfold.server.install.place import Launch
from pinfold.server.install.plan import Planner
from pinfold.server.own_command import command_name
from pinfold.server.settings import Settings
from pinfold.store.errors import InvalidInputError

_WHERE = {"user": "for you", "project": "in this project"}


@dataclass(frozen=True, slots=True)
class Standing:
    """One client. `installed` are the scopes that pinfold is in, `outdated` those where installing would change it.

    `fault` is why that cannot be said, empty otherwise.
    """

    client: str
    found: bool
    installed: tuple[Scope, ...] = ()
    outdated: tuple[Scope, ...] = ()
    fault: str = ""


def standings(settings: Settings, launch: Launch) -> list[Standing]:
    """Return how every client stands; a file that cannot be read is a fault of that client alone."""
    return [_standing(name, settings, launch) for name in CLIENTS]


def _standing(name: str, settings: Settings, launch: Launch) -> Standing:
    found = is_here(name)
    try:
        planners = [made for made in _planners(name, settings, launch) if made.uninstall().changed]
        outdated = tuple(made.scope for made in planners if made.install().changed)
    except InvalidInputError as error:
        return Standing(name, found, fault=str(error))
    return Standing(name, found, tuple(made.scope for made in planners), outdated)


def _planners(name: str, settings: Settings, launch: Launch) -> Iterator[Planner]:
    """Yield one for each scope that has files of its own."""
    for scope in get_args(Scope):
        if scope == "project" and settings.project.root == Path.home():
            continue
        try:
            yield planner_as_registered(name, scope, settings, launch)
        except InvalidInputError:
            continue


def as_json(clients: Sequence[Standing]) -> str:
    """Return one JSON object: `ok`, `clients`; of each `client`, `found`, `installed`, `outdated`, and any `error`."""
    return json.dumps({"ok": True, "clients": [_fields(client) for client in clients]})


def _fields(standing: Standing) -> dict[str, Any]:
    told: dict[str, Any] = {"client": standing.client, "found": standing.found}
    told |= {"installed": standing.installed, "outdated": standing.outdated}
    return told | ({"error": standing.fault} if standing.fault else {})


def as_text(clients: Sequence[Standing]) -> Iterator[str]:
    """Yield a line for each client, with the command to enter where there is something to do."""
    for standing in clients:
        yield f"{client_named(standing.client).TITLE:<15} {_state(standing)}"


def _state(standing: Standing) -> str:
    command = f"{command_name()} install {standing.client}"
    if standing.fault:
        return standing.fault
    if not standing.installed:
        return command if standing.found else "(not found)"
    state = f"installed {' and '.join(_WHERE[scope] for scope in standing.installed)}"
    renewals = (f"{command}{' --scope project' * (scope == 'project')}" for scope in standing.outdated)
    return "; to renew it: ".join((state, *renewals))
