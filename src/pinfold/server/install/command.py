"""`pinfold install` and `pinfold uninstall`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from pinfold.server.install import listing
from pinfold.server.install.entries import NAME, Scope
from pinfold.server.install.known import planner
from pinfold.server.install.place import Launch, find_launch
from pinfold.server.install.plan import Plan
from pinfold.server.install.report import as_json as report_as_json
from pinfold.server.install.report import as_text
from pinfold.server.settings import read_settings
from pinfold.store.errors import InvalidInputError

_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:_\[\]-]+(?:/[A-Za-z0-9._/-]*)?")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to go in or out: of which client, where, for the project of which folder; `url`: a team's server."""

    client: str
    scope: Scope
    project: Path | None
    url: str | None = None


def install(wish: Wish, *, dry_run: bool, as_json: bool) -> None:
    """Put pinfold into a client's configuration and say what was done. Raises `PinfoldError`."""
    launch = replace(find_launch(os.environ), url=wish.url and _project_address(wish.url))
    made = planner(wish.client, wish.scope, read_settings(folder=wish.project), launch)
    _carry_out(made.install(), made.registration.next_steps, dry_run=dry_run, as_json=as_json)


def uninstall(wish: Wish, *, dry_run: bool, as_json: bool) -> None:
    """Take pinfold out of a client's configuration and say what was done. Raises `PinfoldError`."""
    made = planner(wish.client, wish.scope, read_settings(folder=wish.project), Launch((NAME,), None))
    _carry_out(made.uninstall(), (), dry_run=dry_run, as_json=as_json)


def list_clients(project: Path | None, *, as_json: bool) -> None:
    """Say which clients are found here, where pinfold is installed, and the command for each. Raises `PinfoldError`."""
    standings = listing.standings(read_settings(folder=project), find_launch(os.environ))
    if as_json:
        click.echo(listing.as_json(standings))
        return
    for line in listing.as_text(standings):
        click.echo(line)


def _project_address(url: str) -> str:
    """Return the address of a project on a server, without the part for MCP; one that hooks refuse is refused."""
    if not _ADDRESS.fullmatch(url):
        raise InvalidInputError(
            "This is no address of a project on a server.", "Give e.g. https://pinfold.example.com/p/shop."
        )
    from pinfold.server.team import address_of  # with what speaks to servers

    address_of(url, os.environ)
    return url.rstrip("/").removesuffix("/mcp")


def _carry_out(plan: Plan, next_steps: Sequence[str], *, dry_run: bool, as_json: bool) -> None:
    if not dry_run:
        plan.carry_out()
    if as_json:
        click.echo(report_as_json(plan, next_steps, dry_run=dry_run))
        return
    for line in as_text(plan, next_steps, dry_run=dry_run):
        click.echo(line)
