"""`pinfold export`: for programs to the last byte, for people without a way out of its fences."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from pinfold.server.export.markdown import code, fenced
from pinfold.store.commands import CommitProjection, Message
from pinfold.store.forgetting import Forget
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Pointer, PointerKind, Stale
from tests.contract.acts import ANNA, BEN, pin, say, spill
from tests.server.person import BLOB, LOG, ODD, Project, with_a_past

CARE = Path(__file__).parents[2] / "docs" / "care.md"
BREAKING = "``` and ````\n```\n# Not a heading\x1b[31m\u2028"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = with_a_past(tmp_path_factory.mktemp("export") / "app")
    anyio.run(_more, made)
    return made


async def _more(project: Project) -> None:
    """Add what is awkward: wide characters across pieces, nothing at all, equal bytes, what breaks a fence."""
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    await spill(store, "数据库🎉".encode() * 9_000, label="wide")
    await spill(store, b"", label="empty")
    await spill(store, BLOB, label="the blob again")
    await store.append_messages(ANNA, [Message("assistant", BREAKING), Message("user", "to be forgotten")])
    await pin(store, "of another session", BEN)
    seqs = [int(pointer[1:]) for pointer in await say(store, "not sent any more", "one line is left")]
    await store.commit_projection(CommitProjection(ANNA, hidden=(seqs[0],), reclaimed={seqs[1]: Stale.OLD}))
    await store.close()


def _copy(project: Project, folder: Path) -> Project:
    """Return another project with the same store, for a test that changes it."""
    other = Project(folder / "app")
    shutil.copytree(project.settings.store_folder, other.settings.store_folder)
    return other


def _lines(text: str) -> list[dict[str, Any]]:
    assert text.isascii()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def _exported(project: Project, *more: str) -> list[dict[str, Any]]:
    done = project.run("export", *more)
    assert done.exit_code == 0, done.stderr
    return _lines(done.stdout)


def _bytes(lines: list[dict[str, Any]]) -> dict[str, bytes]:
    """Put the pieces together, each of which has to begin where the one before ended."""
    found: dict[str, bytes] = {}
    for line in lines:
        if "start" in line:
            piece = line["text"].encode() if "text" in line else base64.b64decode(line["base64"])
            assert line["start"] == len(found.get(line["sha256"], b""))
            found[line["sha256"]] = found.get(line["sha256"], b"") + piece
    return found


def _events(database: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as link:
        return link.execute(
            "SELECT seq, kind, body, hex(body_digest), hex(digest) FROM event ORDER BY seq"
        ).fetchall()


def test_every_event_and_every_byte_is_there_once(project: Project) -> None:
    header, *lines = _exported(project)
    events = [line for line in lines if "seq" in line]
    stored = _events(project.settings.store_folder / "log.db")
    assert [
        (
            line["seq"],
            line["kind"],
            json.dumps(line["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
            line["body_digest"].upper(),
            line["digest"].upper(),
        )
        for line in events
    ] == stored
    assert header == {
        "pinfold_export": 1,
        "pinfold": header["pinfold"],
        "project": "app",
        "schema": header["schema"],
        "newest": len(stored),
        "digest": events[-1]["digest"],
        "session": None,
    }
    contents = _bytes(lines)
    assert {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()} == {
        name: name for name in contents
    }
    spilled = {line["body"]["sha256"] for line in events if line["kind"] == "artifact.spilled"}
    assert spilled - set(contents) == {hashlib.sha256(b"").hexdigest()}
    assert {LOG, BLOB, "数据库🎉".encode() * 9_000} <= set(contents.values())
    assert {
        key for line in lines if line.get("sha256") == hashlib.sha256(LOG).hexdigest() for key in line
    } == {
        "sha256",
        "start",
        "text",
    }


def _recipe(file: Path) -> subprocess.CompletedProcess[str]:
    """Run what docs/care.md tells, in a Python that has nothing of pinfold."""
    found = re.search(r"```python\n(.*?)```", CARE.read_text("utf-8"), re.DOTALL)
    assert found
    return subprocess.run(
        [sys.executable, "-I", "-c", found[1], str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_recipe_of_the_documentation_holds_and_tells_each_change(
    project: Project, tmp_path: Path
) -> None:
    whole = project.run("export").stdout
    file = tmp_path / "log.jsonl"
    file.write_text(whole)
    held = _recipe(file)
    assert (held.returncode, held.stdout) == (0, f"{_lines(whole)[0]['newest']} events hold\n"), held.stderr
    lines = whole.splitlines(keepends=True)
    pinned = next(n for n, line in enumerate(lines) if '"decision.pinned"' in line)
    piece = next(n for n, line in enumerate(lines) if "row 1 of the log" in line and '"start": 0' in line)
    changes = {
        "its body was changed": [
            *lines[:pinned],
            lines[pinned].replace("15 minutes", "16 minutes"),
            *lines[pinned + 1 :],
        ],
        "does not follow": [*lines[:pinned], *lines[pinned + 1 :]],
        "its end is not": lines[:-1],
        "changed or missing": [*lines[:piece], *lines[piece + 1 :]],
    }
    for said, changed in changes.items():
        assert changed != lines
        file.write_text("".join(changed))
        told = _recipe(file)
        assert (told.returncode, said in told.stdout) == (1, True), (said, told)


def test_one_session_alone_has_only_its_events(project: Project, tmp_path: Path) -> None:
    header, *lines = _exported(project, "--session", "s2")
    assert header["session"] == 2
    assert {line["session"] for line in lines} == {2}
    assert [line["kind"] for line in lines] == ["session.started", "decision.pinned"]
    part = tmp_path / "s2.jsonl"
    part.write_text(project.run("export", "--session", "s2").stdout)
    held = _recipe(part)
    assert (held.returncode, held.stdout) == (0, "2 events hold\n"), held.stderr
    part.write_text(part.read_text().replace("of another session", "of no other session"))
    assert _recipe(part).stdout.endswith("its body was changed\n")
    refused = project.run("export", "--session", "9")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "there is no such session" in refused.stderr


def test_what_was_forgotten_is_null_and_the_chain_holds(project: Project, tmp_path: Path) -> None:
    project = _copy(project, tmp_path)

    async def forget() -> None:
        store = await open_store(project.settings.store_folder, project.settings.project.name)
        (hit,) = [
            event.seq for event in await store.logged(0) if event.body and "to be forgotten" in event.body
        ]
        await store.forget(Forget(ANNA, (Pointer(PointerKind.ENTRY, hit),)))
        await store.close()

    anyio.run(forget)
    lines = _exported(project)
    assert [line["kind"] for line in lines if "seq" in line and line["body"] is None] == ["message.appended"]
    assert "to be forgotten" not in json.dumps(lines)
    file = tmp_path / "log.jsonl"
    assert project.run("export", "--output", str(file)).exit_code == 0
    assert _recipe(file).returncode == 0
    assert "forgotten\n" in project.run("export", "--format", "markdown").stdout


def test_a_file_is_the_users_alone_whole_and_never_overwritten_unasked(
    project: Project, tmp_path: Path
) -> None:
    file = tmp_path / "out" / "log.jsonl"
    nowhere = project.run("export", "--output", str(file))
    assert (nowhere.exit_code, "cannot be written" in nowhere.stderr) == (1, True)
    file.parent.mkdir()
    told = json.loads(project.run("export", "--output", str(file), "--json").stdout)
    assert (told["ok"], told["file"], told["damaged"]) == (True, str(file), [])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == project.run("export").stdout
    file.write_text("mine")
    refused = project.run("export", "--output", str(file))
    assert (refused.exit_code, file.read_text()) == (1, "mine")
    assert "is there already; nothing was written" in refused.stderr
    assert project.run("export", "--output", str(file), "--force").exit_code == 0
    assert file.read_text() == project.run("export").stdout
    assert os.listdir(file.parent) == ["log.jsonl"]


@pytest.mark.promise("P11")
@pytest.mark.parametrize("name", ["log.db", "log.db-journal", "store-id", "backups/one.db"])
def test_no_export_takes_the_place_of_a_stores_file(project: Project, tmp_path: Path, name: str) -> None:
    folder = project.settings.store_folder
    (tmp_path / "link").symlink_to(folder)
    before = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    for place in (folder, tmp_path / "link"):
        refused = project.run("export", "--force", "--output", str(place / name))
        assert (refused.exit_code, "among the stores" in refused.stderr) == (1, True), refused.stderr
    assert {path: path.read_bytes() for path in sorted(folder.iterdir())} == before


@pytest.mark.parametrize(
    ("streams", "told"),
    [(">&-", b"Standard output is closed"), (">/dev/full", b"could not be (No space left on device)")],
)
def test_output_that_goes_nowhere_is_one_line_and_no_bug(project: Project, streams: str, told: bytes) -> None:
    command = [sys.executable, "-m", "pinfold", "export", "--project", str(project.folder)]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {streams}', "sh", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        env={**os.environ, "PINFOLD_HOME": str(project.home)},
    )
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1), done.stderr
    assert told in done.stderr


def test_only_a_file_is_ever_overwritten(project: Project, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = project.run("export", "--output", str(pipe), "--force")
    assert (refused.exit_code, stat.S_ISFIFO(pipe.stat().st_mode)) == (1, True)
    assert os.listdir(tmp_path) == ["pipe"]


def test_damage_is_said_and_the_rest_is_exported(project: Project, tmp_path: Path) -> None:
    other = _copy(project, tmp_path)
    with closing(sqlite3.connect(other.settings.store_folder / "log.db")) as link:
        link.execute("UPDATE chunk SET packed = x'00' WHERE content = 1 AND start > 0")
        link.execute("UPDATE event SET body = CAST(x'7bff' AS TEXT) WHERE seq = 2")
        link.commit()
    done = other.run("export")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "too damaged to be read: event 2, A1; run `pinfold verify`"
    lines = _lines(done.stdout)
    seqs = [line["seq"] for line in lines if "seq" in line]
    assert seqs == list(range(1, lines[0]["newest"] + 1))
    assert [line["text"] for line in lines if line.get("seq") == 2] == ["{\ufffd"]
    assert [line["error"] for line in lines if "error" in line] == ["A1 is damaged; nothing was changed."]
    assert BLOB in _bytes([line for line in lines if "error" not in line]).values()
    shown = other.run("export", "--format", "markdown")
    assert (shown.exit_code, "### Event 2: damaged" in shown.stdout) == (1, True)


def _outside_of_fences(text: str) -> list[str]:
    """Return the lines that a Markdown reader takes for Markdown; every fence has to end."""
    found, fence = [], ""
    for line in text.split("\n"):
        run = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line.strip("`") == "" and len(line) >= len(fence) else fence
        elif run:
            fence = run.group()
        else:
            found.append(line)
    assert not fence
    return found


def test_markdown_shows_pins_and_conversations_and_nothing_stored_gets_out_of_its_fence(
    project: Project,
) -> None:
    text = project.run("export", "--format", "markdown").stdout
    outside = _outside_of_fences(text)
    headings = [line for line in outside if line.startswith("#")]
    assert headings[:8] == [
        "# `app`: what pinfold keeps",
        "## Pins",
        "### P1: decision",
        "### P2: constraint",
        "### P4: decision",
        "### P5: decision",
        "## Superseded pins",
        "### P3: decision",
    ]
    assert "# Not a heading" in text
    assert not [
        line for line in outside if "Not a heading" in line or ("red" in line and "redis" not in line)
    ]
    assert "\x1b" not in text
    assert "\u2028" not in text
    assert ODD.replace("\x1b", "\\x1b") in text
    assert "### C1: checkpoint" in headings
    assert "### F1: `auto` compaction" in headings
    assert headings.index("### C1: checkpoint") < headings.index("### F1: `auto` compaction")
    assert "Use Postgres 16" in text
    [last] = [int(found) for found in re.findall(r"### Event (\d+): what requests leave out", text)]
    assert f"Not sent any more:\n\n- `H{last - 2}`\n\nSent as one line:\n\n- `H{last - 1}`\n" in text


@pytest.mark.parametrize(
    "text",
    ["", "a", "`", "``", "a`b", "````\n```", "````\nout\n```", "```\nout", "ends\n", "\n", "``` ", " `x`"],
)
def test_no_text_ends_its_fence_or_its_span(text: str) -> None:
    assert _outside_of_fences(fenced(text) + "after") == ["after"]
    span = code(text)
    assert "\n" not in span
    run = re.match("`+", span)
    assert run
    assert [found for found in re.findall("`+", span) if found == run.group()] == [run.group()] * 2
