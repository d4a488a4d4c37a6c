"""What `pinfold restore` shows before, asks, does, and says afterwards."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pinfold.context.visible import counted
from pinfold.server.commands.backup_report import facts_of, restore_command
from pinfold.server.commands.consent import Mode, is_wanted
from pinfold.server.commands.listings import when
from pinfold.server.commands.progress import bar
from pinfold.server.commands.tables import Report, tell
from pinfold.server.settings import Settings
from pinfold.store.errors import InvalidInputError
from pinfold.store.events import Kind
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.copying import State
from pinfold.store.sqlite.restore_plan import RestorePlan
from pinfold.store.sqlite.restoring import Restored, Staged, put_back, staged

_NAMES: dict[str, tuple[str, str]] = {
    Kind.SESSION_STARTED: ("session start", ""),
    Kind.MESSAGE_APPENDED: ("message", ""),
    Kind.ARTIFACT_SPILLED: ("artifact", ""),
    Kind.DECISION_PINNED: ("pin", ""),
    Kind.DECISION_SUPERSEDED: ("superseding of a pin", "supersedings of pins"),
    Kind.STATE_CHECKPOINTED: ("checkpoint", ""),
    Kind.FOLD_RECORDED: ("fold", ""),
    Kind.SEARCH_MISSED: ("miss", "misses"),
    Kind.SEARCH_ANSWERED: ("answer to a miss", "answers to misses"),
    Kind.ENTRY_FORGOTTEN: ("forgetting", ""),
}
_QUESTION = "Put the backup in the place of what is there now?"
_REFUSAL = "Nothing was restored"
_KEPT = "is backed up before, so that this can be undone"
_MOVED = "is moved into a folder set-aside-… beside it"
_FORGOTTEN = "What was forgotten since comes back; forget it again."


def restore_store(settings: Settings, file: Path, mode: Mode | None, *, anyway: bool, as_json: bool) -> None:
    """Verify a backup, show what putting it back would change, and do that where it is wanted.

    Raises `InvalidInputError` where nobody can be asked or the backup is another store's, and what the store raises.
    """
    with ExitStack() as stack:
        with bar("verify the backup") as progress:
            staging = staged(Place(settings.own_folder()), file.absolute(), settings.project.name, progress)
            ready = stack.enter_context(staging)
        if ready.plan.foreign and not anyway:
            raise InvalidInputError(
                f"{file} is {ready.plan.foreign}.", "To put it here all the same, add --anyway."
            )
        if not as_json:
            tell(_plan(ready.plan), as_json=False)
        done = _put_back(ready) if is_wanted(mode, _QUESTION, _REFUSAL, as_json=as_json) else None
    if as_json:
        click.echo(json.dumps(_facts(ready.plan, done)))
    elif done is not None:
        click.echo("\n".join(_outcome(ready.plan, done)))


def _put_back(ready: Staged) -> Restored:
    with bar("back up what is there") as progress:
        return put_back(ready, progress)


def _plan(plan: RestorePlan) -> Report:
    rows = [
        ("backup", _state(plan.restored)),
        ("now", _state(plan.present) if plan.present else plan.trouble),
    ]
    rows += [("lost", _lost(plan)), ("comes with it", counted(plan.difference.gained, "event"))]
    rows.append(("what is there", _KEPT if plan.present else _MOVED))
    return Report({}, ("", ""), rows, _FORGOTTEN if Kind.ENTRY_FORGOTTEN in plan.difference.lost else "")


def _state(state: State) -> str:
    newest = f"event {state.seq:,}, {when(state.at)} UTC" if state.at else "no events"
    return f"{newest} (schema {state.schema})"


def _lost(plan: RestorePlan) -> str:
    difference = plan.difference
    if plan.present is None:
        return "nothing that can be read"
    if not difference.lost:
        return "nothing"
    count = counted(sum(difference.lost.values()), "event")
    since = f" (since {when(difference.lost_since)} UTC)" if difference.lost_since else ""
    return f"{count} behind event {difference.common:,}{since}: {_kinds(plan)}"


def _kinds(plan: RestorePlan) -> str:
    return ", ".join(
        counted(number, *_NAMES.get(kind, (kind, kind))) for kind, number in plan.difference.lost.items()
    )


def _outcome(plan: RestorePlan, done: Restored) -> list[str]:
    lines = [f"Restored: {_state(plan.restored)}."]
    if done.set_aside is not None:
        lines.append(f"The files that were there lie in {done.set_aside}; start running servers anew.")
    if done.undo is not None:
        lines.append(f"To undo it: {restore_command(done.undo)}")
    return lines


def _facts(plan: RestorePlan, done: Restored | None) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "ok": True,
        "done": done is not None,
        "file": str(plan.file),
        "backup": _state_facts(plan.restored),
        "now": _state_facts(plan.present) if plan.present else None,
        "trouble": plan.trouble or None,
        **asdict(plan.difference),
    }
    if done is not None:
        facts["undo"] = facts_of(done.undo) if done.undo else None
        facts["set_aside"] = str(done.set_aside) if done.set_aside else None
    return facts


def _state_facts(state: State) -> dict[str, Any]:
    receipt = str(state.tip) if state.tip else None
    return {"project": state.project, "schema": state.schema, "receipt": receipt, "at": state.at}
