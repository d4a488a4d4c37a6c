"""A backup: one snapshot, copied, opened and verified as a whole, and only then given its name. Source: P30."""

from __future__ import annotations

from contextlib import closing, nullcontext, suppress
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import DamagedError, InvalidInputError, ReadOnlyError
from pinfold.store.private_files import sync_folder
from pinfold.store.sqlite.backups import Backup, backups_in, looking, name_of, now
from pinfold.store.sqlite.connection import (
    SCHEMA_VERSION,
    Place,
    check_header,
    check_identity,
    connect,
    refuse,
)
from pinfold.store.sqlite.copying import (
    State,
    copy_into,
    first_half,
    second_half,
    snapshot,
    state_of,
    unfinished,
)
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.opening import looks_made, open_gate
from pinfold.store.sqlite.verifying import verify, verify_kept

UNREADABLE = "its pages cannot be read"


def back_up(place: Place, target: Path | None = None, progress: Progress | None = None) -> Backup:
    """Back up the store as it is now: every event acknowledged before the call is in it.

    `target` is a folder, or a file that does not exist yet (default: the store's own `backups/`). Others read and write
    meanwhile; without a write-ahead log they wait while pages are copied.
    Raises `DamagedError` for a store that does not verify, of which no backup is made, `NoSpaceError`,
    `ReadOnlyError`, `InvalidInputError`, `BusyError`.
    """
    if not check_store(place):
        with closing(open_gate(place, WAIT_S)) as gate:
            return back_up_checked(place, target, progress, gate)
    return back_up_checked(place, target, progress)


def check_store(place: Place) -> bool:
    """Return whether the store has a write-ahead log.

    Raises `DamagedError` unless there is a database of ours to read, `ReadOnlyError` for a newer pinfold's.
    """
    if not looks_made(place) and not (place.database.exists() and place.database.stat().st_size):
        refuse(place, "its database is missing or empty")
    check_header(place)
    with closing(connect(place.database, read_only=True)) as db:
        newer = check_identity(db, place)
        if newer is not None:
            raise ReadOnlyError(newer)
        return bool(db.execute("PRAGMA journal_mode").fetchone()[0] == "wal")


def back_up_checked(
    place: Place, target: Path | None = None, progress: Progress | None = None, gate: Gate | None = None
) -> Backup:
    """Back up a store that passed `check_store`; `gate`, where given, is held while its pages are copied."""
    folder, name = _split(place, target)
    with unfinished(folder) as part:
        with nullcontext() if gate is None else gate.hold():
            state = _copy(place, part, progress)
        problem = problem_of(part, state, second_half(progress))
        if problem:
            raise _damaged(place, problem)
        at = now()
        path = folder / (name or name_of(state.schema, state.seq, at))
        _refuse_existing(path)
        part.rename(path)
        sync_folder(folder)
    return Backup(path, state.schema, state.seq, at, path.stat().st_size)


def standing(place: Place) -> Backup | None:
    """Return a backup, among the store's own, of the state that it is in now, if there is one."""
    state = _state_at(place.database)
    for backup in backups_in(place.backups):
        with suppress(DamagedError):  # one that was damaged since is none
            if (backup.schema, backup.seq) == (state.schema, state.seq) and _state_at(backup.path) == state:
                return backup
    return None


def _state_at(database: Path) -> State:
    with snapshot(database) as db:
        return state_of(db)


def _split(place: Place, target: Path | None) -> tuple[Path, str | None]:
    """Return the folder of a backup, and its name where a person gave one."""
    if target is None or target.is_dir():
        return target or place.backups, None
    _refuse_existing(target)
    if not target.parent.is_dir():
        raise InvalidInputError(f"There is no folder {target.parent}.", "Make it first.")
    return target.parent, target.name


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise InvalidInputError(
            f"{path} is there already.", "A backup replaces nothing: choose another name."
        )


def _copy(place: Place, part: Path, progress: Progress | None) -> State:
    try:
        with snapshot(place.database) as source:
            state = state_of(source)
            copy_into(source, part, first_half(progress))
            return state
    except DamagedError as error:
        raise _damaged(place, UNREADABLE) from error


def problem_of(copy: Path, state: State, progress: Progress | None = None) -> str:
    """Return why a copy cannot be called a backup of what was in that state, empty if it can.

    Of the present schema all is checked; of an older one all that cannot be derived anew: whoever opens it, a process
    that a client waits for, has to wait as well. Source: P15, P30.
    """
    check = verify if state.schema == SCHEMA_VERSION else verify_kept
    report = check(copy, progress)
    if report.ok and report.tip != state.tip:
        return "its copy ends with another event"
    more = len(report.problems) - 1
    return "".join(report.problems[:1]) + (f", and {more} more" if more > 0 else "")


def _damaged(place: Place, problem: str) -> DamagedError:
    hint = f"No backup was made. {looking(place.backups)}"
    return DamagedError(f"The store in {place.folder} ({problem})", hint)
