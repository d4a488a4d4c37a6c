"""The command line, and the one composition root. Imports are lazy: a command pays only for what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pinfold import __version__
from pinfold.server.install import CLIENTS
from pinfold.store.errors import InvalidInputError, PinfoldError

if TYPE_CHECKING:
    from pinfold.server.install.entries import Scope
    from pinfold.server.settings import Settings
    from pinfold.store.values import Receipt

_PROJECT = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the project (default: the client's project folder, else the working directory).",
)


_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, also for an error.")


@contextmanager
def _telling_errors(ctx: click.Context) -> Iterator[None]:
    """Show an error of ours as one line on stderr, with --json as an object on stdout; exit status 1."""
    try:
        yield
    except PinfoldError as error:
        if ctx.params.get("as_json"):
            import json

            click.echo(json.dumps({"ok": False, "error": str(error)}))
        else:
            click.echo(f"pinfold: {error}", err=True)
        ctx.exit(1)


class _Command(click.Command):
    def invoke(self, ctx: click.Context) -> Any:
        with _telling_errors(ctx):
            return super().invoke(ctx)


class _Commands(click.Group):
    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        with _telling_errors(ctx):  # of serving, when no command is named
            return super().invoke(ctx)


@click.group(
    cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="pinfold")
@click.pass_context
def main(ctx: click.Context) -> None:
    """The memory of coding agents: pins, pointers, search and checkpoints that survive compaction.

    Without a command it serves MCP over stdio, as clients start it.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve)


@main.command()
@_PROJECT
def serve(project: Path | None = None) -> None:
    """Serve MCP over stdio until the client ends it."""
    from pinfold.server.serving import serve_over_stdio

    serve_over_stdio(project)


@main.command()
@_PROJECT
@click.option("--as-of", type=click.IntRange(min=0), help="Show it as it was at this seq of the log.")
@_JSON
def brief(project: Path | None, as_of: int | None, *, as_json: bool) -> None:
    """Print the brief: what a session is given after a compaction, on resume and on clear."""
    from pinfold.server.brief_report import brief_report

    click.echo(brief_report(_settings(project), as_of, as_json=as_json))


def _read_receipts(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> list[Receipt]:
    from pinfold.store.values import Receipt

    try:
        return [Receipt.read(text) for text in texts]
    except InvalidInputError as error:
        raise click.BadParameter(str(error)) from None


@main.command()
@_PROJECT
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    callback=_read_receipts,
    help="A receipt that must hold, e.g. 42:9f31c2aa07d4; repeatable.",
)
@_JSON
def verify(project: Path | None, receipts: list[Receipt], *, as_json: bool) -> None:
    """Check the log's chain, the views and the index against it, and every artifact. Changes nothing.

    Only a receipt can show that the log's end was cut off: writes are acknowledged with one.
    """
    from pinfold.server.reports import verify_report

    text, ok = verify_report(_settings(project), _progress("verify"), receipts, as_json=as_json)
    click.echo(text)
    if not ok:
        sys.exit(1)


@main.command()
@_PROJECT
def rebuild(project: Path | None) -> None:
    """Derive all views and the search index anew from the log."""
    from pinfold.server.reports import rebuild_report

    click.echo(rebuild_report(_settings(project), _progress("rebuild")))


_SCOPE = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Where: for all of the user's projects, or in the files of this one.",
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the difference and change nothing.")


@main.command()
@click.argument("client", type=click.Choice(CLIENTS), required=False)
@_SCOPE
@_PROJECT
@_DRY_RUN
@_JSON
def install(client: str | None, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Register pinfold with a client, with its hooks where it has them; no client: list those found here.

    All else in the client's files stays as it is. Installing again changes nothing.
    """
    from pinfold.server.install import command

    if client is None:
        command.list_clients(as_json=as_json)
    else:
        command.install(client, scope, project, dry_run=dry_run, as_json=as_json)


@main.command()
@click.argument("client", type=click.Choice(CLIENTS))
@_SCOPE
@_PROJECT
@_DRY_RUN
@_JSON
def uninstall(client: str, scope: Scope, project: Path | None, *, dry_run: bool, as_json: bool) -> None:
    """Take out again what `pinfold install` put into a client's files, and nothing else.

    A file that nothing else was changed in is restored byte for byte.
    """
    from pinfold.server.install import command

    command.uninstall(client, scope, project, dry_run=dry_run, as_json=as_json)


@main.command()
@click.option("--keep", is_flag=True, help="Keep the throw-away store and say where it is.")
def demo(*, keep: bool) -> None:
    """Play a whole session against a real server in a throw-away store, in a few seconds."""
    from pinfold.server.demo import play

    play(click.echo, keep=keep)


def _settings(project: Path | None) -> Settings:
    from pinfold.server.settings import read_settings

    return read_settings(folder=project)


def _progress(label: str) -> Callable[[int, int], None] | None:
    """Return what shows long work on a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r{label}: {done:,} of {total:,} events{end}")
        sys.stderr.flush()

    return show
