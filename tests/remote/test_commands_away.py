"""Commands and the stdio server whose store is on a team's server: unchanged, and clear where it cannot be so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import anyio
import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from pinfold.store.sqlite.store import open_store
from tests.http.serving import Served
from tests.remote.away import Away, Way, ask, entries, pinfold, pins
from tests.server.hooking import assistant, boundary, summary_line, user
from tests.server.peer import PATIENCE_S, call, serving, text_of
from tests.ui.served import serving as pages_of
from tests.warm.server import nothing


def said(away: Away, *arguments: str) -> str:
    result = pinfold(away, *arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def told(away: Away) -> Away:
    """A client whose past is on the server: a pin, a conversation with a compaction."""
    away.write(
        user("u1", "DECISION: the pool holds 12 because 40 exhausted pgbouncer"),
        assistant("a1", "the relay stalls at 4096 bytes"),
        boundary("b1"),
        summary_line("s1", "they talked of a relay"),
    )
    assert "new: " in said(away, "import", str(away.transcript))
    return away


def test_an_import_goes_to_the_server_and_once(told: Away, server: Served, token: str) -> None:
    assert "nothing new" in said(told, "import", str(told.transcript))
    assert [entry.role for entry in entries(server, token)] == ["user", "assistant"]
    assert [pin.text for pin in pins(server, token)] == ["the pool holds 12 because 40 exhausted pgbouncer"]


def test_what_the_server_holds_is_listed_searched_shown_exported_and_verified(told: Away) -> None:
    assert told.url in said(told, "status")
    assert "the pool holds 12" in said(told, "brief")
    assert "the pool holds 12" in said(told, "pins")
    assert "relay stalls" in said(told, "search", "relay stalls")
    assert "the pool holds 12" in said(told, "show", "P1")
    assert "F1" in said(told, "folds")
    assert said(told, "verify").splitlines()[0].startswith("ok: ")
    exported = [json.loads(line) for line in said(told, "export").splitlines() if line.startswith("{")]
    assert "session.started" in {each.get("kind") for each in exported}
    assert not (told.home / "projects").exists()


def test_the_pages_of_ui_show_what_the_server_holds(told: Away) -> None:
    with patch.dict(os.environ, told.environment(), clear=True), pages_of(told.project, told.home) as pages:
        shown = pages.get("pins")
        assert (shown.status, "the pool holds 12" in shown.body) == (200, True)
        assert "relay stalls at 4096 bytes" in pages.get("s1").body
    assert not (told.home / "projects").exists()


def test_what_is_forgotten_is_forgotten_on_the_server(told: Away, server: Served, token: str) -> None:
    said(told, "forget", "P1", "--yes")
    assert pins(server, token) == []


@pytest.mark.parametrize("arguments", [("backup",), ("restore", __file__), ("backup", "--list")])
def test_what_is_done_with_files_says_that_the_files_are_elsewhere(
    away: Away, arguments: tuple[str, ...]
) -> None:
    result = pinfold(away, *arguments)
    assert result.exit_code == 1
    assert "shared one, and that is done where its files are" in result.output


def test_a_server_out_of_reach_is_an_error_that_says_where_it_was_looked_for(away: Away, way: Way) -> None:
    way.is_open = False
    result = pinfold(away, "status")
    assert result.exit_code == 1
    assert f"The team's server at {away.url} is out of reach" in result.output
    assert away.token not in result.output


def test_doctor_says_whether_the_server_is_reached_and_what_waits(away: Away, way: Way) -> None:
    found = findings(away)
    assert found["team's server"] == ("ok", f"{away.url}: project app")
    assert found["outbox"] == ("ok", "nothing waits to be sent")
    assert found["team's folder"][0] == "ok"
    way.is_open = False
    away.event("user-prompt-submit", prompt="DECISION: use port 7463 because 80 is taken")
    found = findings(away)
    assert found["team's server"][0] == "bad"
    assert found["outbox"] == ("warn", "1 thing to be sent, 0 of them refused by the server")


def findings(away: Away) -> dict[str, tuple[str, str]]:
    told = json.loads(pinfold(away, "doctor", "--json").output)["findings"]
    return {each["subject"]: (each["state"], each["found"]) for each in told}


def test_a_project_is_named_in_the_address_by_its_own_name(away: Away, server: Served) -> None:
    url = f"http://127.0.0.1:{away.port}/p/{{project}}"
    with patch.dict(os.environ, away.environment(PINFOLD_URL=url), clear=True):
        told = CliRunner().invoke(main, ["status", "--project", str(away.project), "--json"])
    assert json.loads(told.output)["location"] == away.url


def test_two_names_for_a_store_are_one_too_many(away: Away, tmp_path: Path) -> None:
    with patch.dict(os.environ, away.environment(PINFOLD_STORE=str(tmp_path)), clear=True):
        result = CliRunner().invoke(main, ["status"])
    assert "PINFOLD_STORE and PINFOLD_URL both name a store" in result.output


def test_a_store_that_is_named_to_a_command_is_meant_whatever_the_environment_names(
    away: Away, way: Way, tmp_path: Path
) -> None:
    async def made(folder: Path) -> None:
        await (await open_store(folder, "another")).close()

    anyio.run(made, tmp_path / "another")
    way.is_open = False
    shown = said(away, "status", "--store", str(tmp_path / "another"), "--json")
    assert json.loads(shown)["location"] == str(tmp_path / "another")


@pytest.mark.full
def test_long_output_of_a_command_is_kept_by_the_server(away: Away, server: Served, token: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pinfold", "run", "--tokens", "1000", "--", "seq", "20000"],
        env=away.environment(),
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"A1" in ran.stdout
    kept = ask(server, token, lambda store: store.artifact_bytes(1, 0, 1 << 20))
    assert kept.content.split() == [b"%d" % number for number in range(1, 20_001)]


def test_an_agents_turn_over_stdio_is_kept_by_the_server(away: Away, server: Served, token: str) -> None:
    variables = away.environment(PINFOLD_PROJECT=str(away.project))
    ours = {name: variables[name] for name in variables if name.startswith("PINFOLD_")}
    with serving(nothing, **ours) as peer:
        first = peer.ask(call(1, "pin_decision", text="the pool holds 12", why="measured"))
        found = peer.ask(call(2, "fetch_pointer", pointer="P1"))
    assert "P1" in text_of(first)
    assert "the pool holds 12" in text_of(found)
    assert [pin.text for pin in pins(server, token)] == ["the pool holds 12"]
