"""A copy and a join that are killed at any moment and done again: all of it is there, nothing twice. P1, P4, P43."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.forgetting import Forget
from pinfold.store.values import Pointer, PointerKind
from tests.contract.acts import pin
from tests.faults.dying import killed_at, some_of, steps_of
from tests.server.copying import PERSON, another_log, at, bytes_of, copied, every_kind, log_of


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `source`, `other` with another log, and `copy` of a source that has forgotten something since."""
    folder = tmp_path_factory.mktemp("stores") / "stores"
    at(folder / "source", every_kind)
    at(folder / "other", another_log)
    copied(folder / "source", folder / "copy")
    gone = Forget(PERSON, pointers=(Pointer(PointerKind.PIN, 2), Pointer(PointerKind.ARTIFACT, 2)))
    at(folder / "source", lambda store: store.forget(gone))
    at(folder / "source", lambda store: pin(store, "decided since"))
    return folder


_ENOUGH = 5
"""So many kills that one of them falls into the midst, wherever they are drawn."""

several = pytest.mark.parametrize("kills", [2, pytest.param(9, marks=pytest.mark.full)])


def _killed(act: str, stores: Path, worlds: Path, kills: int) -> dict[int, Path]:
    steps = steps_of(act, stores, worlds)
    assert steps > 50
    return killed_at(act, stores, worlds, some_of(steps, kills, seed=kills))


def _is_whole(store: Path) -> bool:
    return at(store, lambda opened: opened.verify()).problems == ()


@several
def test_a_copy_that_is_killed_is_whole_once_it_is_done_again(
    stores: Path, tmp_path: Path, kills: int
) -> None:
    (stores / "copy").rename(tmp_path / "grown")
    try:
        worlds = _killed("copy", stores, tmp_path / "worlds", kills)
    finally:
        (tmp_path / "grown").rename(stores / "copy")
    log, content = at(stores / "source", log_of), at(stores / "source", bytes_of)
    reached = Counter[int]()
    for world in worlds.values():
        if (world / "copy").exists():
            reached[len(at(world / "copy", log_of))] += 1
        copied(world / "source", world / "copy")
        assert at(world / "copy", log_of) == log
        assert at(world / "copy", bytes_of) == content
        assert _is_whole(world / "copy")
    assert kills < _ENOUGH or any(0 < events < len(log) for events in reached), reached


@pytest.mark.full
def test_a_copy_that_forgets_and_is_killed_forgets_all_of_it(stores: Path, tmp_path: Path) -> None:
    worlds = _killed("copy", stores, tmp_path, kills=9)
    log = at(stores / "source", log_of)
    for world in worlds.values():
        copied(world / "source", world / "copy")
        assert at(world / "copy", log_of) == log
        assert _is_whole(world / "copy")


async def _told(store: Store) -> Counter[str]:
    return Counter(event.kind for event in await log_of(store))


@several
def test_a_join_that_is_killed_has_each_thing_once_when_it_is_done_again(
    stores: Path, tmp_path: Path, kills: int
) -> None:
    worlds = _killed("join", stores, tmp_path, kills)
    whole = at(tmp_path / "whole" / "other", _told)
    before = at(stores / "other", _told)
    reached = Counter[int]()
    for world in worlds.values():
        reached[at(world / "other", _told).total()] += 1
        copied(world / "source", world / "other", join=True)
        assert at(world / "other", _told) == whole
        assert _is_whole(world / "other")
    assert kills < _ENOUGH or any(before.total() < events < whole.total() for events in reached), reached
