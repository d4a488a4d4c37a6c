"""What `pinfold outbox` prints: what waits for the team's server, and what came of sending it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from pinfold.context.visible import counted, size_text
from pinfold.server.commands.listings import when
from pinfold.server.commands.tables import Report
from pinfold.server.sending import Sent, send_waiting
from pinfold.server.settings import Settings
from pinfold.server.team import TeamProject, team_project_of
from pinfold.store import Progress
from pinfold.store.remote.link import Patience
from pinfold.store.remote.outbox import Waiting
from pinfold.store.values import stamp

_COLUMNS = ("number", "what", "since (UTC)", "size", "state")


def outbox_report(settings: Settings) -> Report:
    """Return what waits. Raises `InvalidInputError` where the store is not on a team's server."""
    project = team_project_of(settings, os.environ)
    found = project.outbox.waiting()
    if not found:
        return _report(project, found, "Nothing waits.")
    told = [f"{counted(len(found), 'thing')}, {size_text(sum(each.size_bytes for each in found))}."]
    if project.outbox.to_send():
        told.append("`pinfold outbox --send` sends what waits.")
    return _report(project, found, " ".join([*told, *_on_refused(found)]))


def send_report(settings: Settings, progress: Progress | None) -> tuple[Report, bool]:
    """Send what waits; return what is left, and whether that is nothing."""
    project = team_project_of(settings, os.environ)
    total = len(project.outbox.to_send())
    store = project.open(Patience())
    try:
        sent = send_waiting(store, progress=progress and (lambda count: progress(count, total)))
    finally:
        store.close()
    left = project.outbox.waiting()
    return _report(project, left, _remark(sent, left), {"sent": sent.count, "why": sent.why}), not left


def _remark(sent: Sent, left: list[Waiting]) -> str:
    told = [f"Sent: {counted(sent.count, 'thing')}; left: {len(left)}.", *sent.refused]
    return " ".join([*told, *([sent.why] if sent.why else []), *_on_refused(left)])


def _on_refused(found: list[Waiting]) -> list[str]:
    is_any = any(each.is_refused for each in found)
    return ["What the server refused stays until you delete its file."] if is_any else []


def _report(
    project: TeamProject,
    found: list[Waiting],
    remark: str,
    more: Mapping[str, int | str | None] = MappingProxyType({}),
) -> Report:
    facts = {"server": str(project.address), "waiting": list(map(_item, found)), **more}
    return Report(facts, _COLUMNS, list(map(_row, found)), remark)


def _item(what: Waiting) -> dict[str, int | str | bool]:
    return {
        "number": what.number,
        "kind": what.kind,
        "at": _at(what),
        "size_bytes": what.size_bytes,
        "refused": what.is_refused,
        "path": str(what.path),
    }


def _row(what: Waiting) -> tuple[str, ...]:
    state = f"refused: {what.path}" if what.is_refused else ""
    return str(what.number), what.kind, when(_at(what)), size_text(what.size_bytes), state


def _at(what: Waiting) -> str:
    return stamp(datetime.fromtimestamp(what.at, UTC))
