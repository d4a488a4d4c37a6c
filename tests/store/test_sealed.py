"""A store in a place that cannot be written: it is read all the same, and says why nothing is written."""

from __future__ import annotations

from pathlib import Path

import anyio

from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.store.children import child, ended, line_of, tell
from tests.store.test_failures import private_mounts

SEALED = """
import subprocess, sys
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision, SearchHistory
from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite.glance import glance
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

folder = sys.argv[1]
subprocess.run(["mount", "--bind", folder, folder], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
me = Caller("test", "me")

async def look():
    store = await open_store(Path(folder), "demo")
    print(*[each.text for each in await store.pins(None, 9)], sep="; ")
    print(len((await store.search_history(SearchHistory(me, "uuid7"))).hits))
    print((await store.status()).read_only)
    try:
        await store.pin_decision(PinDecision(me, "use serials", ""))
    except ReadOnlyError as error:
        print(error)
    await store.close()

print(*[each.text for each in glance(Path(folder), me)[0].pins], sep="; ")
anyio.run(look)
"""

WRITING = """
import sys
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

async def write():
    store = await open_store(Path(sys.argv[1]), "demo")
    await store.pin_decision(PinDecision(Caller("test", "other"), "use ulids", ""))
    print("written", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.readline)
    await store.close()

anyio.run(write)
"""


async def _made(folder: Path) -> None:
    store = await open_store(folder, "demo")
    await pin(store, "use uuid7")
    await store.close()


def _seen(folder: Path) -> list[str]:
    looked = ended(SEALED, folder, before=private_mounts())
    assert looked.returncode == 0, looked.stderr
    return looked.stdout.splitlines()


def test_a_store_that_was_closed_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    anyio.run(_made, folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert _seen(folder) == [
        "use uuid7",
        "use uuid7",
        "1",
        f"{folder} cannot be written",
        f"The store is read-only: {folder} cannot be written; nothing was written. Reads still work.",
    ]
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_what_another_process_wrote_a_moment_ago_is_read_there_too(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    anyio.run(_made, folder)
    with child(WRITING, folder) as writer:
        assert line_of(writer) == "written"
        assert (folder / "log.db-wal").stat().st_size > 0
        assert _seen(folder)[:2] == ["use uuid7; use ulids", "use ulids; use uuid7"]
        tell(writer)


SEALED_MEANWHILE = """
import os, sys, tempfile
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

ME = Caller("test", "me")
ANYBODY = 65534

async def live(folder):
    store = await open_store(folder / "store", "demo")
    first = await store.pin_decision(PinDecision(ME, "use uuid7", ""))
    os.chmod(folder / "store" / "log.db", 0o400)
    for _ in range(2):
        try:
            await store.pin_decision(PinDecision(ME, "use ulids", "", key="one"))
        except ReadOnlyError as error:
            print(error)
    print(*[each.text for each in await store.pins(None, 9)], sep="; ")
    os.chmod(folder / "store" / "log.db", 0o600)
    print((await store.pin_decision(PinDecision(ME, "use ulids", "", key="one"))).receipt.seq - first.receipt.seq)
    await store.close()

async def import_all(folder):
    store = await open_store(folder / "store", "demo")
    await store.pin_decision(PinDecision(ME, "use uuid7", ""))
    print(len(await store.pins(None, 9)))
    await store.close()

with tempfile.TemporaryDirectory() as other:
    anyio.run(import_all, Path(other))
with tempfile.TemporaryDirectory() as made:
    if os.getuid() == 0:  # whom no mode keeps from writing
        os.chown(made, ANYBODY, ANYBODY)
        os.setuid(ANYBODY)
    anyio.run(live, Path(made))
"""


def test_a_store_that_is_sealed_while_open_says_so_before_it_writes_and_heals_without_a_new_start() -> None:
    """SQLite, whose files are open, would notice at the commit at the earliest, when nobody knows what became of it."""
    outcome = ended(SEALED_MEANWHILE)
    lines = outcome.stdout.splitlines()
    assert (outcome.returncode, len(lines)) == (0, 5), outcome.stderr
    assert lines[1].endswith("cannot be written; nothing was written. Reads still work.")
    assert lines[2:] == [lines[1], "use uuid7", "1"]
