"""Compactions read from transcripts, first told by a hook or not."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.folds import record
from pinfold.server.transcripts.follow import Source, follow
from pinfold.server.transcripts.items import Compacted
from pinfold.server.transcripts.keeping import Keeper
from pinfold.store.commands import RecordFold, TranscriptMark
from pinfold.store.results import RecordedFold
from pinfold.store.sqlite.direct import DirectStore
from pinfold.store.values import Caller
from tests.server.histories import Place, bodies
from tests.server.transcript_samples import CLAUDE, CODEX
from tests.server.written import SESSION, Written, transcript

SUMMARY = "We reviewed the walrus cache."


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def shown_folds(place: Place) -> list[dict[str, object]]:
    folds: list[dict[str, object]] = json.loads(place.run("folds", "--json").stdout)["folds"]
    return folds


def test_folds_have_the_clients_own_figures(place: Place) -> None:
    place.follow(CLAUDE)
    place.follow(CODEX)
    figures = [
        (body["number"], body["trigger"], body["tokens_before"], body["tokens_after"])
        for body in bodies(place.events(), "fold.recorded")
    ]
    assert figures == [
        (1, "auto", 120_022, 2_892),
        (2, "manual", 1_020, 2_784),
        (3, "unknown", 120_020, 6_099),
    ]


def test_a_summary_is_found_once_as_its_fold(place: Place) -> None:
    talk = Written()
    lines = [talk.says("The pool has 8 connections.", "user"), talk.compacts(SUMMARY)]
    place.follow(transcript(place.folder, lines))
    hits = json.loads(place.run("search", "walrus cache", "--json").stdout)["hits"]
    assert [hit["pointer"] for hit in hits] == ["F1"]


def test_a_fold_of_long_ago_is_not_blamed_for_what_was_pinned_since(place: Place) -> None:
    other, talk = Written("01b33b25-2b0d-70d2-9aa6-6ea2a5951392"), Written()
    pinned = [other.says("DECISION: It listens on port 5004.", "user", timestamp="2026-03-15T09:00:00Z")]
    place.follow(transcript(place.folder, pinned, other.session))
    place.follow(transcript(place.folder, [talk.says("Is port 5004 free?", "user"), talk.compacts(SUMMARY)]))
    (fold,) = bodies(place.events(), "fold.recorded")
    assert (fold["present"], fold["lost"]) == ({}, {})


@pytest.mark.parametrize("later", [False, True], ids=["before the file", "after more was said"])
def test_a_fold_told_by_a_hook_and_then_read_is_one(place: Place, *, later: bool) -> None:
    talk = Written()
    said, compacted, after = talk.says("Use port 5004.", "user"), talk.compacts(SUMMARY), talk.says("On.")
    path = transcript(place.folder, [said])
    place.follow(path)
    told(place)
    path.write_bytes(said + (after if later else b"") + compacted)
    place.follow(path)
    first, amended = bodies(place.events(), "fold.recorded")
    assert (first["live"], first["tokens_before"], amended["amends"]) == (True, None, True)
    (fold,) = shown_folds(place)
    assert (fold["tokens_before"], fold["tokens_after"]) == (164_000, 12_000)
    place.forget_marks()
    assert place.follow(path).folds == 0
    path.write_bytes(path.read_bytes() + talk.compacts("The second one.", 99_000))
    assert place.follow(path).folds == 1
    assert [fold["tokens_before"] for fold in shown_folds(place)] == [99_000, 164_000]


def told(place: Place) -> None:
    with closing(place.store()) as store:
        keeper = Keeper(Caller("claude-code", SESSION, "hook"), store.redactor)
        compacted = Compacted(f"told:{SESSION}:1", "auto", SUMMARY)
        assert record(store, keeper, compacted, briefed=True, told_by_hook=True)


def test_a_client_without_figures_leaves_estimates_and_amends_nothing_by_them(place: Place) -> None:
    talk = Written()
    said, compacted = talk.says("Use port 5004. " * 400, "user"), talk.compacts(SUMMARY, 0, 0)
    path = transcript(place.folder, [said, compacted, talk.says("On.")])
    place.follow(path)
    (fold,) = bodies(place.events(), "fold.recorded")
    assert (fold["tokens_before"], fold["tokens_after"]) == (1_500, 8)
    told(place)
    path.write_bytes(path.read_bytes() + talk.compacts(SUMMARY, 0, 0))
    place.follow(path)
    assert shown_folds(place)[0]["tokens_before"] is None


class Interrupted(DirectStore):
    """A store whose caller is stopped just before a fold is written down."""

    def record_fold(self, command: RecordFold, mark: TranscriptMark | None = None) -> RecordedFold:
        raise KeyboardInterrupt


def test_a_reading_that_is_stopped_at_a_fold_records_it_the_next_time(place: Place, tmp_path: Path) -> None:
    talk = Written()
    lines = [talk.says("Use port 5004.", "user"), talk.compacts(SUMMARY), talk.says("On.")]
    path = transcript(place.folder, lines)
    found = found_at(path)
    assert found is not None
    with closing(place.store()) as store:
        store.__class__ = Interrupted
        with pytest.raises(KeyboardInterrupt):
            follow(store, Source(found, Caller("claude-code", SESSION, "import")))
    assert len(place.events()) == 2
    place.follow(path)
    alone = Place(tmp_path / "alone")
    alone.follow(path)
    assert place.events() == alone.events()
    assert len(bodies(place.events(), "fold.recorded")) == 1
