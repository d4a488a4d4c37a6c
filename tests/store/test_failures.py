"""The driver's errors as callers learn them: by table, and from a disk that really is full or read-only."""

from __future__ import annotations

import errno
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pinfold.store.errors import (
    BusyError,
    DamagedError,
    InvalidInputError,
    NoSpaceError,
    PinfoldError,
    ReadOnlyError,
    UnknownOutcomeError,
)
from pinfold.store.sqlite.failures import refuse_place, translate
from tests.store.children import ended

MEANING: dict[str, type[PinfoldError]] = {
    "SQLITE_BUSY": BusyError,
    "SQLITE_BUSY_SNAPSHOT": BusyError,
    "SQLITE_LOCKED": BusyError,
    "SQLITE_PROTOCOL": BusyError,
    "SQLITE_FULL": NoSpaceError,
    "SQLITE_IOERR_WRITE": NoSpaceError,
    "SQLITE_IOERR_SHMSIZE": NoSpaceError,
    "SQLITE_IOERR_READ": DamagedError,
    "SQLITE_IOERR_SHORT_READ": DamagedError,
    "SQLITE_CORRUPT": DamagedError,
    "SQLITE_NOTADB": DamagedError,
    "SQLITE_READONLY": ReadOnlyError,
    "SQLITE_CANTOPEN": ReadOnlyError,
    "SQLITE_IOERR_LOCK": ReadOnlyError,
    "SQLITE_INTERRUPT": InvalidInputError,
}
AT_COMMIT = MEANING | {
    "SQLITE_FULL": UnknownOutcomeError,
    "SQLITE_IOERR_WRITE": UnknownOutcomeError,
    "SQLITE_IOERR_SHMSIZE": UnknownOutcomeError,
    "SQLITE_IOERR_READ": UnknownOutcomeError,
    "SQLITE_IOERR_SHORT_READ": UnknownOutcomeError,
    "SQLITE_IOERR_LOCK": UnknownOutcomeError,
    "SQLITE_IOERR_FSYNC": UnknownOutcomeError,
}


def _error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("of the driver")
    error.sqlite_errorname = name
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


@pytest.mark.parametrize("name", MEANING)
def test_an_error_before_commit_says_that_nothing_happened(name: str) -> None:
    with pytest.raises(MEANING[name]) as told:
        translate(_error(name), "/place")
    assert type(told.value) is MEANING[name]
    assert isinstance(told.value.__cause__, sqlite3.Error)


@pytest.mark.parametrize("name", AT_COMMIT)
def test_an_input_output_error_at_commit_says_that_the_outcome_is_unknown(name: str) -> None:
    with pytest.raises(AT_COMMIT[name]) as told:
        translate(_error(name), "/place", committing=True)
    assert type(told.value) is AT_COMMIT[name]


NEXT_STEPS = {
    "SQLITE_FULL": "No space left in /place; nothing was written. Free some space and try again; reads still work.",
    "SQLITE_IOERR_WRITE": "/place takes no more bytes (SQLITE_IOERR_WRITE: full, over a limit, or failing);"
    " nothing was written. Free some space and try again; reads still work.",
    "SQLITE_READONLY": "The store is read-only: /place cannot be written; nothing was written. Reads still work.",
    "SQLITE_CANTOPEN": "The store is read-only: its files in /place cannot be opened; nothing was written."
    " Look at that disk and folder, then try again.",
    "SQLITE_IOERR_LOCK": "The store is read-only: the disk under /place fails (SQLITE_IOERR_LOCK);"
    " nothing was written. Look at that disk and folder, then try again.",
}


@pytest.mark.parametrize("name", NEXT_STEPS)
def test_an_error_of_the_disk_promises_reads_only_where_they_go_on(name: str) -> None:
    with pytest.raises(PinfoldError) as told:
        translate(_error(name), "/place")
    assert str(told.value) == NEXT_STEPS[name]


