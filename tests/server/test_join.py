"""`pinfold copy --join`: a store is told to one that has a log of its own, each thing once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pinfold.store import Store
from pinfold.store.commands import Message, RecordFold, StartSession, TranscriptMark
from pinfold.store.errors import DamagedError
from pinfold.store.forgetting import Forget
from pinfold.store.results import Pin
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import ANNA, BEN, checkpoint, pin
from tests.server.copying import (
    FORK,
    LOG,
    NOISE,
    PERSON,
    another_log,
    at,
    bytes_of,
    copied,
    damage,
    every_kind,
    log_of,
    run,
)
from tests.server.test_copy import OTHERS, new_place


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a folder; no test changes it."""
    folder = tmp_path_factory.mktemp("past") / "store"
    at(folder, every_kind)
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One that a test may change."""
    at(tmp_path / "source", every_kind)
    return tmp_path / "source"


@pytest.fixture
def team(tmp_path: Path) -> str:
    at(tmp_path / "team", another_log)
    return str(tmp_path / "team")


@pytest.fixture(params=["sqlite", *OTHERS])
def place(
    request: pytest.FixtureRequest, team: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a store that holds another log."""
    if request.param == "sqlite":
        yield team
        return
    with new_place(request.param, Path(team), tmp_path_factory) as address:
        at(address, another_log)
        yield address


def join(source: str | Path, destination: str | Path) -> dict[str, Any]:
    """Join as a command and return what it says."""
    done = run(source, destination, "--join", "--no-verify", "--json")
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


async def _texts(store: Store) -> list[str]:
    bodies = [json.loads(event.body or "{}") for event in await log_of(store)]
    return [body["text"] for body in bodies if "role" in body]


async def _kinds(store: Store) -> Counter[str]:
    return Counter(event.kind for event in await log_of(store))


def test_everything_is_told_under_pointers_of_its_own(past: Path, place: str) -> None:
    before = at(place, _kinds)
    done = join(past, place)
    told = {"session": 3, "pin": 4, "artifact": 3, "message": 3, "checkpoint": 2, "fold": 1}
    assert (done["way"], done["told"]) == ("joined", told)
    new = at(place, _kinds) - before
    assert new == at(past, _kinds) - Counter(
        {"search.missed": 1, "entry.forgotten": 1, "decision.pinned": 1}  # that pin is the forgotten one
    )
    pointers = {
        f"{letter}{n}": f"{letter}{n + 1}"
        for letter, last in (("P", 4), ("A", 5), ("C", 2), ("s", 3))
        for n in range(1, last + 1)
    }
    assert done["pointers"] == pointers | {"F1": "F1"}
    assert at(place, lambda store: store.verify()).problems == ()
    assert at(place, lambda store: store.stale_views()) == ()


def test_what_names_another_thing_names_it_by_its_new_pointer(past: Path, place: str) -> None:
    join(past, place)
    pin = at(place, lambda store: store.pin(3)).pin
    assert (pin.text, pin.supersedes, pin.files) == ("Retries use half jitter", (2,), ("src/retry.py",))
    fold = at(place, lambda store: store.fold(1))
    asked = next(event.seq for event in at(place, log_of) if "getUserById slow" in (event.body or ""))
    assert (fold.lost, fold.present) == ({3: ("half jitter",)}, {3: 2})
    assert fold.offered == ((f"H{asked}", "why is getUserById slow?"),)
    assert fold.strings == (("db-7.internal", "A2"),)
    assert fold.summary == 6
    assert "it asks db-7 twice\n[A5 answer]" in at(place, _texts)
    state = at(place, lambda store: store.brief_state(FORK))
    assert state.checkpoint is not None
    assert (state.checkpoint.number, state.session) == (3, 4)


