"""Two machines on one log: what has the same name on both is two things, and each finds its own again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfold.server.clients import in_shell
from pinfold.store.commands import Message, PinDecision, StartSession, TranscriptMark
from pinfold.store.remote.address import read_address
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.remote.machine import machine_name
from pinfold.store.values import Caller
from tests.http.serving import Served


@pytest.fixture
def machines(team: Served, tmp_path: Path) -> Iterator[tuple[RemoteSyncStore, RemoteSyncStore]]:
    token = team.token(tmp_path.name, tmp_path.name)
    address = read_address(f"http://127.0.0.1:{team.port}/p/{tmp_path.name}", token)
    here, there = (open_remote_direct(address, name) for name in ("here", "there"))
    yield here, there
    here.close()
    there.close()


def session_of(store: RemoteSyncStore, caller: Caller) -> int | None:
    session: int | None = store.brief_state(caller).session
    return session


def test_processes_of_one_number_are_in_the_conversations_of_their_own_machines(
    machines: tuple[RemoteSyncStore, RemoteSyncStore],
) -> None:
    for store, conversation in zip(machines, ("anna", "ben"), strict=True):
        store.start_session(StartSession(Caller("claude-code", conversation), run="4711"))
    asked = Caller("claude-code", "process-of-a-server", runs=("4711",))
    assert [session_of(store, asked) for store in machines] == [1, 2]


def test_transcripts_at_one_path_are_read_each_for_itself(
    machines: tuple[RemoteSyncStore, RemoteSyncStore],
) -> None:
    here, there = machines
    path, caller = "/root/notes.jsonl", Caller("claude-code", "anna")
    mark = TranscriptMark(path, "claude-code", "anna", 40, "head")
    here.append_messages(caller, [Message("user", "hello", external_id="u1")], mark)
    assert (here.transcript_mark(path), there.transcript_mark(path)) == (mark, None)
    assert (here.transcripts(caller), there.transcripts(caller)) == ((mark,), ())


def test_people_at_two_machines_have_a_session_each(
    machines: tuple[RemoteSyncStore, RemoteSyncStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    for store, text in zip(machines, ("rule 1", "rule 2"), strict=True):
        store.pin_decision(PinDecision(in_shell(), text, "said"))
    assert [session_of(store, in_shell()) for store in machines] == [1, 2]


def test_a_client_that_goes_on_at_another_machine_is_in_the_same_session(
    machines: tuple[RemoteSyncStore, RemoteSyncStore],
) -> None:
    for store in machines:
        store.start_session(StartSession(Caller("claude-code", "anna"), run="anna"))
    assert [session_of(store, Caller("claude-code", "anna")) for store in machines] == [1, 1]


def test_a_machine_keeps_its_name_and_shares_it_with_no_other(tmp_path: Path) -> None:
    name = machine_name(tmp_path / "a")
    assert machine_name(tmp_path / "a") == name
    assert machine_name(tmp_path / "b") != name
    assert (tmp_path / "a" / "machine").stat().st_mode & 0o077 == 0
