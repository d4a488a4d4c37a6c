"""Which backups there are, by name alone: only a copy that was verified ever got such a name. Source: P30."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pinfold.store.values import stamp

UNFINISHED = ("pinfold-unfinished-", ".part")
"""How the name of a copy begins and ends until it is verified."""

_NAME = re.compile(r"log-schema(\d+)-seq(\d+)-(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d\.\d{6}Z)\.db")


@dataclass(frozen=True, slots=True)
class Backup:
    """One verified copy of a whole store: its newest event is `seq`; `at` is UTC, when it was made."""

    path: Path
    schema: int
    seq: int
    at: str
    size_bytes: int


def backups_in(folder: Path) -> tuple[Backup, ...]:
    """Return the backups in a folder that bear the name we give them, the one made last first."""
    try:
        found = [backup for path in folder.iterdir() if (backup := _read(path)) is not None]
    except OSError:
        return ()
    return tuple(sorted(found, key=lambda backup: (backup.at, backup.seq), reverse=True))


def _read(path: Path) -> Backup | None:
    named = _NAME.fullmatch(path.name)
    if named is None or not path.is_file():
        return None
    schema, seq, year, month, hour, minute, second = named.groups()
    at = f"{year}-{month}-{hour}:{minute}:{second}"
    return Backup(path, int(schema), int(seq), at, path.stat().st_size)


def name_of(schema: int, seq: int, at: str) -> str:
    """Return the name of the backup of a schema and a newest event that was made at an instant."""
    return f"log-schema{schema}-seq{seq}-{compact(at)}.db"


def now() -> str:
    """Return the present instant as `Backup.at` has it."""
    return stamp(datetime.now(UTC))


def compact(at: str) -> str:
    """Return an instant as it stands in names of files."""
    return at.replace("-", "").replace(":", "")


def restoring(folder: Path) -> str:
    """Return how a store is put back: from the newest backup in its folder, else from whichever there is."""
    return way_back(folder) or "`pinfold restore FILE` puts back a backup"


def looking(folder: Path) -> str:
    """Return what to do about damage: see all of it, and put the newest backup back where there is one."""
    back = way_back(folder)
    look = "`pinfold verify` shows what is affected"
    return f"{look}; {back}." if back else f"{look}."


def way_back(folder: Path) -> str:
    """Return the command that puts the newest backup in a folder back, and what that holds; empty if there is none."""
    newest = next(iter(backups_in(folder)), None)
    if newest is None:
        return ""
    command = f"pinfold restore {shlex.quote(str(newest.path))}"
    when = newest.at[:16].replace("T", " ")
    return f"`{command}` puts back the newest backup (up to event {newest.seq}, {when} UTC)"