def test_bytes_times_and_who_it_was_are_as_they_were(past: Path, place: str) -> None:
    done = join(past, place)
    here, there = at(past, bytes_of), at(place, bytes_of)
    assert {done["pointers"][f"A{number}"]: content for number, content in here.items()} == {
        f"A{number}": content for number, content in there.items() if number > 1
    }
    assert {LOG, NOISE} <= set(there.values())
    pins = {pin.text: (pin.at, pin.actor, pin.kind, pin.session_only) for pin in at(past, _pins)}
    assert (
        pins.items()
        <= {pin.text: (pin.at, pin.actor, pin.kind, pin.session_only) for pin in at(place, _pins)}.items()
    )
    said = [event for event in at(place, log_of) if event.kind == "message.appended"]
    assert json.loads(said[0].body or "")["at"] == "2026-03-01T10:00:00Z"


async def _pins(store: Store) -> tuple[Pin, ...]:
    return await store.pins(None, 99)


def test_joined_twice_is_joined_once(past: Path, place: str) -> None:
    first = join(past, place)
    log = at(place, log_of)
    again = join(past, place)
    assert at(place, log_of) == log
    assert again["pointers"] == first["pointers"]
    assert sum(again["told"].values()) == 0
    assert again["repeated"] == first["told"]


def test_what_has_come_since_is_joined_behind_it(source: Path, team: str) -> None:
    join(source, team)
    at(source, lambda store: pin(store, "Decided since", supersedes=(2,)))
    done = join(source, team)
    assert done["told"] == {"message": 0, "pin": 1}
    assert at(team, lambda store: store.pin(6)).pin.supersedes == (3,)


def test_what_both_began_with_is_not_told_again(source: Path, tmp_path: Path) -> None:
    team = str(tmp_path / "team")
    copied(source, team)
    same = at(source, log_of)
    at(team, lambda store: pin(store, "Said by the team", BEN))
    at(source, lambda store: pin(store, "Said alone", supersedes=(2,)))
    at(source, lambda store: store.append_messages(ANNA, [Message("user", "and now?")]))
    done = join(source, team)
    assert done["destination"] == {"events_before": len(same) + 1, "same_events": len(same)}
    assert done["told"] == {"pin": 1, "message": 1}
    assert done["pointers"] == {"P6": "P7"}
    assert at(team, lambda store: store.pin(7)).pin.supersedes == (2,)


def test_what_was_forgotten_there_is_not_brought_back(past: Path, team: str) -> None:
    join(past, team)
    pointers = (Pointer(PointerKind.PIN, 3), Pointer(PointerKind.ARTIFACT, 3))
    at(team, lambda store: store.forget(Forget(PERSON, pointers=pointers)))
    log = at(team, log_of)
    done = join(past, team)
    assert at(team, log_of) == log
    assert [remark for remark in done["remarks"] if remark.startswith(("P2 ", "A2 "))] == [
        "P2 was forgotten in the destination, and stays so.",
        "A2 was forgotten in the destination, and stays so.",
    ]


def test_what_is_forgotten_here_after_it_was_joined_is_said_to_be_there_still(
    source: Path, team: str
) -> None:
    assert join(source, team)["remarks"] == []
    at(source, lambda store: store.forget(Forget(PERSON, pointers=(Pointer(PointerKind.PIN, 2),))))
    remarks = join(source, team)["remarks"]
    assert [remark for remark in remarks if "forget it there as well" in remark] == remarks


def test_a_pin_that_was_replaced_there_meanwhile_stays_replaced(source: Path, team: str) -> None:
    join(source, team)
    at(team, lambda store: pin(store, "Replaced by the team", BEN, supersedes=(3,)))
    at(source, lambda store: pin(store, "Replaced alone", supersedes=(2,)))
    done = join(source, team)
    assert done["remarks"][-1].startswith("P7 replaces no other pin there")
    assert at(team, lambda store: store.pin(3)).pin.superseded_by == 6
    log = at(team, log_of)
    join(source, team)
    assert at(team, log_of) == log


