"""Tasks on one event loop that continue in any order, drawn by a seed, with some of them cancelled (P4, P6, F10)."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from pinfold.store import Store
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.faults.history import Diary
from tests.faults.leaks import PATIENCE_S, nothing_left
from tests.faults.noting import check, stored
from tests.faults.turns import ShuffledLoop

CROWDS = 10
TASKS = 5
WRITES = 3


@dataclass
class Crowd:
    """The tasks of one seed, half of them on one handle, half on another: each writes in order and reads between."""

    stores: list[Store]
    seed: int
    draw: random.Random
    diaries: list[Diary] = field(default_factory=list)
    scopes: list[anyio.CancelScope] = field(default_factory=list)
    cancelled: int = 0

    async def run(self) -> None:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as group:
                for number in range(TASKS):
                    self.diaries.append(Diary(f"{self.seed}-{number}"))
                    self.scopes.append(anyio.CancelScope())
                    group.start_soon(self._work, number)
                group.start_soon(self._cancel)
            for number in range(TASKS):
                await self._write(number, self.stores[0])

    async def _work(self, number: int) -> None:
        store = self.stores[number % 2]
        with self.scopes[number] as scope:
            await self._write(number, store)
        self.cancelled += scope.cancelled_caught

    async def _write(self, number: int, store: Store) -> None:
        """Write, all of it again after a cancel: what is there already is only acknowledged."""
        diary = self.diaries[number]
        for n in range(WRITES):
            key = f"{diary.worker}-{n}"
            note = diary.invoke("pin_decision", key, key)
            made = await pin(store, key, key=key)
            diary.ok(note, str(made.receipt))
            begun = time.monotonic_ns()
            diary.saw("pin_decision", begun, {each.text: each.text for each in await store.pins(None, 9_999)})

    async def _cancel(self) -> None:
        for scope in self.draw.sample(self.scopes, 2):
            for _ in range(self.draw.randrange(6)):
                await anyio.lowlevel.checkpoint()
            scope.cancel()


async def _crowds(folder: Path, seed: int) -> tuple[list[Diary], int]:
    """Let one crowd after another work on one store; return their notes and the number of cancels."""
    stores: list[Store] = [await open_store(folder, "shop") for _ in range(2)]
    diaries: list[Diary] = []
    cancelled = 0
    for each in range(seed, seed + CROWDS):
        ShuffledLoop.draw = random.Random(each)
        crowd = Crowd(stores, each, random.Random(each))
        await crowd.run()
        diaries += crowd.diaries
        cancelled += crowd.cancelled
    for store in stores:
        await store.close()
    return diaries, cancelled


def _orders(folder: Path) -> set[tuple[str, ...]]:
    """Return the orders in which the tasks of one handle first got to write; they began in that of their numbers."""
    first: dict[str, list[str]] = defaultdict(list)
    for event in stored(folder):
        crowd, task, _ = event.key.split("-")
        if int(task) % 2 == 0 and task not in first[crowd]:
            first[crowd].append(task)
    return {tuple(order) for order in first.values()}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("batches", [3, pytest.param(15, marks=pytest.mark.full)])
def test_in_whatever_order_tasks_continue_each_has_one_outcome_and_the_log_one_order(
    home: Path, batches: int
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    cancelled = 0
    orders: set[tuple[str, ...]] = set()
    for batch in range(batches):
        folder = home / str(batch)
        with nothing_left():
            diaries, stopped = anyio.run(
                _crowds, folder, seed + CROWDS * batch, backend_options={"loop_factory": ShuffledLoop}
            )
        figures = check(folder, diaries)
        assert len(stored(folder)) == CROWDS * TASKS * WRITES
        orders |= _orders(folder)
        cancelled += stopped
    print(
        f"{CROWDS * batches} crowds in {len(orders)} first orders, {cancelled} cancelled; the last batch: {figures}"
    )
    assert cancelled >= batches
    assert len(orders) > 2
