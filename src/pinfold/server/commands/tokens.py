"""The commands `token add`, `token list` and `token revoke`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from pinfold.server.options import JSON, Command

if TYPE_CHECKING:
    from pinfold.server.http.tokens import TokenFile


class _Group(click.Group):
    command_class = Command


@click.group(cls=_Group)
def token() -> None:
    """Who may enter `pinfold serve --http`: one token for each person or machine."""


@token.command()
@click.argument("name")
@click.option(
    "--project",
    "projects",
    metavar="NAME",
    multiple=True,
    required=True,
    help="Project of the server that it opens; may be given more than once.",
)
@click.option("--read-only", is_flag=True, help="It may only read them.")
@click.option(
    "--expires", metavar="WHEN", help="When it ends: 90d, 12h, or a date such as 2027-03-14 (default: never)."
)
@JSON
def add(name: str, projects: tuple[str, ...], expires: str | None, *, read_only: bool, as_json: bool) -> None:
    """Make a token called NAME and print it, this once: only its digest is kept."""
    from pinfold.server.commands.token_report import added, new_projects
    from pinfold.server.settings import read_home

    made = added(_tokens(), name, projects, expires, may_write=not read_only)
    click.echo(json.dumps({"name": name, "token": made}) if as_json else made)
    if not as_json:
        click.echo("It is not shown again. On the caller's machine it goes into PINFOLD_TOKEN.", err=True)
    if not (as_json or os.environ.get("PINFOLD_STORE")):
        for sentence in new_projects(read_home(), projects):
            click.echo(sentence, err=True)


@token.command(name="list")
@JSON
def list_(*, as_json: bool) -> None:
    """List the tokens: what each opens, when it was made, last used, and when it ends."""
    from pinfold.server.commands.tables import tell
    from pinfold.server.commands.token_report import token_report

    tell(token_report(_tokens()), as_json=as_json)


@token.command()
@click.argument("name")
@JSON
def revoke(name: str, *, as_json: bool) -> None:
    """End a token: a running server refuses it from its next request on."""
    _tokens().revoke(name)
    click.echo(json.dumps({"name": name, "revoked": True}) if as_json else f"{name} is revoked.")


def _tokens() -> TokenFile:
    from pinfold.server.http.tokens import TokenFile
    from pinfold.server.settings import read_home

    return TokenFile(read_home())
