"""However a transcript grows, and however often it is read meanwhile, the log comes out the same."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinfold.server.transcripts.lines import Lines
from tests.server.histories import Event, Place, bodies
from tests.server.transcript_samples import CLAUDE, CLAUDE_FORK, CODEX, CODEX_SCRIPTS, format_of

CUTS = st.lists(st.floats(0, 1), max_size=6).map(sorted)


@pytest.mark.parametrize(
    "sample", [CLAUDE, CLAUDE_FORK, CODEX, CODEX_SCRIPTS], ids=lambda path: path.stem[:12]
)
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(cuts=CUTS, forgets=st.booleans())
def test_any_cutting_of_its_growth_gives_the_log_of_one_reading(
    sample: Path, cuts: list[float], *, forgets: bool
) -> None:
    content = sample.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        path = place.folder / sample.name
        for cut in (*cuts, 1.0):
            path.write_bytes(content[: int(cut * len(content))])
            place.follow(path)
            if forgets and place.database.exists():
                place.forget_marks()
        assert place.events() == _at_once(sample)


@pytest.mark.parametrize("sample", [CLAUDE, CODEX], ids=lambda path: path.stem[:12])
def test_a_reading_that_ends_while_a_line_waits_for_a_later_one_changes_nothing(
    sample: Path, tmp_path: Path
) -> None:
    content = sample.read_bytes()
    stops = _waiting(sample)
    assert len(stops) >= 5
    for stop in stops[::3]:
        place = Place(tmp_path / str(stop))
        path = place.folder / sample.name
        for end in (stop, len(content)):
            path.write_bytes(content[:end])
            place.follow(path)
        assert place.events() == _at_once(sample)


def _waiting(sample: Path) -> list[int]:
    """Return where those lines end behind which a call waits for its result, or a compaction for its summary."""
    form = format_of(sample)
    stops = []
    for line in Lines(sample):
        form.items(line.content)
        if form.is_open:
            stops.append(line.stop)
    return stops


@cache
def _at_once(sample: Path) -> list[Event]:
    """Return the log of one reading of a copy, which has no sub-agents' transcripts beside it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        path = place.folder / sample.name
        path.write_bytes(sample.read_bytes())
        place.follow(path)
        return place.events()


def test_the_samples_hold_what_could_come_out_otherwise() -> None:
    folds = [len(bodies(_at_once(sample), "fold.recorded")) for sample in (CLAUDE, CLAUDE_FORK, CODEX)]
    pins = [len(bodies(_at_once(sample), "decision.pinned")) for sample in (CLAUDE, CODEX)]
    pictures = [len(bodies(_at_once(sample), "artifact.spilled")) for sample in (CLAUDE, CODEX)]
    assert (folds, pins) == ([2, 1, 1], [1, 1])
    assert min(pictures) >= 2
