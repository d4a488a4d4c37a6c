"""What counts as a needed string, and as covered, on a transcript made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import strings_in_play
from benchmarks.compactions import compactions
from benchmarks.needed import holds, specifics_of

FOLD = "f0000000-0000-4000-8000-000000000001"


def _line(kind: str, content: Any, number: int, **more: Any) -> str:
    about = {"type": kind, "uuid": f"u{number}", "sessionId": "s", "cwd": "/p", "isSidechain": False}
    return json.dumps({**about, "message": {"role": kind, "id": f"m{number}", "content": content}, **more})


def _call(number: int, **given: Any) -> str:
    return _line(
        "assistant", [{"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": given}], number
    )


def _result(number: int, text: str) -> str:
    return _line("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}], number)


BEFORE = [
    _line("user", "Mend readAll in src/a.py; see #12.", 1),
    _call(2, file_path="/p/src/a.py", new_string="write_all()"),
    _result(2, "only_printed near kept_name"),
    _line("assistant", [{"type": "text", "text": "kept_name takes 15 ms, idle_name does not."}], 3),
]
SUMMARY = [
    json.dumps({"type": "system", "subtype": "compact_boundary", "uuid": FOLD, "compactMetadata": {}}),
    _line("user", "We work on kept_name.", 5, isCompactSummary=True),
]
AFTER = [
    _line("user", "idle_name", 6),
    _call(7, file_path="/p/src/a.py", new_string="readAll(kept_name, only_printed, new_name)"),
    _line("assistant", [{"type": "text", "text": "write_all took 15ms."}], 8),
]


def _written(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/x/a.py b.go /p/c.test.ts", {("path", "a.py"), ("path", "b.go"), ("path", "c.test.ts")}),
        (
            "readAll read_all READ_ALL HTTPServer Read read",
            {("identifier", each) for each in "readAll read_all READ_ALL HTTPServer".split()},
        ),
        (
            "#12 ENT-7 9f86d08 v1.2 1.2.3",
            {
                ("issue", "#12"),
                ("issue", "ENT-7"),
                ("commit", "9f86d08"),
                ("version", "v1.2"),
                ("version", "1.2.3"),
            },
        ),
        ("15 ms, 15ms, 1,500 tokens, 42, a1b", {("number", "15 ms"), ("number", "1,500 tokens")}),
        ('"\\nNewName"', {("identifier", "NewName")}),
    ],
)
def test_six_kinds_of_strings_are_specific(text: str, found: set[tuple[str, str]]) -> None:
    assert specifics_of(text) == found


def test_a_text_holds_whole_words_paths_by_their_name_and_numbers_without_unit() -> None:
    text = "See lib/a.py: readAllNow waits 15 seconds."
    sought = [("path", "a.py"), ("number", "15 ms"), ("identifier", "readAll"), ("number", "5 ms")]
    assert [holds(text, each) for each in sought] == [True, True, False, False]


def test_what_the_agent_used_again_is_needed_and_counted_by_what_covers_it(tmp_path: Path) -> None:
    _written(tmp_path / "s.jsonl", [*BEFORE, *SUMMARY, *AFTER])
    (compaction,) = compactions(tmp_path)
    found = strings_in_play.measure(compaction)
    assert (found.name, found.entries, found.needed) == (FOLD, 4, 6)
    assert found.covered == {
        "summary": 1,  # kept_name; only_printed stood in a result alone
        **{
            f"{way} {size}": 5
            for size in (1_000, 2_000)
            for way in ("block", "frequency", "recency", "decayed")
        },
        "ceiling": 5,
    }


def test_a_session_kept_twice_is_measured_once_where_it_went_on_longest(tmp_path: Path) -> None:
    _written(tmp_path / "a" / "s.jsonl", [*BEFORE, *SUMMARY, AFTER[0]])
    _written(tmp_path / "b" / "s.jsonl", [*BEFORE, *SUMMARY, *AFTER])
    (compaction,) = compactions(tmp_path)
    assert len(compaction.after) == 3


def test_the_table_sums_up_and_the_counts_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _written(tmp_path / "s.jsonl", [*BEFORE, *SUMMARY, *AFTER])
    kept = tmp_path / "run.json"
    assert strings_in_play.main([str(tmp_path), "--json", str(kept)]) == 0
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert last[:4] == ["all", "4", "6", "16.7"]
    assert last[-1] == "83.3"
    assert json.loads(kept.read_text())[0]["needed"] == 6


def test_a_folder_without_a_compaction_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _written(tmp_path / "s.jsonl", BEFORE)
    assert strings_in_play.main([str(tmp_path)]) == 1
    assert "no compaction" in capsys.readouterr().err
