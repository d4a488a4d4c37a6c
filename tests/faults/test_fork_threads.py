"""A store that is used where it does not belong: in a forked child, in another event loop, behind a closed one (F11).

Each is a process of its own, which is killed when it hangs. What it prints is what it was told.
"""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.store.children import ended

BEGINNING = """
import os, sys, threading
from contextlib import contextmanager
from pathlib import Path
import anyio
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

FOLDER, CALLER = Path(sys.argv[1]), Caller("test", "here")

def decision(text):
    return PinDecision(CALLER, text, "measured")

@contextmanager
def telling():
    try:
        yield
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    else:
        print("done", flush=True)
"""

IN_A_CHILD = """
async def use(act):
    with telling():
        await act()

def in_a_child(*acts):
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        return
    try:
        for act in acts:
            anyio.run(use, act)
    finally:
        sys.stdout.flush()
        os._exit(0)
"""

FORKED = """
async def main():
    store = await open_store(FOLDER, "demo")
    await store.pin_decision(decision("before"))
    in_a_child(
        lambda: store.pin_decision(decision("in the child")),
        lambda: store.pins(None, 9),
        store.close,
    )
    await store.pin_decision(decision("behind it"))
    print(len(await store.pins(None, 9)))
    await store.close()

anyio.run(main)
"""

FORKED_DIRECT = """
async def awaited(act):
    act()

store = open_direct(FOLDER, "demo")
store.pin_decision(decision("before"))
with store._gate.hold():
    in_a_child(
        lambda: awaited(lambda: store.pin_decision(decision("in the child"))),
        lambda: awaited(lambda: store.brief_state(CALLER)),
        lambda: awaited(store.close),
    )
    with telling():
        with type(store._gate)(FOLDER / "log.lock", 0.1).hold():
            pass
store.pin_decision(decision("behind it"))
print(len(store.brief_state(CALLER).pins))
store.close()
"""

FORKED_AND_ENDED = """
store = open_direct(FOLDER, "demo")
store.pin_decision(decision("before"))
child = os.fork()
if child == 0:
    sys.exit()  # lets go of all that it has, as any script does at its end
print(os.waitpid(child, 0)[1])
store.pin_decision(decision("behind it"))
other = open_direct(FOLDER, "demo")
print(len(other.brief_state(CALLER).pins))
other.close()
store.close()
"""

ON_ANOTHER_LOOP = """
kept = []

async def use():
    with telling():
        await kept[0].pin_decision(decision("elsewhere"))
    with telling():
        await kept[0].pins(None, 9)

async def main():
    kept.append(await open_store(FOLDER, "demo"))
    await kept[0].pin_decision(decision("here"))
    await anyio.to_thread.run_sync(anyio.run, use)
    print(len(await kept[0].pins(None, 9)))
    await kept[0].close()

anyio.run(main)
"""

BEHIND_A_CLOSED_LOOP = """
import asyncio

threading.excepthook = lambda _: None  # the driver's thread cannot tell anybody
store, begun, go_on = None, threading.Event(), threading.Event()

def slow(tx):
    begun.set()
    assert go_on.wait(20)
    return tx.append

async def main():
    global store
    store = await open_store(FOLDER, "demo")
    await store.pin_decision(decision("before"))
    asyncio.ensure_future(store._writer.write(slow))
    for n in range(3):
        asyncio.ensure_future(store.pin_decision(decision(f"queued {n}")))
    assert await asyncio.to_thread(begun.wait, 20)

loop = asyncio.new_event_loop()
loop.run_until_complete(main())
for task in asyncio.all_tasks(loop):
    task.cancel()
    task.add_done_callback(lambda task: task.cancelled())
loop.run_until_complete(asyncio.sleep(0))
loop.run_until_complete(asyncio.sleep(0))
loop.close()
go_on.set()

async def late():
    for act in (lambda: store.pin_decision(decision("late")), lambda: store.pins(None, 9), store.close):
        with telling():
            await act()
    fresh = await open_store(FOLDER, "demo", 10)
    await fresh.pin_decision(decision("afresh"))
    print(fresh._writer._lane is not None)
    await fresh.close()

anyio.run(late)
"""

A_CHILD = "RuntimeError: This store was opened in process {}: after a fork, open it anew."
A_LOOP = "RuntimeError: This store was opened on another event loop: open it anew on this one."

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def _told(script: str, folder: Path) -> list[str]:
    outcome = ended(BEGINNING + script, folder)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.splitlines()


async def _texts(folder: Path) -> list[str]:
    store = await open_store(folder, "demo", 0.5)
    await pin(store, "later")
    report = await store.verify()
    found = [each.text for each in await store.pins(None, 9)]
    await store.close()
    assert report.problems == ()
    return found


def _same_process(lines: list[str]) -> list[str]:
    return [" ".join("{}:" if word[:-1].isdigit() else word for word in line.split()) for line in lines]


@forks
def test_a_forked_child_is_told_to_open_its_own_and_its_parent_goes_on(tmp_path: Path) -> None:
    told = _told(IN_A_CHILD + FORKED, tmp_path / "store")
    assert _same_process(told) == [A_CHILD, A_CHILD, "done", "2"]
    assert anyio.run(_texts, tmp_path / "store") == ["later", "behind it", "before"]


@forks
def test_a_forked_child_neither_shares_its_parents_lock_nor_lets_go_of_it(tmp_path: Path) -> None:
    told = _told(IN_A_CHILD + FORKED_DIRECT, tmp_path / "store")
    assert _same_process(told[:3]) == [A_CHILD, A_CHILD, "done"]
    assert told[3].startswith("BusyError: The store was busy")
    assert told[4] == "2"
    assert anyio.run(_texts, tmp_path / "store") == ["later", "behind it", "before"]


@forks
def test_a_forked_child_that_ends_takes_nothing_of_its_parents_along(tmp_path: Path) -> None:
    assert _told(FORKED_AND_ENDED, tmp_path / "store") == ["0", "2"]
    assert anyio.run(_texts, tmp_path / "store") == ["later", "behind it", "before"]


def test_another_event_loop_is_told_to_open_its_own_and_the_first_goes_on(tmp_path: Path) -> None:
    assert _told(ON_ANOTHER_LOOP, tmp_path / "store") == [A_LOOP, A_LOOP, "1"]
    assert anyio.run(_texts, tmp_path / "store") == ["later", "here"]


def test_a_loop_that_is_closed_over_queued_writes_leaves_no_hang_and_no_half_write(tmp_path: Path) -> None:
    told = _told(BEHIND_A_CLOSED_LOOP, tmp_path / "store")
    assert told == [A_LOOP, A_LOOP, A_LOOP, "True"]
    assert anyio.run(_texts, tmp_path / "store") == ["later", "afresh", "before"]
