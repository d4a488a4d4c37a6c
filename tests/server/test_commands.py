"""The command line as a person or a hook meets it: real processes on a real store."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import click
import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from pinfold.server.options import telling_errors
from pinfold.server.settings import read_settings
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin
from tests.server.peer import PATIENCE_S, environment

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Return a project for which nothing has been kept."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def kept(empty: Path) -> Path:
    """Return a project whose log has two events: a session and its pin."""
    anyio.run(_keep, empty)
    return empty


async def _keep(project: Path) -> None:
    settings = read_settings({"PINFOLD_HOME": str(_home(project))}, project)
    store = await open_store(settings.store_folder, settings.project.name)
    await pin(store, "use uuid7")
    await store.close()


def _home(project: Path) -> Path:
    return project.parent / "home"


def _run(project: Path, *arguments: str) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "pinfold", *arguments],
        cwd=project,
        env=environment(PINFOLD_HOME=str(_home(project))),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize("command", ["brief", "verify"])
def test_an_error_is_one_line_on_stderr_and_with_json_one_object_on_stdout(empty: Path, command: str) -> None:
    plain, as_json = _run(empty, command), _run(empty, command, "--json")
    line = plain.stderr.removeprefix("pinfold: ").removesuffix("\n")
    assert line.startswith(f"project app ({empty}): pinfold has kept nothing for it yet. ")
    assert (plain.returncode, plain.stdout) == (1, "")
    assert (as_json.returncode, as_json.stderr) == (1, "")
    assert as_json.stdout.count("\n") == 1
    assert json.loads(as_json.stdout) == {"ok": False, "error": line}


@pytest.mark.parametrize(
    "receipt",
    ["nonsense", "", "1:xyz", ":9f31c2aa07d4", "1" * 19 + ":9f31c2aa07d4", "9" * 5_000 + ":9f31c2aa07d4"],
)
def test_a_malformed_receipt_is_a_usage_error_though_there_is_no_store(empty: Path, receipt: str) -> None:
    refused = _run(empty, "verify", "--receipt", receipt)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith(
        "Error: Invalid value for '--receipt': This is not a receipt. A receipt looks like 42:9f31c2aa07d4.\n"
    )


def test_verify_counts_its_problems_in_words_that_fit(kept: Path) -> None:
    sound = _run(kept, "verify")
    assert sound.stdout.startswith("ok: 2 events, 0 artifacts, tip 2:")
    assert (sound.returncode, sound.stdout.count("\n")) == (0, 1)
    tip = sound.stdout.split()[-1]
    borne = _run(kept, "verify", "--receipt", tip)
    assert (borne.returncode, borne.stdout) == (0, f"{sound.stdout}receipt {tip} holds\n")
    assert json.loads(_run(kept, "verify", "--json", "--receipt", tip).stdout)["held"] == [tip]
    one = _run(kept, "verify", "--receipt", "9:000000000000")
    assert one.stdout.startswith("1 problem: 2 events, ")
    assert one.returncode == 1
    two = _run(kept, "verify", "--receipt", "9:000000000000", "--receipt", "1:000000000000")
    assert two.stdout.startswith("2 problems: 2 events, ")
    mixed = _run(kept, "verify", "--receipt", "1:000000000000", "--receipt", tip)
    assert mixed.stdout.splitlines()[1:] == [
        f"receipt {tip} holds",
        "receipt 1:000000000000: the log says otherwise at that event",
    ]
    largest = _run(kept, "verify", "--receipt", "9" * 18 + ":000000000000")
    assert largest.stdout.splitlines()[1:] == [
        f"receipt {'9' * 18}:000000000000: the log ends before it; acknowledged events are missing"
    ]


def test_a_rebuild_counts_what_it_read_in_words_or_as_json(kept: Path) -> None:
    assert _run(kept, "rebuild").stdout == "rebuilt views and index from 2 events\n"
    assert json.loads(_run(kept, "rebuild", "--json").stdout) == {"ok": True, "project": "app", "events": 2}


def test_a_dry_run_of_a_rebuild_says_what_differs_and_changes_nothing(kept: Path) -> None:
    assert _run(kept, "rebuild", "--dry-run").stdout == "nothing differs from the log\n"
    database = read_settings({"PINFOLD_HOME": str(_home(kept))}, kept).store_folder / "log.db"
    with closing(sqlite3.connect(database)) as link:
        link.execute("UPDATE pin SET text = 'use serials'")
        link.commit()
    assert _run(kept, "rebuild", "--dry-run").stdout == "view pin: differs from the log\n"
    told = json.loads(_run(kept, "rebuild", "--dry-run", "--json").stdout)
    assert told == {"ok": True, "project": "app", "differs": ["view pin"]}
    assert "use serials" in _run(kept, "pins").stdout
    assert _run(kept, "rebuild").returncode == 0
    assert "use uuid7" in _run(kept, "pins").stdout


@pytest.mark.parametrize("command", [(), ("brief",), ("verify",), ("rebuild",), ("serve",), ("demo",)])
def test_h_is_as_good_as_help(empty: Path, command: tuple[str, ...]) -> None:
    short, long = _run(empty, *command, "-h"), _run(empty, *command, "--help")
    assert short.stdout.startswith(" ".join(("Usage: python -m pinfold", *command)))
    assert (short.returncode, short.stdout, short.stderr) == (0, long.stdout, "")


def test_help_names_every_command_once_and_cuts_none_of_its_sentences(empty: Path) -> None:
    said = _run(empty, "--help").stdout.partition("Begin:")[2]
    named = re.findall(r"(?m)^  ([a-z]+) +[A-Z]", said)
    assert sorted(named) == main.list_commands(click.Context(main))
    assert "..." not in said
    assert "it would have with pinfold's projection." in said


def test_the_brief_ends_with_its_last_line(kept: Path) -> None:
    shown = _run(kept, "brief").stdout
    assert "P1  use uuid7" in shown
    assert shown.endswith(">\n")
    assert json.loads(_run(kept, "brief", "--json").stdout)["seq"] == 2


def test_a_brief_of_what_is_not_there_yet_is_refused_with_the_logs_length(kept: Path) -> None:
    assert json.loads(_run(kept, "brief", "--json", "--as-of", "2").stdout)["seq"] == 2
    for seq in ("3", "9" * 30):
        plain, as_json = (_run(kept, "brief", "--as-of", seq, *more) for more in ((), ("--json",)))
        assert (plain.returncode, plain.stdout) == (1, "")
        assert plain.stderr.startswith(f"pinfold: brief@{seq}: the log has 2 events. ")
        assert as_json.returncode == 1
        assert "the log has 2 events" in json.loads(as_json.stdout)["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_at_a_terminal_it_says_what_it_waits_for_and_in_a_pipe_nothing(empty: Path) -> None:
    terminal, typed = os.openpty()
    try:
        waiting = subprocess.Popen(
            [sys.executable, "-m", "pinfold"],
            cwd=empty,
            env=environment(PINFOLD_HOME=str(_home(empty))),
            stdin=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with waiting:
            assert waiting.stderr is not None
            line = waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(PATIENCE_S) == 128 + signal.SIGINT
    finally:
        os.close(terminal)
        os.close(typed)
    assert line == ("pinfold: serving MCP on stdin, as clients start it; see pinfold --help. Ctrl-C ends.\n")
    piped = subprocess.run(
        [sys.executable, "-m", "pinfold"],
        cwd=empty,
        env=environment(PINFOLD_HOME=str(_home(empty))),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "", "")


@pytest.mark.parametrize("as_json", [True, False])
def test_an_interrupt_is_told_as_an_object_where_one_was_asked_for(
    capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    ctx = click.Context(click.Command("verify"))
    ctx.params["as_json"] = as_json
    with pytest.raises(click.exceptions.Exit if as_json else KeyboardInterrupt) as ended, telling_errors(ctx):
        raise KeyboardInterrupt
    told = capsys.readouterr().out
    if as_json:
        assert json.loads(told) == {"ok": False, "error": "Interrupted."}
        assert getattr(ended.value, "exit_code", None) == 130
    else:
        assert told == ""


def test_an_interrupt_of_what_goes_on_later_is_told_as_an_object_too_where_one_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, empty: Path
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pinfold.server.commands.import_report.import_report", interrupted)
    monkeypatch.chdir(empty)
    monkeypatch.setenv("PINFOLD_HOME", str(_home(empty)))
    as_json, plain = (CliRunner().invoke(main, ["import", *more]) for more in (("--json",), ()))
    assert json.loads(as_json.stdout) == {"ok": False, "error": "Interrupted."}
    assert plain.stderr == (
        "pinfold: interrupted; what was read is kept, and the same command goes on behind it.\n"
    )
    assert (as_json.exit_code, plain.exit_code, plain.stdout) == (130, 130, "")
