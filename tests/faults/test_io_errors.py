"""Every call to the disk fails once, or from there on: errors say the truth, nothing is lost, and the store heals.

What fails: anything (EIO), writes that need room (ENOSPC, EDQUOT with half a write), all that changes files (EROFS).
Source: P1, P3, P4, P5, P11, P13.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pinfold.store.errors import DamagedError, PinfoldError, ReadOnlyError, UnknownOutcomeError
from pinfold.store.sqlite import connection, opening
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.glance import glance
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.contract.acts import ANNA
from tests.faults.layer.failing import BROKEN, FULL, OVER_QUOTA, READ_ONLY, UNSYNCED, Failing, Trouble
from tests.faults.layer.shim import shim
from tests.faults.past import log_after_a_kill, log_of
from tests.faults.workload import Act, life, lost, pinning, saying, searching, spilling

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600), pytest.mark.usefixtures("file_layer")]

TROUBLES: dict[str, tuple[Trouble, set[str]]] = {
    "broken": (BROKEN, {"unknown", "no_space", "read_only", "damaged"}),
    "full": (FULL, {"unknown", "no_space"}),
    "over a quota": (OVER_QUOTA, {"unknown", "no_space", "read_only"}),
    "read-only": (READ_ONLY, {"unknown", "no_space", "read_only"}),
}
"""Each with the codes that a call may fail with. Of what SQLite's index is refused, only a full disk keeps its name."""

READS_GO_ON = {"full", "over a quota"}
NOTHING_HAPPENED = {"no_space", "read_only", "damaged"}

SEARCH = searching("walrus")
ACTS = [pinning("first"), saying("said"), spilling("log", 3_000), SEARCH, pinning("last")]


@dataclass
class Tally:
    """What came of all runs."""

    injected: int = 0
    untouched: int = 0
    acknowledged: int = 0
    lost: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    resolved: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.injected} errors injected, {self.acknowledged} acknowledged, {self.lost} lost;"
            f" calls refused: {dict(self.refused)}; then acknowledged: {dict(self.resolved)}"
        )


@dataclass
class Client:
    """Asks for each act until it is acknowledged, and holds every refusal against what is on the disk."""

    place: Place
    name: str
    tally: Tally
    store: SqliteStore | None = None
    acknowledged: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)

    async def ask(self) -> None:
        """Ask for what is not acknowledged yet, each once; opens the store where it is not open."""
        try:
            self.store = self.store or await open_store(self.place.folder, "demo")
        except PinfoldError as error:
            self._refused("open", error)
            return
        for act in ACTS:
            if act.key not in self.acknowledged:
                await self._ask_for(self.store, act)

    async def _ask_for(self, store: SqliteStore, act: Act) -> None:
        try:
            self.acknowledged[act.key] = await act.run(store)
        except PinfoldError as error:
            self._refused(act.key, error)
            if self.name in READS_GO_ON:
                assert await store.pins(None, 9)
                assert act.key != SEARCH.key
        else:
            self.tally.resolved[self.told.pop(act.key, "at once")] += 1

    def _refused(self, key: str, error: PinfoldError) -> None:
        assert error.code in TROUBLES[self.name][1], error
        self.told[key] = error.code
        self.tally.refused[error.code] += 1
        if error.code == "unknown":
            self.unsure.add(key)
        elif key not in self.unsure:
            assert error.code in NOTHING_HAPPENED
            assert key not in log_after_a_kill(self.place, self.place.folder.parent).keys

    async def settle(self) -> None:
        """Ask for the rest of a disk that is well again, without a new start; after one, all is there."""
        self.told.pop("open", None)
        await self.ask()
        assert self.told == {}
        await self.leave()
        store = await open_store(self.place.folder, "demo")
        assert (await store.verify()).problems == ()
        self.tally.lost += len(await lost(store, ACTS, self.acknowledged))
        self.tally.acknowledged += len(self.acknowledged)
        await store.close()

    async def leave(self) -> None:
        """Close the store, whatever the disk does."""
        if self.store is not None:
            store, self.store = self.store, None
            await store.close()


@dataclass(frozen=True, slots=True)
class Fault:
    """One run: from the call of this number on there is trouble, or then only; the client leaves in it, or stays."""

    name: str
    first: int
    once: bool
    leaves: bool