def test_a_message_that_the_team_has_from_the_transcript_itself_comes_once(past: Path, team: str) -> None:
    mark = TranscriptMark("/transcripts/anna.jsonl", ANNA.client, ANNA.conversation, 9, "head")
    read = [
        Message("user", "why is getUserById slow?", "m1"),
        Message("assistant", "it asks db-7 twice", "m2"),
    ]
    at(team, lambda store: store.append_messages(ANNA, read, mark))
    done = join(past, team)
    assert (done["told"]["message"], done["repeated"]["message"]) == (1, 2)
    assert len(at(team, _texts)) == 3


def test_a_pin_that_stands_there_already_is_that_pin(past: Path, team: str) -> None:
    at(team, lambda store: pin(store, "Said in the fork", BEN))
    done = join(past, team)
    assert done["pointers"]["P4"] == "P2"
    assert [each.text for each in at(team, _pins)].count("Said in the fork") == 1


async def _forks(store: Store) -> None:
    """Fork a conversation without a state, and another one at a message."""
    await checkpoint(store, goal="a goal")
    await checkpoint(store, Caller("codex", "bare"), fork_of=1)
    await store.append_messages(Caller("codex", "bare"), [Message("user", "said in the fork", "b1")])
    seq = (await store.append_messages(ANNA, [Message("user", "here", "a1")])).last_seq
    await store.start_session(StartSession(Caller("harness", "branch"), fork_at=seq))
    await checkpoint(store, fork_of=1)
    await store.append_messages(ANNA, [Message("user", "behind a fork of her own", "a2")])


def test_a_session_that_goes_on_from_another_one_does_so_there(tmp_path: Path, team: str) -> None:
    at(tmp_path / "source", _forks)
    done = join(tmp_path / "source", team)
    assert done["told"] == {"session": 4, "checkpoint": 1, "message": 3}
    log = at(team, log_of)
    begun = {
        json.loads(event.body or "")["conversation"]: event
        for event in log
        if event.kind == "session.started"
    }
    by_seq = {event.seq: json.loads(event.body or "") for event in log}
    assert by_seq[begun["bare"].parent]["goal"] == "a goal"
    assert by_seq[begun["branch"].parent]["text"] == "here"
    assert (
        next(event.session for event in log if "said in the fork" in (event.body or ""))
        == begun["bare"].session
    )
    join(tmp_path / "source", team)
    assert at(team, log_of) == log


def test_a_fold_that_a_hook_told_and_the_transcript_later_is_one_there(tmp_path: Path, team: str) -> None:
    async def folded(store: Store) -> None:
        await store.record_fold(RecordFold(ANNA, "hook-1", "auto", live=True, tokens_before=9))
        await store.record_fold(RecordFold(ANNA, "uuid-1", "manual", tokens_before=164_000))

    at(tmp_path / "source", folded)
    assert join(tmp_path / "source", team)["told"] == {"session": 1, "fold": 1, "message": 0}
    fold = at(team, lambda store: store.fold(1))
    assert (fold.trigger, fold.tokens_before) == ("manual", 164_000)
    again = at(team, lambda store: store.record_fold(RecordFold(ANNA, "uuid-1", "manual")))
    assert (again.repeated, again.fold.number) == (True, 1)


def test_a_dry_run_says_what_would_be_told_and_tells_nothing(past: Path, team: str) -> None:
    log = at(team, log_of)
    done = run(past, team, "--join", "--dry-run")
    assert done.exit_code == 0, done.output
    told = "3 sessions, 4 pins, 5 artifacts, 3 messages, 2 checkpoints, 1 fold"
    assert done.stdout.splitlines()[-1] == f"would be joined\t{told}"
    assert at(team, log_of) == log


def test_damaged_bytes_end_the_join_with_what_to_do(source: Path, team: str) -> None:
    damage(source, "UPDATE chunk SET packed = x'00' WHERE content = 2 AND start = 0")
    with pytest.raises(DamagedError, match=r"A2 of the source .* what stands before it is joined"):
        copied(source, team, join=True)
    assert at(team, lambda store: store.verify()).problems == ()
