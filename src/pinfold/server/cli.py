"""The command line, and the one composition root. Imports are lazy: a command pays only for what it uses."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pinfold import __version__
from pinfold.server.options import JSON, PROJECT, Command, settings_of, telling_errors

_ELSEWHERE = {
    "reads": ("status", "pins", "search", "show", "folds", "misses", "recall"),
    "doing": ("run", "import_", "hook"),
    "installing": ("install", "uninstall"),
    "forgetting": ("forget", "gc"),
    "checking": ("doctor", "verify", "rebuild"),
    "replay": ("replay",),
    "exporting": ("export",),
    "copying": ("copy",),
    "backups": ("backup", "restore"),
    "lab": ("lab", "rent"),
    "ui": ("ui",),
    "tokens": ("token",),
    "outbox": ("outbox",),
}
"""Commands by their module in `commands`: each is imported when it is asked for."""

_PLACES = {
    name.rstrip("_"): (f"pinfold.server.commands.{module}", name)
    for module, names in _ELSEWHERE.items()
    for name in names
}


_CHAPTERS = {
    "Begin": ("demo", "install", "uninstall", "import", "doctor"),
    "Look": ("status", "brief", "pins", "search", "show", "folds", "recall", "misses", "ui"),
    "A team": ("serve", "token", "outbox", "copy"),
    "Care": ("verify", "rebuild", "backup", "restore", "export", "forget", "gc"),
    "Measure": ("replay", "rent", "lab"),
    "Called by others": ("run", "hook"),
}


class _Commands(click.Group):
    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for chapter, names in _CHAPTERS.items():
            with formatter.section(chapter):
                formatter.write_dl([(f"{name:9}", _first_sentence(self, ctx, name)) for name in names])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_PLACES])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _PLACES:
            return super().get_command(ctx, cmd_name)
        module, name = _PLACES[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        with telling_errors(ctx):  # of serving, when no command is named
            return super().invoke(ctx)


def _first_sentence(group: click.Group, ctx: click.Context, name: str) -> str:
    command = group.get_command(ctx, name)
    return "" if command is None else command.get_short_help_str(limit=1_000)


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
@click.option(
    "--http",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value="",
    help="Serve over Streamable HTTP (127.0.0.1:7463 where no address is given).",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="With --http: a further name that callers may call this server by, e.g. a proxy's.",
)
@PROJECT
@click.pass_context
def serve(
    ctx: click.Context, project: Path | None = None, http: str | None = None, names: tuple[str, ...] = ()
) -> None:
    """Serve MCP over stdio until the client ends it, or with --http for a team until it is told to end."""
    if names and http is None:
        raise click.UsageError("--allow-host belongs to --http.", ctx)
    if http is None:
        from pinfold.server.serving import serve_over_stdio

        serve_over_stdio(project)
    else:
        from pinfold.server.commands.http_serving import serve_http

        ctx.exit(serve_http(settings_of(project), http, names))


@main.command()
@PROJECT
@click.option("--as-of", type=click.IntRange(min=0), help="Show it as it was at this seq of the log.")
@JSON
def brief(project: Path | None, as_of: int | None, *, as_json: bool) -> None:
    """Print the brief: what a session is given after a compaction, on resume and on clear."""
    from pinfold.server.commands.brief_report import brief_report

    click.echo(brief_report(settings_of(project), as_of, as_json=as_json))


@main.command()
@click.option("--keep", is_flag=True, help="Keep the throw-away store and say where it is.")
def demo(*, keep: bool) -> None:
    """Play a whole session against a real server in a throw-away store, in a few seconds."""
    from pinfold.server.commands.demo import play

    play(click.echo, keep=keep)
