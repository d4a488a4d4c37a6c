"""`pinfold install` and `pinfold uninstall`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Protocol, cast

import click

from pinfold.server.install import CLIENTS
from pinfold.server.install.entries import NAME, Registration, Scope
from pinfold.server.install.place import Launch, Place, find_launch
from pinfold.server.install.plan import Plan, Planner
from pinfold.server.install.receipts import Receipts
from pinfold.server.install.report import as_json as report_as_json
from pinfold.server.install.report import as_text
from pinfold.server.settings import read_settings

_MODULES = {"claude": "claude_code.registration", "codex": "codex.registration"}


class _Client(Protocol):
    """What a client's module offers."""

    TITLE: str
    PROGRAM: str

    def folder(self, place: Place) -> Path:
        """Return its configuration folder."""

    def registration(self, place: Place, launch: Launch) -> Registration:
        """Return what is to stand in its files."""


def _client(name: str) -> _Client:
    module = _MODULES.get(name, name.replace("-", "_"))
    return cast(_Client, import_module(f"pinfold.server.clients.{module}"))


def install(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Put pinfold into a client's configuration and say what was done. Raises `PinfoldError`."""
    planner = _planner(client, scope, project, find_launch(os.environ))
    _carry_out(planner.install(), planner.registration.next_steps, dry_run=dry_run, as_json=as_json)


def uninstall(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Take pinfold out of a client's configuration and say what was done. Raises `PinfoldError`."""
    planner = _planner(client, scope, project, Launch((NAME,), None))
    _carry_out(planner.uninstall(), (), dry_run=dry_run, as_json=as_json)


def list_clients(*, as_json: bool) -> None:
    """Say which clients are found here, and the command for each."""
    place = _place("user", Path.cwd(), os.environ)
    found = {name: _is_here(_client(name), place) for name in CLIENTS}
    if as_json:
        clients = [{"client": name, "found": here} for name, here in found.items()]
        click.echo(json.dumps({"ok": True, "clients": clients}))
        return
    for name, here in found.items():
        title = _client(name).TITLE
        click.echo(f"{title:<15} {f'{NAME} install {name}' if here else '(not found)'}")


def _carry_out(plan: Plan, next_steps: Sequence[str], *, dry_run: bool, as_json: bool) -> None:
    if not dry_run:
        plan.carry_out()
    if as_json:
        click.echo(report_as_json(plan, next_steps, dry_run=dry_run))
        return
    for line in as_text(plan, next_steps, dry_run=dry_run):
        click.echo(line)


def _is_here(client: _Client, place: Place) -> bool:
    return client.folder(place).is_dir() or which(client.PROGRAM) is not None


def _planner(client: str, scope: Scope, project: Path | None, launch: Launch) -> Planner:
    settings = read_settings(folder=project)
    place = _place(scope, settings.project.root, os.environ)
    registration = _client(client).registration(place, launch)
    return Planner(client, scope, registration, Receipts(settings.home))


def _place(scope: Scope, project: Path, environment: Mapping[str, str]) -> Place:
    return Place(scope, Path.home(), project, environment)
