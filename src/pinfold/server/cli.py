"""The command line, and the one composition root. Imports are lazy: a command pays only for what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pinfold import __version__
from pinfold.store.errors import PinfoldError

if TYPE_CHECKING:
    from pinfold.server.settings import Settings

_PROJECT = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the project (default: the client's project folder, else the working directory).",
)


class _Commands(click.Group):
    """Shows an error of ours as one line and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PinfoldError as error:
            click.echo(f"pinfold: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Commands, invoke_without_command=True)
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def brief(project: Path | None, as_of: int | None, *, as_json: bool) -> None:
    """Print the brief: what a session is given after a compaction, on resume and on clear."""
    from pinfold.server.brief_report import brief_report

    click.echo(brief_report(_settings(project), as_of, as_json=as_json))


@main.command()
@_PROJECT
@click.option(
    "--receipt", "receipts", multiple=True, help="A receipt that must hold, e.g. 42:9f31c2aa07d4; repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(project: Path | None, receipts: tuple[str, ...], *, as_json: bool) -> None:
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
