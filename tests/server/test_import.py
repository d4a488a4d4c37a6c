"""`pinfold import`: which transcripts it reads, what it says, and what becomes of files that are none."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pinfold.context.visible import size_text
from tests.server.histories import Place, bodies, texts
from tests.server.transcript_samples import CLAUDE, CLAUDE_HOME, CODEX
from tests.server.written import SESSION, Written, transcript

OTHER = "01a22a15-2b0d-70d2-9aa6-6ea2a5951392"
NONE = (
    "no transcripts of this project were found where Claude Code and Codex keep them (~/.claude, ~/.codex, or where"
    " CLAUDE_CONFIG_DIR and CODEX_HOME say); give their paths, or --project\n"
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def rollout(place: Place) -> Path:
    """A conversation of Codex in the project."""
    meta = {"id": OTHER, "cwd": str(place.project)}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "From Codex."}]}
    lines = [("session_meta", meta), ("response_item", said)]
    path = (
        place.folder
        / "codex"
        / "sessions"
        / "2026"
        / "03"
        / "14"
        / f"rollout-2026-03-14T09-00-00-{OTHER}.jsonl"
    )
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps({"type": kind, "payload": payload}) + "\n" for kind, payload in lines))
    return path


def test_without_paths_it_reads_the_transcripts_of_the_project(place: Place) -> None:
    ours = transcript(place.folder, [Written(cwd=place.project).says("From Claude Code.", "user")])
    transcript(place.folder, [Written(OTHER, cwd="/elsewhere").says("Not ours.", "user")], OTHER)
    theirs = rollout(place)
    planned = place.run("import", "--dry-run", "--json")
    assert {each["path"] for each in json.loads(planned.stdout)["files"]} == {str(ours), str(theirs)}
    assert not place.database.exists()
    assert place.run("import", "--client", "codex").stdout == "1 transcript read; new: 1 message\n"
    done = place.run("import")
    assert done.stdout == "2 transcripts read; new: 1 message\n"
    assert texts(place.events()) == ["From Codex.", "From Claude Code."]


def test_a_dry_run_lists_what_would_be_read(place: Place) -> None:
    path = place.folder / "old.jsonl"
    shutil.copyfile(CLAUDE, path)
    os.utime(path, (0, 951_782_400))
    size = size_text(path.stat().st_size)
    done = place.run("import", "--dry-run", path)
    assert done.stdout == f"claude-code\t{size}\t2000-02-29 00:00\t{path}\n"
    assert done.stderr == f"{size} in 1 transcript would be read.\n"
    assert json.loads(place.run("import", "--dry-run", "--json", path).stdout) == {
        "files": [{"path": str(path), "client": "claude-code", "bytes": path.stat().st_size}]
    }
    assert not place.home.exists()


def test_nothing_to_read_says_what_to_do(place: Place) -> None:
    for arguments in ([], ["--client", "codex"]):
        done = place.run("import", *arguments)
        assert (done.exit_code, done.stdout) == (0, NONE)
    planned = place.run("import", "--dry-run")
    assert (planned.exit_code, planned.stdout, planned.stderr) == (0, "", NONE)
    empty = place.folder / "empty"
    empty.mkdir()
    assert place.run("import", empty).stdout == "no transcripts were found there\n"
    assert json.loads(place.run("import", "--json").stdout)["files"] == 0
    assert not place.home.exists()


def test_no_store_is_made_for_transcripts_that_say_nothing(place: Place) -> None:
    silent, odd = place.folder / "silent.jsonl", place.folder / "odd.jsonl"
    silent.write_text('{"type":"user","isMeta":true,"uuid":"a","message":{"role":"user","content":""}}\n')
    odd.write_text('{"text": ""}\n"no object"\n')
    assert place.run("import", "--client", "claude", silent).stdout == "1 transcript read; nothing new\n"
    done = json.loads(place.run("import", "--json", "--client", "jsonl", odd).stdout)
    assert (done["files"], done["messages"], done["not_understood"]) == (1, 0, {str(odd): 2})
    assert not place.home.exists()


def test_a_folder_is_searched_for_transcripts_and_what_is_none_is_left_out(place: Place) -> None:
    shutil.copytree(CLAUDE_HOME, place.folder / "old")
    (place.folder / "old" / "notes.jsonl").write_text('{"level":"warn"}\n')
    (place.folder / "old" / "folder.jsonl").mkdir()
    found = json.loads(place.run("import", "--json", place.folder / "old").stdout)
    assert (found["files"], found["folds"], found["failed"]) == (5, 2, [])
    again = place.run("import", place.folder / "old")
    assert again.stdout.startswith("5 transcripts read; nothing new")


def test_what_is_no_transcript_is_refused_by_its_name_before_anything_is_read(place: Place) -> None:
    odd, pipe, missing = (place.folder / name for name in ("odd.jsonl", "pipe.jsonl", "missing.jsonl"))
    odd.write_text("no transcript\n")
    os.mkfifo(pipe)
    for path, status, words in (
        (odd, 1, "odd.jsonl is no transcript of Claude Code or Codex. Say what wrote it: --client jsonl."),
        (pipe, 1, "pipe.jsonl is no file. Write it to one first."),
        (missing, 2, "missing.jsonl' does not exist."),
    ):
        done = place.run("import", CLAUDE, path)
        assert (done.exit_code, words in done.stderr) == (status, True), done.stderr
    asked = place.run("import", "--json", odd)
    assert json.loads(asked.stdout)["ok"] is False
    assert not place.home.exists()


def test_a_file_that_cannot_be_read_to_its_end_keeps_no_other_from_being_read(place: Place) -> None:
    packed = place.folder / f"{CODEX.name}.zst"
    packed.write_bytes(cut(CODEX.read_bytes()))
    done = place.run("import", packed, CLAUDE)
    assert done.exit_code == 1
    told = done.stdout.splitlines()
    assert told[0].startswith("1 transcript read; new: 28 messages, 2 folds")
    assert told[1].startswith(f"not read: {packed} (")


def cut(content: bytes) -> bytes:
    """Return the first half of what packing makes of a transcript, whose beginning can be unpacked."""
    from backports import zstd

    whole = zstd.compress(content + os.urandom(500_000).hex().encode() + b"\n")
    return whole[: len(whole) // 2]


def test_any_other_source_comes_in_as_json_lines_with_its_own_ids(place: Place) -> None:
    path = place.folder / "chat.jsonl"
    rows: list[Any] = [
        {
            "external_id": "D1:3",
            "kind": "user",
            "text": "The walrus arrived.",
            "at": "2023-05-08T13:56:00Z",
            "session": "one",
        },
        {"external_id": "D1:4", "kind": "assistant", "text": "A walrus? Splendid.", "session": "one"},
        {"text": ""},
        {"kind": "commit", "text": "Feed the walrus", "session": "two"},
        "no object",
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = (
        f"1 transcript read; new: 3 messages\nnot understood: 2 lines of {path}, the first of them line 3\n"
    )
    assert place.run("import", "--client", "jsonl", path).stdout == told
    assert "; known already: 3 messages" in place.run("import", "--client", "jsonl", path).stdout
    hits = json.loads(place.run("search", "walrus", "--json").stdout)["hits"]
    assert {hit["ref"] for hit in hits} >= {"D1:3", "D1:4"}
    since = json.loads(place.run("search", "walrus arrived", "--since", "2023-05-09", "--json").stdout)[
        "hits"
    ]
    assert "D1:3" not in {hit["ref"] for hit in since}


def test_interleaved_sessions_share_transactions(place: Place) -> None:
    path = place.folder / "many.jsonl"
    rows = [{"text": f"DECISION: say {n}, because.", "session": f"s{n % 100}"} for n in range(300)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert place.run("import", path).exit_code == 0
    told = place.events()
    assert len({event["session"] for event in told}) == 100
    assert len(bodies(told, "decision.pinned")) == len(bodies(told)) == 300
    with closing(sqlite3.connect(place.database)) as db:
        (transactions,) = db.execute("SELECT count(DISTINCT at) FROM event").fetchone()
    assert transactions == 1


def test_a_conversation_goes_on_under_its_id_wherever_its_transcript_lies(place: Place) -> None:
    talk = Written()
    first, second = talk.says("First.", "user"), talk.says("Second.")
    path = transcript(place.folder, [first])
    stop = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(place.project)}
    assert place.run_hook("stop", stop).stderr == ""
    copy = place.folder / f"{SESSION}.jsonl"
    copy.write_bytes(first + second)
    assert place.run("import", copy).exit_code == 0
    assert {event["session"] for event in place.events()} == {1}
    assert texts(place.events()) == ["First.", "Second."]
