"""SessionStart: whatever begins, goes on or was folded, the agent is given what is kept, and the session is known."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from pinfold.store.commands import Message
from pinfold.store.values import PinKind
from tests.server.hooking import Client, assistant, user
from tests.server.peer import META, Answer, Peer, call, running, text_of
from tests.server.repositories import git, make_repository

SERVE = ["sh", "-c", '"$@"; :', "sh", sys.executable, "-m", "pinfold", "serve"]
"""A shell stands between the client and its server, as a launcher does."""
POOL = "The pool of `db-main` holds 8 connections"


def test_every_start_is_given_the_same_bytes_as_long_as_nothing_is_pinned(either: Client) -> None:
    either.pin(POOL, why="at 9 the proxy refuses")
    first = either.hook("session-start", source="startup")
    assert f"P1 decision  {POOL}  Why: at 9 the proxy refuses\n" in first
    either.ask(lambda store: store.append_messages(either.caller, [Message("user", "How is it going?")]))
    for source in ("resume", "clear", "compact", "fork"):
        assert either.hook("session-start", source=source) == first
    assert [mark.path for mark in either.ask(lambda store: store.transcripts(either.caller))] == [
        str(either.transcript)
    ]


def test_a_start_reads_what_was_said_since_and_pins_it_once(claude: Client) -> None:
    claude.write(user("u1", "Which port?"), assistant("a1", "DECISION: port 4317, because 4318 is taken"))
    assert "port 4317" in claude.hook("session-start", source="resume")
    assert [(pin.text, pin.why, pin.actor) for pin in claude.pins()] == [
        ("port 4317, because 4318 is taken", "4318 is taken", "agent")
    ]
    assert [entry.text for entry in claude.entries()] == [
        "Which port?",
        "DECISION: port 4317, because 4318 is taken",
    ]
    claude.hook("session-start", source="resume")
    assert (len(claude.pins()), len(claude.entries())) == (1, 2)


def test_a_brief_stays_below_what_claude_code_shows(claude: Client) -> None:
    fill(claude, "All of it is kept in `part_{}` 🎉 " + "and so on " * 20)
    said = claude.hook("session-start")
    assert len(said) <= 7_500
    assert len(said.encode("utf-16-le")) // 2 < 10_000
    assert "part_99" in said


def test_a_brief_stays_below_what_codex_shows_in_any_script(codex: Client) -> None:
    fill(codex, "Всё это хранится в `part_{}` " + "и так далее " * 20)
    said = codex.hook("session-start")
    assert 7_500 < len(said.encode()) < 9_900
    assert "part_99" in said


def fill(client: Client, text: str) -> None:
    client.pin(*(text.format(number) for number in range(100)), kind=PinKind.CONSTRAINT, tokens=60)


def test_a_repository_that_moved_since_the_checkpoint_is_noted(claude: Client) -> None:
    claude.project.rmdir()
    make_repository(claude.project)
    claude.hook("session-start")
    head = git(claude.project, "rev-parse", "HEAD")
    caller = replace(claude.caller, head=head, branch="main")
    claude.save("Ship timeouts", caller)
    assert "has moved" not in claude.hook("session-start", source="resume")
    git(claude.project, "switch", "--quiet", "--create", "other")
    git(claude.project, "commit", "--quiet", "--allow-empty", "--message=second")
    now = git(claude.project, "rev-parse", "HEAD")
    assert claude.hook("session-start", source="resume").endswith(
        f'The repository has moved since C1: it was at "main" {head[:12]}, it is at "other" {now[:12]}.\n'
    )


def test_a_full_brief_and_its_note_keep_within_what_a_client_shows(claude: Client) -> None:
    claude.project.rmdir()
    make_repository(claude.project)
    claude.save("Ship", replace(claude.caller, head="0" * 40, branch="main"))
    claude.pin(*(f"{number} internationalization".ljust(100, "x") for number in range(100)), tokens=9)
    said = claude.hook("session-start", source="resume")
    assert "has moved since C1" in said
    assert 7_000 < len(said) <= 7_500


def test_two_conversations_in_one_checkout_do_not_mix(tmp_path: Path, piped: bool) -> None:
    anna, bert = (Client(tmp_path, session=name, piped=piped) for name in ("anna", "bert"))
    for client in (anna, bert):
        client.hook("session-start")
        client.pin(f"only {client.session} tries the fast path", session_only=True)
        client.save(f"what {client.session} is about")
        client.hook("post-compact", trigger="auto", compact_summary=f"<summary>{client.session}</summary>")
    for client, other in ((anna, bert), (bert, anna)):
        said = client.hook("session-start", source="resume")
        assert f"only {client.session} tries" in said
        assert f"what {client.session} is about" in said
        assert other.session not in said
    folds = {fold.session: fold.number for fold in anna.folds()}
    assert len(folds) == 2


def in_claude(server: Peer, request: Answer) -> str:
    request["params"]["_meta"] = META | {
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.332"}
    }
    return text_of(server.ask(request))


def test_a_server_follows_its_clients_process_into_the_next_conversation(claude: Client) -> None:
    """Claude Code tells a server one session id: after --continue one that is never used, after /clear the old one."""
    claude.session = "continued"
    claude.hook("session-start", source="resume")
    told = claude.environment(CLAUDE_CODE_SESSION_ID="thrown-away")
    with running(SERVE, **{name: told[name] for name in told if name != "CLAUDE_PID"}) as server:
        in_claude(server, call(1, "pin_decision", text="try A first", why="asked", session_only=True))
        assert "try A first" in claude.hook("session-start", source="compact")
        claude.hook("session-end", reason="clear")
        claude.session = "cleared"
        assert "try A first" not in claude.hook("session-start", source="clear")
        in_claude(server, call(2, "pin_decision", text="try B first", why="asked", session_only=True))
    assert "try B first" in claude.hook("session-start", source="compact")
    claude.session = "continued"
    assert "try B first" not in claude.hook("session-start", source="resume")
