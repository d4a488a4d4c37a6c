"""Whatever a hook is given, and whatever state the store is in, its client goes on undisturbed."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.server.hooks import EVENTS, run
from pinfold.server.hooks.occasion import read_occasion
from pinfold.store.errors import InvalidInputError
from tests.server.hooking import HOOK, Client, Done, complained
from tests.server.peer import PATIENCE_S
from tests.store.children import child, line_of
from tests.store.test_failures import private_mounts

HOLD = """
import sys
from pathlib import Path
from pinfold.store.sqlite.gate import Gate
with Gate(Path(sys.argv[1])).hold():
    print("held", flush=True)
    sys.stdin.readline()
"""

FULL = """
import subprocess, sys
from pathlib import Path
from pinfold.store.commands import PinDecision
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller
home, folder, event = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", home], check=True)
server = open_direct(Path(folder), "app")  # as a server has it open while its client's hooks run
server.pin_decision(PinDecision(Caller("claude-code", "first"), "the pool holds 8 connections", "measured"))
try:
    with open(home + "/filler", "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
except OSError:
    pass
subprocess.run([sys.executable, "-m", "pinfold", "hook", event], check=True)
"""

SEALED = """
import os, subprocess, sys
subprocess.run(["mount", "--bind", sys.argv[1], sys.argv[1]], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", sys.argv[1]], check=True)
os.execv(sys.executable, [sys.executable, "-m", "pinfold", "hook", "session-start"])
"""


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"not JSON",
        b'["session_id"]',
        b"\xff\xfe{}\x00",
        b"[" * 100_000,
        b'{"session_id": null}',
        b'{"session_id": ["s"], "cwd": {}, "transcript_path": 7}',
    ],
    ids=lambda given: given[:24].decode("latin-1"),
)
def test_a_payload_that_is_no_event_is_one_line_on_stderr(client: Client, given: bytes) -> None:
    done = client.run("stop", given)
    complained(done)
    assert done.stdout == b""
    assert not client.home.exists()


def test_fields_of_any_shape_are_as_if_absent(claude: Client) -> None:
    claude.pin("the pool holds 8 connections")
    os.mkfifo(claude.folder / "pipe")
    paths = [7, "a\0b", "x" * 5_000, str(claude.folder), str(claude.folder / "pipe")]
    folders: list[object] = [None, {}, "a\0b", "/no/such/folder", "y" * 5_000]
    sources: list[object] = [None, 7, {}, "", "odd"]
    for path, folder, source in zip(paths, folders, sources, strict=True):
        said = claude.hook("session-start", transcript_path=path, cwd=folder, source=source)
        assert "the pool holds 8 connections" in said


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "No event is named."),
        (["no-such\nevent"], r"There is no hook 'no-such\nevent'."),
        (["stop", "--colour"], "'--colour' is no option of a hook."),
        (["stop", "--client", "vim"], "--client is 'vim'."),
    ],
)
def test_a_call_that_is_not_understood_is_one_line_on_stderr(
    client: Client, arguments: list[str], complaint: str
) -> None:
    done = subprocess.run(
        [*HOOK, *arguments], input=b"{}", capture_output=True, env=client.environment(), timeout=PATIENCE_S
    )
    assert complaint in complained(done)
    assert done.stdout == b""


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_event_goes_by_its_name_in_both_spellings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    client = Client(tmp_path, name)
    for variable, value in client.environment().items():
        monkeypatch.setenv(variable, value)
    client.pin("the pool holds 8 connections")
    given = json.dumps(client.payload(source="startup")).encode()
    for event in EVENTS:
        camel = event.title().replace("-", "")
        said = [run(spelled, [f"--client={name}"], given) for spelled in (event, camel)]
        assert said[0] == said[1]
        assert said[0][1] == []
    assert "8 connections" in run("SessionStart", ["--client", name], given)[0]
    with pytest.raises(InvalidInputError, match="session-start"):
        run("SessionStarted", [], given)


@pytest.mark.parametrize(
    ("fields", "client_name"),
    [
        ({}, "claude-code"),
        ({"transcript_path": "/t/rollout-2026-11-30T10-00-00-01a22a14.jsonl"}, "codex"),
        ({"turn_id": "t1"}, "codex"),
        ({"transcript_path": None}, "codex"),
        ({"transcript_path": None, "CLAUDECODE": "1"}, "claude-code"),
    ],
)
def test_an_event_shows_whose_it_is_where_nobody_says_so(
    client: Client, monkeypatch: pytest.MonkeyPatch, fields: dict[str, str], client_name: str
) -> None:
    for variable in ("CLAUDECODE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    if "CLAUDECODE" in fields:
        monkeypatch.setenv("CLAUDECODE", fields["CLAUDECODE"])
    monkeypatch.setenv("PINFOLD_HOME", str(client.home))
    given = json.dumps(client.payload(**fields)).encode()
    assert read_occasion("stop", [], given).client == client_name


def test_more_than_64_mebibytes_are_read_to_the_end_and_refused(client: Client) -> None:
    complaint = complained(client.run("post-tool-use", b" " * (65 << 20)))
    assert "67,108,864 bytes" in complaint


@pytest.mark.full
def test_two_hundred_megabytes_are_taken_off_the_pipe_in_bounded_memory(client: Client) -> None:
    measure = "from pinfold.server.hook import main\nmain(['session-start'])\n"
    measure += (
        "print(open('/proc/self/status').read())"  # ru_maxrss would be at least the test's own, from the fork
    )
    running = subprocess.Popen(
        [sys.executable, "-c", measure],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=client.environment(),
    )
    with running:
        assert running.stdin is not None
        for _ in range(200):
            running.stdin.write(b"x" * 1_000_000)
        out, err = running.communicate(timeout=PATIENCE_S)
    assert b"67,108,864 bytes" in err
    assert int(out.partition(b"VmHWM:")[2].split()[0]) < 200 * 1024


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full"])
def test_closed_and_full_streams_change_nothing_for_the_client(client: Client, streams: str) -> None:
    client.pin("the pool holds 8 connections")
    done = subprocess.run(
        ["sh", "-c", f'"$@" {streams}', "sh", *HOOK, "session-start"],
        input=json.dumps(client.payload()).encode(),
        capture_output=True,
        env=client.environment(),
        cwd=client.project,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0
    assert done.stderr.count(b"\n") == (streams in ("<&-", ">&-", ">/dev/full"))
    assert (b"8 connections" in done.stdout) == streams.startswith("2")
    assert [pin.text for pin in client.pins()] == ["the pool holds 8 connections"]


def test_a_reader_that_is_gone_is_one_line_on_stderr(client: Client) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*HOOK, "session-start"],
        input=json.dumps(client.payload()).encode(),
        stdout=writer,
        stderr=subprocess.PIPE,
        env=client.environment(),
        timeout=PATIENCE_S,
    )
    os.close(writer)
    assert b"Broken pipe" in done.stderr
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)


def test_at_a_terminal_nothing_is_waited_for(client: Client) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*HOOK, "stop"], stdin=theirs, capture_output=True, env=client.environment(), timeout=PATIENCE_S
    )
    os.close(ours)
    os.close(theirs)
    assert "no JSON object" in complained(done)


def test_a_damaged_store_is_one_line_and_stays_as_it_is(client: Client) -> None:
    client.pin("the pool holds 8 connections")
    database = client.store_folder / "log.db"
    database.write_bytes(b"no database" * 1_000)
    long = {"tool_name": "mcp__web__read", "tool_response": "word " * 60_000}
    for event, fields in (("session-start", {}), ("post-tool-use", long)):
        done = client.run(event, json.dumps(client.payload(**fields)).encode())
        assert "damaged" in complained(done)
        assert done.stdout == b""
    assert database.read_bytes() == b"no database" * 1_000


def test_a_store_of_a_newer_pinfold_is_shown_and_not_written(client: Client) -> None:
    client.pin("the pool holds 8 connections")
    with closing(sqlite3.connect(client.store_folder / "log.db")) as db:
        db.execute("PRAGMA user_version = 99")
    done = client.run("session-start", json.dumps(client.payload(session_id="another")).encode())
    assert "newer pinfold" in complained(done)
    assert b"8 connections" in done.stdout


@pytest.mark.parametrize("home", ["file", "file/below"])
def test_a_home_that_cannot_be_made_is_one_line(client: Client, home: str) -> None:
    (client.folder / "file").write_bytes(b"")
    given = json.dumps(client.payload()).encode()
    done = client.run("session-start", given, PINFOLD_HOME=str(client.folder / home))
    assert "read-only" in complained(done)
    assert done.stdout == b""


def in_mounts(client: Client, script: str, *arguments: str, **fields: str) -> Done:
    return subprocess.run(
        [*private_mounts(), sys.executable, "-c", script, str(client.home), *arguments],
        input=json.dumps(client.payload(**fields)).encode(),
        cwd=client.project,
        env=client.environment(),
        capture_output=True,
        timeout=PATIENCE_S,
    )


def test_a_full_disk_leaves_the_brief_and_the_outputs_as_they_are(client: Client) -> None:
    client.home.mkdir()
    long = "word " * 60_000
    for event, shown in (("session-start", 1), ("post-tool-use", 0)):
        done = in_mounts(
            client, FULL, str(client.store_folder), event, tool_name="mcp__a__b", tool_response=long
        )
        assert re.search("No space left|SQLITE_FULL", complained(done))
        assert done.stdout.count(b"8 connections") == shown


def test_a_home_that_cannot_be_written_is_read(client: Client) -> None:
    client.pin("the pool holds 8 connections")
    done = in_mounts(client, SEALED)
    assert "read-only" in complained(done)
    assert b"8 connections" in done.stdout


def test_a_sessions_end_does_not_wait_for_another_writer(client: Client) -> None:
    client.pin("the pool holds 8 connections")
    client.write({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello"}})
    with child(HOLD, client.store_folder / "log.lock") as holder:
        assert line_of(holder) == "held"
        began = time.monotonic()
        done = client.run("session-end", json.dumps(client.payload(reason="other")).encode())
        took = time.monotonic() - began
    assert f"pid {holder.pid}" in complained(done)
    assert took < 1.5


@pytest.mark.full
@pytest.mark.parametrize("event", ["session-start", "pre-compact", "user-prompt-submit", "post-tool-use"])
def test_another_writer_is_waited_for_a_few_seconds_and_the_brief_comes_all_the_same(
    client: Client, event: str
) -> None:
    client.pin("the pool holds 8 connections")
    client.write({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello"}})
    given = {"prompt": "FACT: two", "tool_name": "mcp__web__read", "tool_response": "word " * 60_000}
    with child(HOLD, client.store_folder / "log.lock") as holder:
        assert line_of(holder) == "held"
        began = time.monotonic()
        done = client.run(event, json.dumps(client.payload(**given)).encode())
        took = time.monotonic() - began
    assert f"pid {holder.pid}" in complained(done)
    assert took < 8
    assert (b"8 connections" in done.stdout) == (event in ("session-start", "pre-compact"))


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("post-tool-use", {"tool_name": "Bash", "tool_response": {"stdout": "hi", "stderr": ""}}),
        ("user-prompt-submit", {"prompt": "Please go on."}),
    ],
)
def test_an_event_that_leaves_nothing_to_do_loads_nothing(
    client: Client, event: str, fields: dict[str, object]
) -> None:
    loaded = modules(client, b"", "-c", "pass")
    ours = modules(client, json.dumps(client.payload(**fields)).encode(), *HOOK[1:], event) - loaded
    assert "pinfold.server.hook" in ours
    assert not ours & {"dataclasses", "json", "pathlib", "re", "sqlite3", "pinfold.server.hooks"}


def modules(client: Client, given: bytes, *arguments: str) -> set[str]:
    """Return what a Python that prints nothing loads."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(
        command, input=given, capture_output=True, env=client.environment(), timeout=PATIENCE_S
    )
    assert (done.returncode, done.stdout) == (0, b"")
    return {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
