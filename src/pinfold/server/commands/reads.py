"""The commands `status`, `pins`, `search`, `show`, `folds`, `misses` and `recall`; each imports what it needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pinfold.server.commands.session_names import refuse_as_pointer
from pinfold.server.options import JSON, PROJECT, Command, settings_of
from pinfold.store.search_results import HIT_KINDS

_LIMIT = click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many, newest first."
)
_ALL = click.option("--all", "show_all", is_flag=True, help="All of them.")


def _gather(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Collect options that are arguments of a tool, under the tool's names for them."""
    gathered = ctx.ensure_object(dict)
    if value not in (None, ()):
        gathered[option.name] = list(value) if isinstance(value, tuple) else value


def _pointer(_ctx: click.Context, _option: click.Parameter, text: str) -> str:
    refuse_as_pointer(text, "pinfold export --format markdown --session")
    return text


def _argument(flag: str, name: str, **settings: Any) -> Callable[[Any], Any]:
    return click.option(flag, name, expose_value=False, callback=_gather, **settings)


@click.command(cls=Command)
@PROJECT
@click.option(
    "--client", help="claude-code, codex, … (default: whose shell this is, else the last one seen)."
)
@click.option("--model", help="The model's name, e.g. gpt-6.2-sol.")
@click.option(
    "--window", type=click.IntRange(min=1), help="Its context window in tokens, where it is not known."
)
@JSON
def status(
    project: Path | None, client: str | None, model: str | None, window: int | None, *, as_json: bool
) -> None:
    """Show the project's store, and what is left of a model's window for history.

    Tokens are o200k's. The client's prompt and tools were measured once, without other servers, memory files and
    skills: those come on top.
    """
    from pinfold.server.commands.status import Model, status_report
    from pinfold.server.commands.tables import tell

    tell(status_report(settings_of(project), Model(client, model, window)), as_json=as_json)


@click.command(cls=Command)
@PROJECT
@click.option("--superseded", is_flag=True, help="Also those that were superseded.")
@_LIMIT
@_ALL
@JSON
def pins(project: Path | None, limit: int, *, superseded: bool, show_all: bool, as_json: bool) -> None:
    """List the pins that stand, newest first.

    In a pipe: pointer, kind, text, why, time (UTC), session, superseded by; parted by tabs, a line each.
    """
    from pinfold.server.commands.listings import pins_report
    from pinfold.server.commands.tables import tell

    report = pins_report(settings_of(project), None if show_all else limit, superseded=superseded)
    tell(report, as_json=as_json)


@click.command(cls=Command)
@PROJECT
@click.argument("words", nargs=-1, required=True)
@_argument("--kind", "kinds", multiple=True, type=click.Choice(HIT_KINDS), help="Only these; repeatable.")
@_argument("--session", "session", help="Only this session, e.g. s3.")
@_argument("--since", "since", help="2026-03-14, or how long ago: 7d, 12h.")
@_argument("--path", "path", help="Only what concerns this file.")
@_argument(
    "--limit",
    "limit",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="How many, best first.",
)
@_argument("--cursor", "cursor", help="The `next` that --json gave: go on from there.")
@JSON
@click.pass_context
def search(ctx: click.Context, project: Path | None, words: tuple[str, ...], *, as_json: bool) -> None:
    """Search the project's past as an agent does; finding nothing is recorded as a miss.

    Quote a phrase twice, for the shell and for pinfold: '"exact words"'. In a pipe: pointer, kind, day, session, title,
    text, note; parted by tabs, a line each.
    """
    from pinfold.server.commands.finding import search_report
    from pinfold.server.commands.tables import tell

    tell(search_report(settings_of(project), ctx.obj | {"query": " ".join(words)}), as_json=as_json)


@click.command(cls=Command)
@PROJECT
@click.argument("pointer", callback=_pointer)
@_argument("--lines", "lines", help="10-40, 10-, or -50 for the last 50.")
@_argument(
    "--match", "match", help="Only what this regular expression (RE2) finds, with the lines around it."
)
@_argument("--json-path", "json_path", help="Only what this JSONPath finds, e.g. $.a[0].b.")
@click.option("--raw", is_flag=True, help="The exact bytes, also on a terminal, and nothing around them.")
@JSON
@click.pass_context
def show(ctx: click.Context, project: Path | None, pointer: str, *, raw: bool, as_json: bool) -> None:
    """Show what a pointer leads to: P7, A12, A12#L10-40, C3, H142, F2, S9, brief, pins, artifacts, …

    `show pins` lists those that were superseded, too, as an agent is shown them; `pinfold pins` those that stand.

    An artifact, or a part of anything, goes into a pipe or a file as it was stored, byte for byte:
    pinfold show A12 > FILE. On a terminal a long artifact is shown by its first and last lines.
    """
    from pinfold.server.commands.showing import Form
    from pinfold.server.commands.showing import show as print_it

    print_it(settings_of(project), pointer, ctx.obj, Form(as_json=as_json, raw=raw))


@click.command(cls=Command)
@PROJECT
@_LIMIT
@_ALL
@JSON
def folds(project: Path | None, limit: int, *, show_all: bool, as_json: bool) -> None:
    """List the compactions: what each took, what its summary lost, and what the brief gives back.

    In a pipe: pointer, time (UTC), session, tokens before -> after, reduction, pinned specifics kept, those lost, how
    many of them the brief shows now, what was said and neither pinned nor kept; parted by tabs, a line each.
    """
    from pinfold.server.commands.folds import folds_report
    from pinfold.server.commands.tables import tell

    tell(folds_report(settings_of(project), None if show_all else limit), as_json=as_json)


@click.command(cls=Command)
@PROJECT
@_LIMIT
@_ALL
@JSON
def misses(project: Path | None, limit: int, *, show_all: bool, as_json: bool) -> None:
    """List the searches that did not surface what was needed, and decisions against a dead end.

    In a pipe: pointer, query, why it is a miss, what it gave, what answered it, time (UTC), session, "a person" unless
    an agent asked; parted by tabs, a line each.
    """
    from pinfold.server.commands.listings import misses_report
    from pinfold.server.commands.tables import tell

    tell(misses_report(settings_of(project), None if show_all else limit), as_json=as_json)


@click.command(cls=Command)
@PROJECT
@click.argument("question", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="How many, best first."
)
@JSON
def recall(project: Path | None, question: tuple[str, ...], limit: int, *, as_json: bool) -> None:
    """Test what is left of a decision: how many specifics of each pin that answers a question brief and summary show.

    In a pipe: pointer, text, in the brief, in the last summary, what is not in the brief, what is not in the summary;
    parted by tabs, a line each.
    """
    from pinfold.server.commands.finding import recall_report
    from pinfold.server.commands.tables import tell

    tell(recall_report(settings_of(project), " ".join(question), limit), as_json=as_json)