async def _run(template: Path, folder: Path, fault: Fault, tally: Tally) -> int:
    """Live through a fault; return how many calls could have failed."""
    shutil.copytree(template, folder)
    failing = Failing(folder, TROUBLES[fault.name][0], fault.first, fault.once)
    client = Client(Place(folder), fault.name, tally)
    with shim().leading_to(failing):
        await client.ask()
        await client.ask()
        if fault.leaves:
            await client.leave()
        failing.healed = True
        await client.settle()
    shutil.rmtree(folder)
    tally.injected += len(failing.injected)
    tally.untouched += not failing.injected
    return failing.seen


async def _faults(template: Path, folder: Path, draw: random.Random) -> list[Fault]:
    """Every call can fail; whether once, and whether the client leaves meanwhile, is drawn."""
    found = []
    for name in TROUBLES:
        never = Fault(name, 10**9, once=False, leaves=False)
        stays = await _run(template, folder, never, Tally())
        leaves = await _run(template, folder, Fault(name, 10**9, once=False, leaves=True), Tally())
        for number in range(leaves):
            leaving = number >= stays or draw.random() < 0.2
            found.append(Fault(name, number, once=draw.random() < 0.5, leaves=leaving))
    return found


async def _template(folder: Path, monkeypatch: pytest.MonkeyPatch, *, has_wal: bool) -> Path:
    monkeypatch.setattr(opening, "can_carry_wal", lambda _: has_wal)
    monkeypatch.setattr(connection, "_SETTINGS", (*connection._SETTINGS, "PRAGMA wal_autocheckpoint = 40"))
    store = await open_store(folder, "demo")
    for act in life("before"):
        await act.run(store)
    await store.close()
    return folder


@pytest.mark.parametrize(
    ("has_wal", "number"),
    [
        pytest.param(True, 30, id="write-ahead log"),
        pytest.param(False, 20, id="rollback journal"),
        pytest.param(True, None, marks=pytest.mark.full, id="write-ahead log, all calls"),
        pytest.param(False, 150, marks=pytest.mark.full, id="rollback journal, more calls"),
    ],
)
async def test_whatever_call_to_the_disk_fails_errors_are_true_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None, *, has_wal: bool
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    draw = random.Random(seed)
    template = await _template(tmp_path / "template", monkeypatch, has_wal=has_wal)
    faults = await _faults(template, tmp_path / "one", draw)
    tally = Tally()
    chosen = faults if number is None else draw.sample(faults, number)
    for fault in chosen:
        await _run(template, tmp_path / "one", fault, tally)
    print(f"seed {seed}: {len(chosen)} of {len(faults)} calls failed, {tally}")
    assert tally.lost == 0
    assert tally.untouched == 0
    assert tally.acknowledged == len(chosen) * len(ACTS)
    assert {"unknown", "no_space"} & set(tally.resolved)


async def test_a_commit_whose_sync_fails_is_unknown_and_its_key_finds_what_became_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process would leave the write, a living one undoes it: only the log can tell."""
    place = Place(await _template(tmp_path / "store", monkeypatch, has_wal=True))
    failing = Failing(place.folder, UNSYNCED, first=10**9, once=True)
    with shim().leading_to(failing):
        store = await open_store(place.folder, "demo")
        await pinning("sure").run(store)  # the log ahead has begun, so that the next sync is that of a commit
        failing.first = failing.seen
        with pytest.raises(UnknownOutcomeError):
            await pinning("unsure").run(store)
        assert failing.injected == ["sync"]
        assert "unsure" in log_after_a_kill(place, tmp_path).keys
        receipt = await pinning("unsure").run(store)
        await store.close()
    assert str(log_of(place.database).keyed["unsure"]) == receipt


async def _open(folder: Path) -> None:
    await (await open_store(folder, "demo")).close()


async def _glance(folder: Path) -> None:
    glance(folder, ANNA)


@pytest.mark.parametrize("look", [_open, _glance])
async def test_a_disk_that_fails_at_any_call_of_opening_is_named_and_not_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[Path], Awaitable[None]]
) -> None:
    folder = await _template(tmp_path / "store", monkeypatch, has_wal=True)
    refused = 0
    for number in itertools.count():
        failing = Failing(folder, BROKEN, number, once=False)
        with shim().leading_to(failing), suppress(DamagedError, ReadOnlyError):
            await look(folder)
            if not failing.injected:
                break
            continue
        refused += 1
    assert refused > 15
