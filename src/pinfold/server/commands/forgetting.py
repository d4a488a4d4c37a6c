"""The commands `forget` and `gc`: what would go is shown first, and nothing goes without a word."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pinfold.server.commands.session_names import number_of, refuse_as_pointer
from pinfold.server.options import JSON, PROJECT, Command, asking_first, settings_of

if TYPE_CHECKING:
    from pinfold.server.commands.consent import Mode
    from pinfold.store.values import Caller, Pointer

_ASKING_FIRST = asking_first("Show what would go and change nothing.")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_LONGEST_HOURS = 100 * 365 * 24


def _pointers(_ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[Pointer, ...]:
    from pinfold.store.values import Pointer, PointerKind

    for text in texts:
        refuse_as_pointer(text, "--session")
    found = [re.fullmatch(r"([PACHFS])([1-9][0-9]{0,17})", text.strip(), re.IGNORECASE) for text in texts]
    if not all(found):
        raise click.BadParameter("a pointer looks like P7, A12, C3, H142, F2 or S9, without a range")
    return tuple(Pointer(PointerKind(each[1].upper()), int(each[2])) for each in found if each)


def _ago(text: str) -> str | None:
    """Return the instant that an age such as 90d leads to, None for what is no age."""
    found = re.fullmatch(r"([0-9]{1,6})([hdwmy])", text.strip().lower())
    hours = int(found[1]) * _HOURS[found[2]] if found else _LONGEST_HOURS + 1
    return None if hours > _LONGEST_HOURS else (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


def _age(_ctx: click.Context, _option: click.Parameter, text: str) -> str:
    before = _ago(text)
    if before is None:
        raise click.BadParameter("an age has its unit: 12h, 90d, 12w, 6m (months) or 2y")
    return before


def _before(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    return text if text is None else _ago(text) or text


def _session(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Take s3, as listings spell a session, for its number; all else may be a conversation's name."""
    number = number_of(text or "")
    return text if number is None else str(number)


@click.command(cls=Command)
@click.argument("pointers", nargs=-1, callback=_pointers)
@click.option(
    "--session",
    callback=_session,
    help="All that one session holds: s3 or 3, or the client's name of the conversation.",
)
@click.option(
    "--before",
    metavar="DATE|AGE|SEQ",
    callback=_before,
    help="All that was stored before: 2026-11-30, or an age (12h, 7d, 12w, 6m (months) or 2y),"
    " or a seq of the log such as 4812.",
)
@click.option(
    "--match", metavar="TEXT", help="All that holds this text, letter for letter, artifacts included."
)
@click.option("--keep-pins", is_flag=True, help="Leave the pins that such a choice would take.")
@click.option("--finish", is_flag=True, help="Only finish a scrub that could not be done before.")
@PROJECT
@_ASKING_FIRST
@JSON
def forget(
    pointers: tuple[Pointer, ...], project: Path | None, mode: Mode | None, *, as_json: bool, **way: Any
) -> None:
    """Forget things for good: POINTERS (P7 A12 H142 …), or one of --session, --before and --match.

    What goes, pins too, is out of every answer and of every page of the store's files; only that it was there, and
    when it went, stays known. Shows what would go and asks. Backups and the client's own transcripts are not touched.

    --before goes by when a thing was stored: what was said earlier and imported later counts from its import.
    """
    from pinfold.server.commands.forget_report import carry_out, finish_scrub
    from pinfold.store.forgetting import Forget

    if way.pop("finish"):
        if pointers or mode == "look" or any(way.values()):
            raise click.UsageError("--finish goes alone: it scrubs the files, and forgets nothing more.")
        ok = finish_scrub(settings_of(project), as_json=as_json)
    else:
        ok = carry_out(settings_of(project), Forget(_person(), pointers, **way), mode, as_json=as_json)
    if not ok:
        sys.exit(1)


@click.command(cls=Command)
@click.option(
    "--older-than",
    "before",
    metavar="AGE",
    default="180d",
    callback=_age,
    show_default=True,
    help="12h, 90d, 12w, 6m (months), 2y.",
)
@click.option(
    "--keep-sessions",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Leave the newest so many sessions.",
)
@PROJECT
@_ASKING_FIRST
@JSON
def gc(before: str, keep_sessions: int, project: Path | None, mode: Mode | None, *, as_json: bool) -> None:
    """Give up old messages, tool results, artifacts and misses, and give their room back.

    Never pins, checkpoints and folds, nor what one of them names by its pointer. Shows what would go and asks. Age is
    counted from when a thing was stored: what was said earlier and imported later counts from its import.
    """
    from pinfold.server.commands.forget_report import carry_out
    from pinfold.store.forgetting import Retention

    command = Retention(_person(), before, keep_sessions)
    if not carry_out(settings_of(project), command, mode, as_json=as_json):
        sys.exit(1)


def _person() -> Caller:
    from pinfold.store.values import COMMAND_LINE, Caller

    return Caller(COMMAND_LINE, COMMAND_LINE, actor="cli")