def test_an_error_that_only_a_bug_can_cause_is_raised_as_it_is() -> None:
    with pytest.raises(sqlite3.OperationalError, match="of the driver"):
        translate(_error("SQLITE_ERROR"), "/place")


def test_the_systems_refusals_are_told_apart() -> None:
    for number, meaning in ((errno.ENOSPC, NoSpaceError), (errno.EROFS, ReadOnlyError)):
        with pytest.raises(meaning):
            refuse_place(OSError(number, "refused"), "/place")


FILLING = """
import json, resource, subprocess, sys
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.errors import PinfoldError
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

CALLER = Caller("test", "full")
TEXT = "x" * 1_900

async def pin(store, n):
    made = await store.pin_decision(PinDecision(CALLER, f"{n} {TEXT}", "measured", key=f"k{n}"))
    return str(made.receipt), made.pin.number

async def main(folder, shrink, grow):
    store = await open_store(Path(folder), "demo")
    kept = [await pin(store, 0)]
    shrink()
    codes = []
    for n in range(1, 2_000):
        try:
            kept.append(await pin(store, n))
        except PinfoldError as error:
            codes.append(error.code)
            if len(codes) == 3:
                break
    told = {"kept": len(kept), "codes": codes, "read": len((await store.pins(None, 5_000)))}
    grow()
    again = await pin(store, n)
    report = await store.verify()
    live = {pin.number for pin in await store.pins(None, 5_000)}
    told |= {"healed": again[1] in live, "lost": len([1 for _, p in kept if p not in live])}
    told |= {"problems": report.problems, "events": report.events}
    await store.close()
    print(json.dumps(told))
"""

LIMITED = (
    FILLING
    + """
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

anyio.run(main, sys.argv[1], lambda: limit(600_000), lambda: limit(resource.RLIM_INFINITY))
"""
)

MOUNTED = (
    FILLING
    + """
def mount(*options):
    subprocess.run(["mount", *options, sys.argv[1]], check=True)

mount("-t", "tmpfs", "-o", "size=1m", "tmpfs")
anyio.run(main, sys.argv[1] + "/store", lambda: None, lambda: mount("-o", "remount,size=16m"))
"""
)

SEALED = """
import subprocess, sys
from pathlib import Path
import anyio
from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite.store import open_store

folder = sys.argv[1]
subprocess.run(["mount", "--bind", folder, folder], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
try:
    anyio.run(open_store, Path(folder), "demo")
except ReadOnlyError as error:
    print(error)
"""


def private_mounts() -> tuple[str, ...]:
    """Return what gives a process mounts of its own; skips where that is not allowed."""
    command = ("unshare", "--mount")
    try:
        allowed = ended("import subprocess; subprocess.run(['mount', '--version'])", before=command)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if allowed.returncode != 0:
        pytest.skip("mounts of one's own need root")
    return command


def _check(told: dict[str, Any]) -> None:
    assert set(told["codes"]) <= {"no_space", "unknown"}
    assert len(told["codes"]) == 3
    assert told["kept"] > 3
    assert told["read"] >= told["kept"]
    assert (told["lost"], told["healed"], told["problems"]) == (0, True, [])


def test_a_file_size_limit_loses_nothing_and_heals_when_it_is_lifted(tmp_path: Path) -> None:
    outcome = ended(LIMITED, tmp_path / "store")
    assert outcome.returncode == 0, outcome.stderr
    _check(json.loads(outcome.stdout))


def test_a_full_disk_loses_nothing_and_heals_when_there_is_room(tmp_path: Path) -> None:
    outcome = ended(MOUNTED, tmp_path, before=private_mounts())
    assert outcome.returncode == 0, outcome.stderr
    _check(json.loads(outcome.stdout))


def test_a_read_only_place_is_named_with_the_next_step(tmp_path: Path) -> None:
    outcome = ended(SEALED, tmp_path, before=private_mounts())
    assert "The store is read-only" in outcome.stdout, outcome.stderr
    assert "PINFOLD_HOME" in outcome.stdout
