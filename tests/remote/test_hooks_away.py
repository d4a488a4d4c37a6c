"""Hooks whose store is on a team's server: the same as on this machine, and with the server out of reach as well."""

from __future__ import annotations

import socket
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import Served
from tests.http.test_callers import _checkpoint
from tests.remote.away import Away, Way, ask, entries, pins
from tests.server.hooking import assistant, boundary, summary_line, user

LONG = "\n".join(f"{number} lines of a log that goes on" for number in range(4_000))
DOWN = "is out of reach"
START_S = 3.0
"""How long a process may take to start on a busy machine."""


def prompt(away: Away, text: str) -> str:
    return away.event("user-prompt-submit", prompt=text)


def bash(output: str) -> dict[str, Any]:
    return {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
    }


def test_a_whole_session_is_kept_by_the_server_and_nothing_on_this_machine(
    away: Away, server: Served, token: str
) -> None:
    away.write(user("u1", "why is it slow?"), assistant("a1", "the pool holds 12 connections"))
    assert away.hook("session-start", source="startup")
    assert "pinned from the prompt: P1" in away.hook(
        "user-prompt-submit", prompt="DECISION: the pool holds 12 because 40 exhausted pgbouncer"
    )
    note = away.replaced(**bash(LONG))["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert "A1" in note
    away.write(boundary("b1"), summary_line("s1", "they talked"))
    assert "the pool holds 12" in away.hook("pre-compact", trigger="auto")
    assert "the pool holds 12" in away.hook("session-start", source="compact")
    assert [pin.text for pin in pins(server, token)] == ["the pool holds 12 because 40 exhausted pgbouncer"]
    assert [entry.text for entry in entries(server, token)][:2] == [
        "why is it slow?",
        "the pool holds 12 connections",
    ]
    kept = ask(server, token, lambda store: store.artifact_bytes(1, 0, 1 << 24))
    assert kept.content.decode() == LONG
    folds = ask(server, token, lambda store: store.folds(None, 5))
    assert [fold.trigger for fold in folds] == ["auto"]
    assert not (away.home / "projects").exists()
    assert away.waiting() == []


def test_calls_over_http_that_name_no_conversation_are_in_the_one_that_hooks_of_their_token_began(
    away: Away, server: Served, token: str
) -> None:
    away.hook("session-start", source="startup")
    started = ask(server, token, lambda store: store.brief_state(away.caller))
    called = _checkpoint(server, token, "smaller blocks", **{"User-Agent": "claude-code/2.1.332"})
    assert called == started.session


def test_what_hooks_could_not_write_is_written_once_when_the_server_is_back(
    away: Away, way: Way, server: Served, token: str
) -> None:
    away.hook("session-start", source="startup")
    way.is_open = False
    away.write(user("u1", "why is it slow?"))
    assert DOWN in prompt(away, "DECISION: use port 7463 because 80 is taken")
    assert DOWN in away.event("post-tool-use", **bash(LONG))
    assert DOWN in away.event("stop")
    assert DOWN in away.event("stop")
    assert away.waiting() == ["pin_decision", "spill_artifact", "transcript"]
    assert pins(server, token) == []
    way.is_open = True
    assert "use port 7463" in away.hook("session-start", source="resume")
    assert away.waiting() == []
    assert [pin.text for pin in pins(server, token)] == ["use port 7463 because 80 is taken"]
    assert [entry.text for entry in entries(server, token)] == ["why is it slow?"]
    kept = ask(server, token, lambda store: store.artifact_bytes(1, 0, 1 << 24))
    assert kept.content.decode() == LONG


@pytest.mark.full
@pytest.mark.parametrize("is_silent", [True, False])
def test_each_event_ends_in_time_with_one_line_whatever_keeps_the_server_from_answering(
    away: Away, *, is_silent: bool
) -> None:
    away.piped = True
    away.write(user("u1", "why is it slow?"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        away.port = silent.getsockname()[1]
        if not is_silent:
            silent.close()
        for event, fields in EVENTS.items():
            taken, said = timed(away, event, 500, fields)
            assert said.startswith("pinfold hook: The team's server at "), event
            assert taken < 0.5 + START_S, event


@pytest.mark.full
def test_an_event_waits_three_seconds_for_a_silent_server_and_no_longer(away: Away) -> None:
    away.piped = True
    away.write(user("u1", "why is it slow?"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        away.port = silent.getsockname()[1]
        taken, said = timed(away, "stop", 3_000, {})
    assert "no answer in time" in said
    assert 3.0 <= taken < 3.0 + START_S


def test_a_server_that_answers_byte_by_byte_is_waited_for_no_longer(away: Away) -> None:
    away.write(user("u1", "why is it slow?"))
    with socket.create_server(("127.0.0.1", 0)) as slow:
        threading.Thread(target=dripping, args=(slow,), daemon=True).start()
        away.port = slow.getsockname()[1]
        taken, said = timed(away, "stop", 700, {})
    assert "no answer in time" in said
    assert 0.7 <= taken < 0.7 + START_S


def dripping(slow: socket.socket) -> None:
    """Answer with a header that has no end, a byte now and then."""
    with suppress(OSError):
        here, _ = slow.accept()
        with here:
            for _ in range(100):
                here.sendall(b"H")
                time.sleep(0.1)


def timed(away: Away, event: str, limit_ms: int, fields: dict[str, Any]) -> tuple[float, str]:
    began = time.monotonic()
    said = away.event(event, limit_ms=limit_ms, **fields)
    return time.monotonic() - began, said


EVENTS: dict[str, dict[str, Any]] = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "DECISION: use port 7463 because 80 is taken"},
    "post-tool-use": bash(LONG),
    "pre-compact": {"trigger": "auto"},
    "post-compact": {"trigger": "auto", "compact_summary": "they talked"},
    "subagent-stop": {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "it is slow"},
    "stop": {},
    "session-end": {"reason": "exit"},
}


def test_a_session_that_starts_without_the_server_is_given_the_last_brief_and_told_of_when(
    away: Away, way: Way
) -> None:
    away.hook("user-prompt-submit", prompt="DECISION: use port 7463 because 80 is taken")
    brief = away.hook("session-start", source="startup")
    way.is_open = False
    assert away.event("session-start", source="compact").count(DOWN) == 1, (
        "what several steps met is said once"
    )
    first, _, rest = away.said.partition("\n")
    assert first.startswith("pinfold: the team's server is out of reach. Its brief as of 20")
    assert rest == brief


def test_a_brief_that_cannot_be_kept_for_later_is_shown_all_the_same(away: Away) -> None:
    brief = away.hook("session-start", source="startup")
    (kept,) = away.home.rglob("last-brief")
    kept.unlink()
    kept.mkdir()  # so that no file can be put there
    assert "directory" in away.event("session-start", source="compact")
    assert away.said == brief


def test_nothing_that_waits_holds_a_secret_or_is_open_to_others(away: Away, way: Way) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    away.hook("session-start", source="startup")
    way.is_open = False
    prompt(away, f"DECISION: the token is {secret} because it has to be")
    away.event("post-tool-use", **bash(f"{LONG}\n{secret}"))
    away.event("session-start", source="startup", model=secret)
    assert away.waiting() == ["pin_decision", "spill_artifact", "start_session"]
    for path in (away.home, *away.home.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path
    way.is_open = True
    away.hook("session-start", source="resume")


def test_a_hook_with_a_token_that_is_not_taken_says_what_to_do_and_keeps_what_it_has(
    away: Away, server: Served, token: str
) -> None:
    away.token = "wrong"
    said = prompt(away, "DECISION: use port 7463 because 80 is taken")
    assert "it knows no such token" in said
    assert "PINFOLD_TOKEN" in said
    assert away.waiting() == ["pin_decision"]
    away.token = token
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert [pin.text for pin in pins(server, token)] == ["use port 7463 because 80 is taken"]


def test_a_hook_away_from_its_server_leaves_no_store_on_this_machine(away: Away, way: Way) -> None:
    way.is_open = False
    prompt(away, "DECISION: use port 7463 because 80 is taken")
    assert not Path(away.home / "projects").exists()


def test_a_token_that_may_only_read_has_the_brief_and_leaves_nothing_to_wait(
    away: Away, server: Served, token: str
) -> None:
    prompt(away, "DECISION: the pool holds 12")
    away.token = server.token("eve", "app", may_write=False)
    away.write(user("u1", "why is it slow?"), assistant("a1", "the pool is small"))
    told = away.event("session-start", source="startup")
    assert "the pool holds 12" in away.said
    assert told.count("this token may only read") == 1
    for event, fields in (
        ("user-prompt-submit", {"prompt": "DECISION: eve decides"}),
        ("post-tool-use", bash(LONG)),
        ("pre-compact", {"trigger": "auto"}),
        ("stop", {}),
    ):
        assert "this token may only read" in away.event(event, **fields)
    assert away.waiting() == []
    assert [pin.text for pin in pins(server, token)] == ["the pool holds 12"]


def test_a_token_that_may_write_after_all_sends_what_was_kept_with_the_server_out_of_reach(
    away: Away, way: Way, server: Served, token: str
) -> None:
    away.token = server.token("eve", "app", may_write=False)
    away.event("session-start", source="startup")
    way.is_open = False
    assert DOWN in prompt(away, "DECISION: the pool holds 12")
    way.is_open, away.token = True, token
    away.hook("session-start", source="startup")
    assert [pin.text for pin in pins(server, token)] == ["the pool holds 12"]


def test_a_server_that_cannot_write_now_still_gives_the_brief(away: Away, server: Served, token: str) -> None:
    prompt(away, "DECISION: the pool holds 12")
    with closing(sqlite3.connect(server.home / "projects" / "app" / "log.db", timeout=30)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute("PRAGMA user_version = 99")
        told = away.event("session-start", source="startup")
        assert "a newer pinfold wrote it" in told
        assert "the pool holds 12" in away.said
        assert "out of reach" not in away.said
        assert away.waiting() == ["start_session"]
        db.execute(f"PRAGMA user_version = {version}")
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert away.waiting() == []
