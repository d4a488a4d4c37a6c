"""The commands `install` and `uninstall`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pinfold.server.install import CLIENTS
from pinfold.server.options import JSON, PROJECT, Command

if TYPE_CHECKING:
    from pinfold.server.install.entries import Scope

_SCOPE = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Where: for all of the user's projects, or in the files of this one.",
)
_CLIENTS = f"CLIENT is one of: {', '.join(CLIENTS)}."
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")


@click.command(cls=Command, epilog=_CLIENTS)
@click.argument("client", metavar="CLIENT", type=click.Choice(CLIENTS), required=False)
@_SCOPE
@PROJECT
@_DRY_RUN
@JSON
def install(client: str | None, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Register pinfold with a client, with its hooks where it has them; no client: list what is found and installed.

    All else in the client's files stays as it is. Installing again changes nothing.
    """
    from pinfold.server.install import command

    if client is None:
        command.list_clients(project, as_json=as_json)
    else:
        command.install(client, scope, project, dry_run=dry_run, as_json=as_json)


@click.command(cls=Command, epilog=_CLIENTS)
@click.argument("client", metavar="CLIENT", type=click.Choice(CLIENTS))
@_SCOPE
@PROJECT
@_DRY_RUN
@JSON
def uninstall(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Take out again what `pinfold install` put into a client's files, and nothing else.

    A file that nothing else was changed in is restored byte for byte.
    """
    from pinfold.server.install import command

    command.uninstall(client, scope, project, dry_run=dry_run, as_json=as_json)
