"""The power is cut at every moment: what was acknowledged is there, nothing is half, and the store goes on.

A whole life of a real store is recorded call by call; every cut is played on a disk that loses, keeps or tears what was
not synced, and the real store opens what is left. Source: P1, P2, P3, P17.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pinfold.store.errors import PinfoldError
from pinfold.store.sqlite import connection, opening, pen
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.faults.layer.recording import Acknowledged, Asked, Recording
from tests.faults.layer.replay import Chosen, Cut, about, acknowledged_only, cuts, everywhere
from tests.faults.past import Log, log_of
from tests.faults.workload import Act, caring, life, lost, pinning
from tests.store.old_stores import lay_out

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600), pytest.mark.usefixtures("file_layer")]

A_FEW = 12
"""How many cuts of each life the quick tier makes."""

OFTEN = ("PRAGMA wal_autocheckpoint = 40",)
"""So that checkpoints come in the midst of a short life, too, and the log ahead is begun anew."""


@dataclass(frozen=True, slots=True)
class Life:
    """What is recorded: in which journal mode, what lies there before, which sittings follow each other."""

    has_wal: bool
    sittings: tuple[tuple[Act, ...], ...]
    before: Callable[[Place], Awaitable[None]]


async def _nothing(_: Place) -> None:
    pass


async def _written(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    for act in life("before"):
        await act.run(store)
    await store.close()


async def _of_schema_1(place: Place) -> None:
    lay_out(place, 1)


BEGINNING = (tuple(life("one")), tuple(life("two")))
CARE = ((pinning("first"), *caring(), pinning("last")),)
LIVES = {
    "a new store": Life(True, BEGINNING, _nothing),
    "a new store without write-ahead log": Life(False, BEGINNING, _nothing),
    "an upgrade": Life(True, ((pinning("first"),),), _of_schema_1),
    "a rebuild and a scrub": Life(True, CARE, _written),
    "a rebuild and a scrub without write-ahead log": Life(False, CARE, _written),
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A life as it was lived on a real disk, and the log that lay there before."""

    life: Life
    before: Log
    recording: Recording


async def _record(place: Place, life: Life, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """Live the life; every sitting opens the store and closes it."""
    with monkeypatch.context() as patch:
        patch.setattr(opening, "can_carry_wal", lambda _: life.has_wal)
        await life.before(place)
        before = log_of(place.database)
        patch.setattr(connection, "_SETTINGS", (*connection._SETTINGS, *OFTEN))
        recording = Recording(place.folder)
        with recording.running():
            for sitting in life.sittings:
                await _sit(place, sitting, recording)
    return Recorded(life, before, recording)


async def _sit(place: Place, sitting: Sequence[Act], recording: Recording) -> None:
    """Do some acts and mark each."""
    store = await open_store(place.folder, "demo")
    for act in sitting:
        recording.mark(Asked(act.key))
        receipt = await act.run(store)
        if not act.is_note:
            recording.mark(Acknowledged(act.key, receipt))
    await store.close()


@dataclass
class Tally:
    """What came of all cuts of one recording."""

    cuts: int = 0
    losses: int = 0
    acknowledged: int = 0
    lost: int = 0
    unusable: int = 0

    def __str__(self) -> str:
        return (
            f"{self.cuts} cuts, {self.losses} of them lost bytes on the disk; {self.acknowledged} acknowledged,"
            f" {self.lost} lost; {self.unusable} stores unusable"
        )


async def _check(place: Place, cut: Cut, acts: Sequence[Act], before: Log) -> int:
    """Use what is left as a store; return how many acknowledged acts are missing."""
    store = await open_store(place.folder, "demo")
    try:
        report = await store.verify(receipts=before.receipts)
        assert report.problems == ()
        missing = await lost(store, acts, cut.acknowledged)
        await pin(store, "the light is on again", key="after")
    finally:
        await store.close()
    assert log_of(place.database).keys <= before.keys | cut.asked | {"after"}
    return len(missing)


async def _play(recorded: Recorded, folder: Path, seed: int, chosen: Chosen) -> Tally:
    """Cut at the chosen steps and use what is left each time."""
    acts = [act for sitting in recorded.life.sittings for act in sitting]
    tally = Tally()
    for cut in cuts(recorded.recording, random.Random(seed), chosen):
        cut.lay_out(folder)
        tally.cuts += 1
        tally.losses += cut.is_a_loss
        tally.acknowledged += len(cut.acknowledged)
        try:
            tally.lost += await _check(Place(folder), cut, acts, recorded.before)
        except PinfoldError as error:
            tally.unusable += 1
            print(f"cut {tally.cuts}: {error}")
        shutil.rmtree(folder)
    print(f"seed {seed}: {len(recorded.recording.steps)} steps, {tally}")
    return tally


@pytest.mark.parametrize("number", [A_FEW, pytest.param(None, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", LIVES)
async def test_what_was_acknowledged_outlasts_a_power_cut_at_any_moment(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, number: int | None
) -> None:
    recorded = await _record(place, LIVES[name], monkeypatch)
    seed = random.SystemRandom().randrange(10**6)
    chosen = everywhere if number is None else about(number, recorded.recording, random.Random(seed))
    tally = await _play(recorded, place.folder.with_name("found"), seed, chosen)
    assert tally.losses > 0
    assert tally.acknowledged > 0
    assert (tally.lost, tally.unusable) == (0, 0)


@pytest.mark.parametrize(
    ("name", "durably"),
    [
        ("a new store", "PRAGMA synchronous = NORMAL"),
        ("a new store without write-ahead log", "PRAGMA synchronous = FULL"),
    ],
)
async def test_the_same_cuts_lose_something_where_a_commit_does_not_wait_for_the_disk(
    place: Place, monkeypatch: pytest.MonkeyPatch, name: str, durably: str
) -> None:
    """Otherwise the test above would show nothing."""
    monkeypatch.setattr(pen, "DURABLY", durably)
    recorded = await _record(place, LIVES[name], monkeypatch)
    tally = await _play(recorded, place.folder.with_name("found"), 7, acknowledged_only)
    assert tally.lost > 0
