from __future__ import annotations

import itertools
import re
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.follow import Followed, Source, follow
from pinfold.store.values import Caller
from tests.server.histories import Place, bodies, texts
from tests.server.transcript_samples import CLAUDE, CLAUDE_FORK, CODEX, CODEX_FORK
from tests.server.written import SESSION, Written, transcript

FORK = "01a22a15-2b0d-70d2-9aa6-6ea2a5951392"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("sample", [CLAUDE, CODEX])
def test_a_transcript_read_again_adds_nothing(place: Place, sample: Path) -> None:
    first = place.follow(sample)
    told = place.events()
    assert first.messages == len(bodies(told)) > 10
    assert place.follow(sample) == Followed()
    place.forget_marks()
    assert place.follow(sample) == Followed(repeated=first.messages)
    assert place.run("rebuild").exit_code == 0
    place.forget_marks()
    assert place.follow(sample) == Followed(repeated=first.messages)
    assert place.events() == told
    assert place.run("verify").exit_code == 0


def test_a_file_that_was_replaced_cut_or_moved_is_read_from_its_beginning(place: Place) -> None:
    talk = Written()
    lines = [talk.says(f"Message {number}.") for number in range(6)]
    path = transcript(place.folder, lines)
    place.follow(path)
    path.write_bytes(b"".join(lines[:2]) + talk.says("Written anew."))
    assert place.follow(path) == Followed(messages=1, repeated=2)
    path.write_bytes(Written(FORK).says("Another conversation.") + b"".join(lines))
    assert place.follow(path) == Followed(messages=1, repeated=6)
    moved = path.rename(path.with_name("moved.jsonl"))
    assert place.follow(moved, SESSION) == Followed(repeated=7)
    path.write_bytes(lines[5])
    assert place.follow(path) == Followed(repeated=1)
    assert texts(place.events()) == [
        *(f"Message {number}." for number in range(6)),
        "Written anew.",
        "Another conversation.",
    ]


def test_a_torn_last_line_is_read_once_it_is_whole(place: Place) -> None:
    talk = Written()
    whole, torn = talk.says("Whole."), talk.says("Torn.")
    path = transcript(place.folder, [whole, torn[:-20]])
    assert place.follow(path).messages == 1
    path.write_bytes(whole + torn.rstrip())
    assert place.follow(path).messages == 1
    path.write_bytes(whole + torn + b"\0" * 700)
    assert place.follow(path) == Followed()
    assert texts(place.events()) == ["Whole.", "Torn."]


def test_a_file_that_is_gone_has_nothing_new(place: Place) -> None:
    path = transcript(place.folder, [Written().says("Hi.")])
    found = found_at(path)
    assert found is not None
    path.unlink()
    with closing(place.store()) as store:
        assert follow(store, Source(found, Caller("claude-code", SESSION, "import"))) == Followed()


@pytest.mark.parametrize(("parent", "fork"), [(CLAUDE, CLAUDE_FORK), (CODEX, CODEX_FORK)])
def test_a_fork_adds_only_what_is_its_own(place: Place, tmp_path: Path, parent: Path, fork: Path) -> None:
    place.follow(parent)
    before = place.events()
    place.follow(fork)
    other = Place(tmp_path / "other way round")
    other.follow(fork)
    other.follow(parent)
    assert _told(place) == _told(other)
    assert place.events()[: len(before)] == before
    for each in (place, other):
        ids = [body["external_id"] for body in bodies(each.events())]
        assert len(ids) == len(set(ids))


def _told(place: Place) -> list[str]:
    """What was said, sorted, without the numbers of artifacts, which depend on the order."""
    return sorted(re.sub(r"\[A\d+ ", "[A ", text) for text in texts(place.events()))


def test_a_decision_that_a_fork_repeats_is_pinned_once_and_stays_superseded(place: Place) -> None:
    talk = Written()
    said = talk.says("DECISION: Use port 5004, because 3000 is taken.", "user")
    place.follow(transcript(place.folder, [said]))
    fork = transcript(place.folder, [said, Written(FORK).says("On.", "user")], FORK)
    assert place.follow(fork) == Followed(messages=1, repeated=1)
    again = [said, talk.says("DECISION: Use port 5004, because 3000 is taken.", "user")]
    assert place.follow(transcript(place.folder, again)) == Followed(messages=1)
    (pin,) = bodies(place.events(), "decision.pinned")
    assert (pin["text"], pin["kind"]) == ("Use port 5004, because 3000 is taken.", "decision")


def test_what_is_said_is_pinned_behind_its_message_by_who_said_it(place: Place) -> None:
    talk = Written()
    lines = [
        talk.says("DEAD END: Threads.\nWhy: they deadlock", "user"),
        talk.says("I keep it.\n\n**FACT:** The pool has 8 connections."),
        talk.runs("Bash", {"command": "cat notes"}, "DECISION: not said by anybody"),
    ]
    assert place.follow(transcript(place.folder, lines)).pins == 2
    order = [(event["kind"], event["actor"]) for event in place.events()[1:5]]
    assert order == [
        ("message.appended", "import"),
        ("decision.pinned", "user"),
        ("message.appended", "import"),
        ("decision.pinned", "agent"),
    ]


def test_a_resumed_reading_still_knows_how_large_the_window_was(place: Place, tmp_path: Path) -> None:
    """Before a compaction a hook reads to the end, so the token count stands before the place to go on from."""
    growing, content = tmp_path / CODEX.name, CODEX.read_bytes()
    growing.write_bytes(content[: content.index(b'"type":"compacted"')])
    place.follow(growing)
    shutil.copy(CODEX, growing)
    place.follow(growing)
    other = Place(tmp_path / "at once")
    other.follow(CODEX)
    assert bodies(place.events(), "fold.recorded") == bodies(other.events(), "fold.recorded")
    assert bodies(place.events(), "fold.recorded")[0]["tokens_before"] == 120_020


@pytest.mark.parametrize("kind", ["messages", "known messages", "lines that say nothing"])
def test_a_reading_whose_time_is_over_stops_whatever_the_lines_say(place: Place, kind: str) -> None:
    talk = Written()
    says_nothing = b'{"type":"api-request","body":"' + b"x" * 1_000 + b'"}\n'
    first = talk.says("Hi.", "user")
    rest = [talk.says(f"Message {number}.") if "messages" in kind else says_nothing for number in range(50)]
    path = transcript(place.folder, [first, *rest])
    if kind == "known messages":
        place.follow(path)
        place.forget_marks()
    found = found_at(path)
    assert found is not None
    source = Source(found, Caller("claude-code", SESSION, "import"))
    offsets = []
    with closing(place.store()) as store:
        for _ in range(3):
            follow(store, source, deadline=time.monotonic())
            mark = store.transcript_mark(str(path))
            offsets.append(mark.offset if mark else 0)
    sizes = [len(line) for line in (first, *rest[:2])]
    assert offsets == list(itertools.accumulate(sizes))
