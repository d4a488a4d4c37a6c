"""The commands `install` and `uninstall`."""

from __future__ import annotations

from typing import Any

import click

from pinfold.server.install import CLIENTS
from pinfold.server.options import JSON, PROJECT, Command

_SCOPE = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Where: for all of the user's projects, or in the files of this one.",
)
_CLIENTS = f"CLIENT is one of: {', '.join(CLIENTS)}."
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")
_HTTP = click.option(
    "--http",
    "url",
    metavar="URL",
    help="Have the client, and its hooks, use a project of a team's server, e.g. https://pinfold.example.com/p/shop.",
)


@click.command(cls=Command, epilog=_CLIENTS)
@click.argument("client", metavar="CLIENT", type=click.Choice(CLIENTS), required=False)
@_SCOPE
@PROJECT
@_DRY_RUN
@_HTTP
@JSON
def install(client: str | None, *, dry_run: bool, as_json: bool, **where: Any) -> None:
    """Register pinfold with a client, with its hooks where it has them; no client: list what is found and installed.

    All else in the client's files stays as it is. Installing again changes nothing.
    """
    from pinfold.server.install import command

    if client is None:
        command.list_clients(where["project"], as_json=as_json)
    else:
        command.install(command.Wish(client, **where), dry_run=dry_run, as_json=as_json)


@click.command(cls=Command, epilog=_CLIENTS)
@click.argument("client", metavar="CLIENT", type=click.Choice(CLIENTS))
@_SCOPE
@PROJECT
@_DRY_RUN
@JSON
def uninstall(client: str, *, dry_run: bool, as_json: bool, **where: Any) -> None:
    """Take out again what `pinfold install` put into a client's files, and nothing else.

    A file that nothing else was changed in is restored byte for byte.
    """
    from pinfold.server.install import command

    command.uninstall(command.Wish(client, **where), dry_run=dry_run, as_json=as_json)
