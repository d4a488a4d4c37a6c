"""The commands `run`, `import` and `hook`; each imports what it needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pinfold.server.limits import SPILL_TOKENS, spill_tokens
from pinfold.server.options import JSON, PROJECT, Command, going_on_later, settings_of
from pinfold.store.errors import InvalidInputError


def _threshold(_ctx: click.Context, _option: click.Parameter, tokens: int | None) -> int:
    try:
        return tokens or spill_tokens(os.environ)
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from None


@click.command(cls=Command, context_settings={"allow_interspersed_args": False})
@click.option(
    "--label", default="", help="What the output is called, at most 500 characters (default: the command)."
)
@click.option(
    "--tokens",
    type=click.IntRange(min=1),
    callback=_threshold,
    show_default=f"PINFOLD_SPILL_TOKENS, else {SPILL_TOKENS:,}",
    help="From when on output is long; up to 2,000 bytes it never is.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(label: str, tokens: int, command: tuple[str, ...]) -> None:
    """Run a command and end with its exit status; long output goes behind a pointer.

    Short output passes unchanged. Of a long one the first lines, the lines with errors, the end and the pointer are
    shown; all of it can be fetched. Example: pinfold run -- make test
    """
    from pinfold.server.run.running import run_command

    run_command(command, label, tokens)


@click.command("import", cls=Command)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--client",
    type=click.Choice(["claude", "codex", "jsonl"]),
    help="Who wrote them (default: what they look like); without PATHS, only that client's.",
)
@PROJECT
@click.option("--dry-run", is_flag=True, help="List what would be read and change nothing.")
@JSON
def import_(
    paths: tuple[Path, ...], client: str | None, project: Path | None, *, dry_run: bool, as_json: bool
) -> None:
    """Read transcripts into the log: this project's, or the given files and folders.

    Each message is kept once, however often its transcript is read. The client jsonl takes one object a line, with
    text and, if known, external_id, kind (user, assistant, tool_call, tool_result), at and session.
    """
    from pinfold.server.commands.import_report import import_report, plan_report
    from pinfold.server.commands.tables import tell

    if dry_run:
        tell(plan_report(settings_of(project), paths, client), as_json=as_json)
        return
    with going_on_later("what was read", as_json=as_json):
        text, ok = import_report(settings_of(project), paths, client, as_json=as_json)
    click.echo(text)
    if not ok:
        sys.exit(1)


@click.command(cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("event")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def hook(event: str, options: tuple[str, ...]) -> None:
    """What a client's hooks call: one EVENT (session-start, stop, …), as JSON on standard input. Always succeeds.

    Options: --client claude|codex, --home DIR (the data directory). `pinfold install` writes the calls.
    """
    from pinfold.server.hook import main

    sys.exit(main([event, *options]))
