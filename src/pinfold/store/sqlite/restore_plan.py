"""What a restore would change: two logs part behind some event, and what the present one has behind it is lost."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pinfold.store.errors import DamagedError
from pinfold.store.sqlite.backing_up import check_store
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.copying import State, snapshot, state_of


@dataclass(frozen=True, slots=True)
class Difference:
    """How the present log differs: `common` is the last event of both; `lost` counts what it has behind that by kind,
    the first of it written at `lost_since`; `gained` counts what the backup has behind it.
    """

    common: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    lost_since: str | None = None
    gained: int = 0


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What would be put where.

    `present` is None where no log can be read now, and `trouble` says why. `foreign` says why the backup belongs to
    another store, if it does.
    """

    file: Path
    restored: State
    present: State | None
    trouble: str
    difference: Difference
    foreign: str


def compare(place: Place, copy: Path, source: tuple[Path, State], project: str) -> RestorePlan:
    """Compare a verified copy, of which file in which state, with the store of `project` now. Changes nothing.

    Raises `ReadOnlyError` where a newer pinfold wrote the store.
    """
    file, restored = source
    with snapshot(copy) as backup:
        try:
            check_store(place)
            with snapshot(place.database) as now:
                present, difference = state_of(now), _difference(backup, now)
        except DamagedError as error:
            foreign = _foreign(restored, None, project)
            return RestorePlan(file, restored, None, error.what, Difference(gained=restored.seq), foreign)
    return RestorePlan(file, restored, present, "", difference, _foreign(restored, present, project))


def _difference(backup: sqlite3.Connection, now: sqlite3.Connection) -> Difference:
    behind, ahead = _newest(backup), _newest(now)

    def parts(seq: int) -> bool:
        return _digest(backup, seq) != _digest(now, seq)

    common = bisect_left(range(1, min(behind, ahead) + 1), True, key=parts)  # a chain that parts stays apart
    lost = dict(
        now.execute("SELECT kind, count(*) FROM event WHERE seq > ? GROUP BY kind", (common,)).fetchall()
    )
    since = now.execute("SELECT at FROM event WHERE seq = ?", (common + 1,)).fetchone()
    return Difference(common, lost, since["at"] if since else None, behind - common)


def _newest(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0])


def _digest(db: sqlite3.Connection, seq: int) -> bytes | None:
    row = db.execute("SELECT digest FROM event WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else bytes(row["digest"])


def _foreign(restored: State, present: State | None, project: str) -> str:
    here = project if present is None else present.project
    if restored.project != here:
        return f"a backup of the project {restored.project}, and this is {here}"
    if present is not None and present.secret != restored.secret:
        return f"a backup of another store of the name {here}"
    return ""
