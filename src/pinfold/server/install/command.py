"""`pinfold install` and `pinfold uninstall`."""

from __future__ import annotations

import os
from collections.abc import Sequence
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


def install(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Put pinfold into a client's configuration and say what was done. Raises `PinfoldError`."""
    made = planner(client, scope, read_settings(folder=project), find_launch(os.environ))
    _carry_out(made.install(), made.registration.next_steps, dry_run=dry_run, as_json=as_json)


def uninstall(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Take pinfold out of a client's configuration and say what was done. Raises `PinfoldError`."""
    made = planner(client, scope, read_settings(folder=project), Launch((NAME,), None))
    _carry_out(made.uninstall(), (), dry_run=dry_run, as_json=as_json)


def list_clients(project: Path | None, *, as_json: bool) -> None:
    """Say which clients are found here, where pinfold is installed, and the command for each. Raises `PinfoldError`."""
    standings = listing.standings(read_settings(folder=project), find_launch(os.environ))
    if as_json:
        click.echo(listing.as_json(standings))
        return
    for line in listing.as_text(standings):
        click.echo(line)


def _carry_out(plan: Plan, next_steps: Sequence[str], *, dry_run: bool, as_json: bool) -> None:
    if not dry_run:
        plan.carry_out()
    if as_json:
        click.echo(report_as_json(plan, next_steps, dry_run=dry_run))
        return
    for line in as_text(plan, next_steps, dry_run=dry_run):
        click.echo(line)
