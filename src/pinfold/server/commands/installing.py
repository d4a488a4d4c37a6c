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
_URL = "pinfold.url"


def _keep_url(ctx: click.Context, _option: click.Parameter, url: str | None) -> None:
    ctx.meta[_URL] = url


_HTTP = click.option(
    "--http",
    metavar="URL",
    expose_value=False,
    callback=_keep_url,
    help="Have the client, and its hooks, use a project of a team's server, e.g. https://pinfold.example.com/p/shop.",
)


@click.command(cls=Command, epilog=_CLIENTS)
@click.argument("client", metavar="CLIENT", type=click.Choice(CLIENTS), required=False)
@_SCOPE
@PROJECT
@_DRY_RUN
@_HTTP
@JSON
def install(client: str | None, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Register pinfold with a client, with its hooks where it has them; no client: list what is found and installed.

    All else in the client's files stays as it is. Installing again changes nothing.
    """
    from pinfold.server.install import command

    if client is None:
        command.list_clients(project, as_json=as_json)
    else:
        url = click.get_current_context().meta[_URL]
        command.install(command.Wish(client, scope, project, url), dry_run=dry_run, as_json=as_json)


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

    command.uninstall(command.Wish(client, scope, project), dry_run=dry_run, as_json=as_json)
