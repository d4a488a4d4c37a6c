"""What `forget` and `gc` show before, ask, do, and say afterwards."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from pinfold.context.visible import counted, size_text, visible
from pinfold.server.commands.consent import Mode, is_wanted
from pinfold.server.commands.listings import when
from pinfold.server.commands.progress import bar
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import flat, tolerate_encoding
from pinfold.server.settings import Settings
from pinfold.server.terminals import is_terminal
from pinfold.store import Store
from pinfold.store.forgetting import UNNAMED, Doomed, Forget, ForgetPlan, Forgotten, Retention, Scrubbed
from pinfold.store.sqlite.connection import Place

_QUESTION = "Forget all of this for good?"
_REFUSAL = "Nothing was forgotten"
_SHOWN = 20
_NAMES = {
    "decision.pinned": "pin",
    "artifact.spilled": "artifact",
    "state.checkpointed": "checkpoint",
    "fold.recorded": "fold",
    "message.appended": "entry",
    "search.missed": "miss",
}
_PLURALS = {"entry": "entries", "miss": "misses"}


def carry_out(settings: Settings, command: Forget | Retention, mode: Mode | None, *, as_json: bool) -> bool:
    """Show the plan; forget and scrub, where `mode` is None only if a person says so; return whether all is done.

    Raises `InvalidInputError` where nobody can be asked, and what the store raises.
    """
    tolerate_encoding()

    async def question(store: Store) -> bool:
        planned = await store.forget_plan(command)
        if not as_json:
            _show(planned, command.before)
        if planned.is_empty or not is_wanted(mode, _QUESTION, _REFUSAL, as_json=as_json):
            if as_json:
                _tell(_facts(planned, None, None))
            return True
        done = await store.forget(command)
        with bar("scrub") as progress:
            scrubbed = await store.scrub(progress)
        if as_json:
            _tell(_facts(done.plan, done, scrubbed) | _left(settings))
        else:
            click.echo(_outcome(done, scrubbed))
            _warn(settings)
        return scrubbed.owed is None

    return ask(settings, question)


def finish_scrub(settings: Settings, *, as_json: bool) -> bool:
    """Scrub the files; return whether it could be done."""

    async def question(store: Store) -> bool:
        with bar("scrub") as progress:
            scrubbed = await store.scrub(progress)
        if as_json:
            _tell({"ok": scrubbed.owed is None} | asdict(scrubbed))
        else:
            click.echo(_scrub_line(scrubbed))
        return scrubbed.owed is None

    return ask(settings, question)


def _show(planned: ForgetPlan, before: str | None) -> None:
    """Show live pins first, then the others, on a terminal not more than a screenful."""
    live = [each for each in planned.doomed if each.is_live_pin]
    others = [each for each in planned.doomed if not each.is_live_pin]
    shown = others[:_SHOWN] if is_terminal(sys.stdout) else others
    for each in [*live, *shown]:
        click.echo(_line(each))
    if len(shown) < len(others):
        click.echo(f"… and {len(others) - len(shown):,} more")
    for line in _remarks(planned, live) if not planned.is_empty else [_nothing(before)]:
        click.echo(line, err=not is_terminal(sys.stdout))


def _line(each: Doomed) -> str:
    name = "live pin" if each.is_live_pin else _NAMES[each.kind]
    why = f"\t({each.why})" if each.why else ""
    return f"{each.pointer or UNNAMED}\t{name}\t{flat(each.title)}{why}"


def _nothing(before: str | None) -> str:
    """Say that there is nothing, and of a time what is compared with it."""
    if not before:
        return "There is nothing to forget."
    time = f"{when(before)} UTC" if before.endswith("+00:00") else before
    named = f"event {before}" if before.isdigit() else visible(time)
    counts = "what was said earlier and imported later counts from its import"
    return f"There is nothing to forget that was stored before {named}; {counts}."


def _remarks(planned: ForgetPlan, live: Sequence[Doomed]) -> list[str]:
    shown = (
        f"; {counted(len(live), 'pin')} of them {'is' if len(live) == 1 else 'are'} in the brief now"
        if live
        else ""
    )
    lines = [f"would go: {_counts(planned)}{shown}"]
    if planned.cleaned:
        lines.append(f"stays, without what it quotes of them: {', '.join(planned.cleaned)}")
    if planned.elsewhere:
        lines.append(
            f"the same words stand in {', '.join(planned.elsewhere)}, which stay (--match takes them)"
        )
    return lines


def _counts(planned: ForgetPlan) -> str:
    numbers = Counter(_NAMES[each.kind] for each in planned.doomed)
    parts = [counted(number, name, _PLURALS.get(name, "")) for name, number in numbers.items()]
    if planned.searches:
        parts.append(counted(planned.searches, "recent search", "recent searches"))
    return ", ".join(parts)


def _outcome(done: Forgotten, scrubbed: Scrubbed) -> str:
    receipt = f" (receipt {done.receipt})" if done.receipt else ""
    return f"forgotten: {_counts(done.plan)}{receipt}\n{_scrub_line(scrubbed)}"


def _scrub_line(scrubbed: Scrubbed) -> str:
    if scrubbed.owed is not None:
        return f"the files are not scrubbed yet: {scrubbed.owed}. Then run `pinfold forget --finish`."
    sizes = f"{size_text(scrubbed.before_bytes)} before, {size_text(scrubbed.after_bytes)} now"
    return f"the files are scrubbed: {sizes}"


def _left(settings: Settings) -> dict[str, Any]:
    """Return what still holds it, because it is not ours to touch or was made to outlast everything."""
    if settings.store is not None:
        return {"backups": []}
    kept = sorted(Place(settings.existing_store()).backups.glob("*.db"))  # also one that a person named
    return {"backups": [str(file) for file in kept]}


def _warn(settings: Settings) -> None:
    for backup in _left(settings)["backups"]:
        click.echo(f"still in the backup {visible(backup)}: delete it when it is no longer needed", err=True)
    if settings.store is not None:
        click.echo("not looked at: backups of the shared store, which may hold it, too", err=True)
    click.echo("not touched: the clients' own transcripts, which may hold it, too", err=True)


def _facts(planned: ForgetPlan, done: Forgotten | None, scrubbed: Scrubbed | None) -> dict[str, Any]:
    things = [
        asdict(each) | {"pointer": each.pointer or None, "kind": _NAMES[each.kind]} for each in planned.doomed
    ]
    facts: dict[str, Any] = {
        "ok": scrubbed is None or scrubbed.owed is None,
        "done": done is not None,
        "things": things,
        "searches": planned.searches,
        "cleaned": planned.cleaned,
        "elsewhere": planned.elsewhere,
        "receipt": str(done.receipt) if done and done.receipt else None,
        "scrub": asdict(scrubbed) if scrubbed else None,
    }
    return facts


def _tell(facts: dict[str, Any]) -> None:
    click.echo(json.dumps(facts))
