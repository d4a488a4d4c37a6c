"""What a person sees on a real terminal, wide, narrow and hostile."""

from __future__ import annotations

import re
import sys

import pytest

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from pinfold.server.own_command import command_name
from tests.server.person import LOG, Project, with_a_past
from tests.server.terminals import on_terminal

STYLE = re.compile(r"\x1b\[\d*m")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return with_a_past(tmp_path_factory.mktemp("terminal") / "app")


def test_a_table_fits_the_terminal_and_wide_characters_keep_its_columns(project: Project) -> None:
    from rich.cells import cell_len

    shown = on_terminal(project, "pins", "--superseded", columns=100)
    lines = STYLE.sub("", shown).splitlines()
    assert lines[0].split() == ["pin", "kind", "text", "why", "when", "(UTC)", "session", "superseded", "by"]
    assert {cell_len(line) for line in lines} == {100}
    row = next(line for line in lines if line.startswith("P2"))
    assert "数据库最多" in row
    assert "\x1b" not in STYLE.sub("", shown)
    assert "[31mred" in STYLE.sub("", shown).replace("\n", "")
    assert STYLE.findall(shown) == [code for code in STYLE.findall(shown) if code in ("\x1b[1m", "\x1b[0m")]


def test_a_terminal_too_narrow_for_a_table_gets_a_line_per_cell(project: Project) -> None:
    shown = on_terminal(project, "folds", columns=30)
    assert shown.startswith("fold: F1\n")
    assert "reduction: 93%\n" in shown
    assert max(map(len, shown.splitlines())) <= 30


def test_status_needs_no_headings(project: Project) -> None:
    for columns in (100, 15):
        assert STYLE.sub("", on_terminal(project, "status", columns=columns)).startswith("project")


def test_a_dumb_terminal_gets_no_codes_at_all(project: Project) -> None:
    shown = on_terminal(project, "recall", "refresh tokens", TERM="dumb", NO_COLOR="1")
    assert "\x1b" not in shown
    assert shown.endswith("The brief shows 2 of 2 specifics; the summary of F1 shows 1.\n")


def test_an_encoding_without_the_characters_gets_them_spelled(project: Project) -> None:
    shown = on_terminal(project, "show", "P2", PYTHONIOENCODING="latin-1")
    assert "\\u6570\\u636e\\u5e93\\u6700\\u591a 8 \\u4e2a" in shown
    assert shown.isascii()


def test_bytes_that_are_no_text_do_not_reach_the_terminal_unasked(project: Project) -> None:
    shown = on_terminal(project, "show", "A2")
    assert shown == (
        f"pinfold: A2 is binary, 10 KB. Save it: {command_name()} show 'A2' > FILE; --raw prints it all the same.\n"
    )
    assert on_terminal(project, "show", "A1#L2-3").splitlines() == ["row 2 of the log", "row 3 of the log"]


def test_of_a_long_artifact_a_terminal_gets_a_preview_and_how_to_get_all(project: Project) -> None:
    lines = on_terminal(project, "show", "A1").splitlines()
    assert (lines[0], lines[-2]) == ("row 1 of the log", "row 20000 of the log")
    assert 10 < len(lines) < 60
    assert lines[-1] == (
        f"That is a part of 20,000 lines, 409 KB. All: {command_name()} show A1 --raw, or"
        f" {command_name()} show A1 > FILE. A part: --lines 1-100, --match PATTERN."
    )
    assert len(on_terminal(project, "show", "A1", "--lines", "1-15000").splitlines()) == 15_000
    assert on_terminal(project, "show", "A1", "--raw").encode() == LOG


@pytest.mark.parametrize("command", ["verify", "rebuild", "export"])
def test_long_work_shows_a_bar_to_its_end_and_then_what_came_of_it(project: Project, command: str) -> None:
    more = ("--output", str(project.home / "log.jsonl"), "--force") if command == "export" else ()
    shown = on_terminal(project, command, *more)
    assert command in shown
    assert "100%" in shown
    last = shown.splitlines()[-1]
    assert last.startswith({"verify": "ok: ", "rebuild": "rebuilt views", "export": "exported "}[command])


def test_what_a_doctor_finds_is_a_table(project: Project) -> None:
    lines = STYLE.sub("", on_terminal(project, "doctor", columns=140)).splitlines()
    assert lines[0].split() == ["what", "found", "what", "to", "do"]
    assert [line.split()[1] for line in lines if line.startswith("ok")][:3] == [
        "Python",
        "pinfold",
        "tokenizer",
    ]
    assert lines[-1].endswith(" bad")


@pytest.mark.parametrize("command", ["replay", "rent"])
def test_the_name_of_a_file_in_an_error_commands_no_terminal(project: Project, command: str) -> None:
    said = on_terminal(project, command, "no\x1b]0;owned\x07\u202ething")
    assert "no\\x1b]0;owned\\x07\\u202ething is not there." in said
    assert "\x1b]" not in said
