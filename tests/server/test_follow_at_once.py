"""Real processes that read one transcript at once, or are killed while they do: each message once, in order."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.server.histories import Place, bodies, texts
from tests.server.peer import META, PATIENCE_S, Answer, environment, request, running
from tests.server.written import SESSION, Written, transcript

ROUNDS = 12


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def label(number: int) -> str:
    return "Note" if number % 5 else "DECISION"


def talk_of(rounds: int) -> list[bytes]:
    """Messages, commands, decisions and compactions: some bytes per round that end anywhere in a line."""
    talk = Written()
    lines = []
    for number in range(rounds):
        lines += [
            talk.says(
                f"{label(number)}: Step {number} uses port {5_000 + number}, because it is free.", "user"
            ),
            talk.runs(
                "Bash", {"command": f"make step-{number}"}, f"step {number} printed {number * 7} rows\n" * 40
            ),
            talk.says(f"Step {number} is done."),
        ]
        if number % 60 == 4:
            lines.append(talk.compacts(f"Up to step {number}."))
    return lines


@contextmanager
def started(place: Place, *arguments: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    command, env = place.command(*arguments), environment(**place.variables)
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as child:
        try:
            yield child
        finally:
            child.kill()


def the_log_of_one_reading(folder: Path, path: Path) -> Place:
    alone = Place(folder / "alone")
    alone.follow(path, SESSION)
    return alone


def test_imports_hooks_and_searches_at_once_while_it_grows_give_each_message_once(
    place: Place, tmp_path: Path
) -> None:
    content = b"".join(talk_of(ROUNDS))
    path = transcript(place.folder, [])
    step = len(content) // 2 + 1
    known = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_PROJECT_DIR": str(place.project)}
    stop = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(place.project)}
    with ExitStack() as stack:
        server = stack.enter_context(running(place.command("serve"), **place.variables, **known))
        for end in (*range(step, len(content), step), len(content)):
            with path.open("ab") as growing:
                growing.write(content[path.stat().st_size : end])
            server.send(search(end, "step"))
            imports = [stack.enter_context(started(place, "import", path)) for _ in range(2)]
            assert place.run_hook("stop", stop).stderr == ""
            answer = server.receive()
            assert answer is not None
            assert not answer["result"].get("isError")
            assert [each.wait(PATIENCE_S) for each in imports] == [0, 0]
    expected = the_log_of_one_reading(tmp_path, path).events()
    told = place.events()
    assert texts(told) == texts(expected)
    for kind in ("fold.recorded", "decision.pinned"):
        assert len(bodies(told, kind)) == len(bodies(expected, kind)) > 0
    assert [(each["number"], each["tokens_before"]) for each in bodies(told, "fold.recorded")] == [
        (1, 164_000),
    ]
    assert {event["actor"] for event in told} >= {"import", "user"}
    assert place.run("verify").exit_code == 0


def search(number: int, query: str) -> Answer:
    about = {**META, "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"}}
    return request(number, "tools/call", name="search_history", arguments={"query": query}, _meta=about)


@pytest.mark.parametrize("wanted", [1, pytest.param(8, marks=pytest.mark.full)])
def test_an_import_that_is_killed_goes_on_where_the_log_ends(
    place: Place, tmp_path: Path, wanted: int
) -> None:
    path = transcript(place.folder, talk_of(150 * wanted))
    place.store().close()
    kills = 0
    for life in range(1, wanted + 1):
        with started(place, "import", path) as child:
            wait_for_events(place, child, life * 350)
            child.send_signal(signal.SIGKILL)
            kills += child.wait(PATIENCE_S) == -signal.SIGKILL
        if life % 2:
            place.forget_marks()
    assert kills == wanted
    cut = len(place.events())
    assert place.run("import", path).exit_code == 0
    expected = the_log_of_one_reading(tmp_path, path).events()
    assert cut < len(expected)
    assert place.events() == expected
    assert json.loads(place.run("verify", "--json").stdout)["ok"] is True


def wait_for_events(place: Place, child: subprocess.Popen[bytes], count: int) -> None:
    """Wait until the log has grown so far while the child works at it."""
    patience = time.monotonic() + PATIENCE_S
    with closing(sqlite3.connect(f"{place.database.as_uri()}?mode=ro", uri=True)) as db:
        while db.execute("SELECT count(*) FROM event").fetchone()[0] < count:
            with pytest.raises(subprocess.TimeoutExpired):  # else it ended too early
                child.wait(0.01)
            assert time.monotonic() < patience
