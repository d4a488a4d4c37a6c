"""Strings in play before a fold: which, in which order, with which pointer, and how the brief shows them."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from random import Random
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.folds import audit
from pinfold.context.paths import merged_paths
from pinfold.context.specifics import Kept
from pinfold.context.string_lines import MAX_CHARS, string_lines
from pinfold.context.strings import HALF_LIFE, MOST_STRINGS, Kind, kind_of
from pinfold.store.results import Entry
from tests.unit.sessions import ROOT, Session, entry, part, pin


def found(*entries: Entry, summary: str = "") -> dict[str, str]:
    return dict(audit(part(*entries), summary, briefed=True).strings)


@pytest.mark.parametrize(
    ("kind", "strings"),
    [
        (
            Kind.PATH,
            "src/a.py /etc/hosts ~/x ./run.sh token.py C:\\x\\a.txt .gitignore Cargo.toml a.py:12 docs/",
        ),
        (
            Kind.NAME,
            "getUserById get_user os.path.join std::vector ENOENT sha256 MAX_LEN localhost:5004",
        ),
        (Kind.COMMIT, "9f86d08 0123456789abcdef0123456789abcdef01234567"),
        (Kind.ISSUE, "#4 #12 GH#4 openai/tiktoken#92"),
        (Kind.NUMBER, "5004 1,500 3.11 v1.2.3 2.0.0-rc.1 80% 15ms >=3 2026-01-02 12:30 $5"),
        (None, "--no-verify -rf https://x.org/a ab src/*.py $d/a.go a\\.b/ x.py\\"),
    ],
)
def test_strings_are_of_kinds(kind: Kind | None, strings: str) -> None:
    kinds = {string: kind_of(string) for string in strings.split()}
    assert kinds == dict.fromkeys(kinds, kind)


def test_units_and_versions_with_a_space_are_numbers_and_names() -> None:
    assert [kind_of("15 minutes"), kind_of("15 %"), kind_of("Postgres 17")] == [
        Kind.NUMBER,
        Kind.NUMBER,
        Kind.NAME,
    ]


def test_too_long_or_hidden_characters_are_no_strings() -> None:
    assert [kind_of("a_" * 81), kind_of("a_b\u202e"), kind_of("a_\x1b[2J")] == [None, None, None]


def test_prose_and_tool_inputs_are_read_and_results_are_not() -> None:
    entries = (
        entry(10, "user", "Fix rotate_key in `src/auth.py`, see #12."),
        entry(11, "tool_call", "git show 9f86d08 --stat"),
        entry(12, "tool_result", "only_printed 5432"),
        entry(13, "assistant", "It takes 15 minutes."),
    )
    assert found(*entries) == {
        "15 minutes": "H13",
        "9f86d08": "H11",
        "#12": "H10",
        "rotate_key": "H10",
        "src/auth.py": "H10",
    }


def test_a_tools_input_is_read_without_its_keys_bare_numbers_and_escapes() -> None:
    call = {"file_path": "src/a.py", "offset": 1200, "new_string": 'x\nfoo_bar("q_r", "k_v": 1)\n\tbaz_x'}
    assert set(found(entry(10, "tool_call", json.dumps(call)))) == {
        "src/a.py",
        "foo_bar",
        "q_r",
        "k_v",
        "baz_x",
    }


def test_marks_of_a_patch_are_no_part_of_a_name() -> None:
    assert set(found(entry(10, "tool_call", "*** Update File: app.py\n-OLD_NAME = 1\n+NEW_NAME = 2"))) == {
        "app.py",
        "OLD_NAME",
        "NEW_NAME",
    }


def test_what_the_summary_or_a_live_pin_holds_is_left_out() -> None:
    said = entry(10, "user", "src/a.py, src/b.py, x_y, z_w, 15 minutes, 30 minutes")
    folded = part(said, pins=(pin(1, "x_y takes 30 s"),))
    strings = audit(folded, "See A.py: it took 15 min.", briefed=True).strings
    assert strings == (("z_w", "H10"), ("src/b.py", "H10"))


def test_what_was_used_often_and_lately_comes_first() -> None:
    old = [entry(10 + n, "user", "often_old") for n in range(3)]
    idle = [entry(20 + n, "tool_result", "") for n in range(HALF_LIFE)]
    new = [entry(90, "user", "new_a once_b"), entry(91, "user", "once_c new_a")]
    assert list(found(*old, *idle, *new)) == ["new_a", "often_old", "once_c", "once_b"]


def test_spellings_of_one_path_count_as_one() -> None:
    entries = (
        entry(10, "user", "token.py"),
        entry(11, "tool_call", f"{ROOT}/src/token.py:12"),
        entry(12, "tool_call", f"./src/token.py {ROOT}/docs/map.md"),
    )
    assert set(found(*entries)) == {"src/token.py", "docs/map.md"}


def test_names_that_differ_in_case_are_two_of_them() -> None:
    said = entry(10, "user", "session_id, sessionId and SessionId")
    assert set(found(said, summary="Keep SessionId.")) == {"session_id", "sessionId"}


def test_of_a_chain_its_own_names_are_in_play_and_one_without_any_as_a_whole() -> None:
    said = entry(
        10, "assistant", "cfg.Store.ReadAll, t.TempDir(), self.old_key, std::get_if, os.path.join, e.g. a"
    )
    assert set(found(said)) == {"ReadAll", "TempDir", "old_key", "get_if", "os.path.join"}


def test_names_of_arguments_and_ranges_of_lines_are_not_in_play() -> None:
    call = 'file_path: src/a.py\noffset: 1200\nreplace_all: false\ntodos: [{"activeForm":"Run lint_all\\nfix_b"}]'
    shell = "sed -n 359,389p bb.py | head -150 # 200 rows, v1.2.3"
    assert set(found(entry(10, "tool_call", call), entry(11, "tool_call", shell))) == {
        "src/a.py",
        "lint_all",
        "fix_b",
        "bb.py",
        "200 rows",
        "v1.2.3",
    }


def test_escapes_in_code_are_no_part_of_what_they_touch() -> None:
    call = 'printf "\\nNewOutput: %s\\n" old_path\\\ncat C:\\new\\table.txt'
    assert set(found(entry(10, "tool_call", call))) == {"NewOutput", "old_path", "C:\\new\\table.txt"}


def test_a_deep_path_is_offered_whole() -> None:
    path = f"/{'/'.join(['folder'] * 18)}/deep_file.py"
    assert found(entry(10, "tool_call", f"cat {path}")) == {path: "H10"}
    assert string_lines([(path, "H10")], "F2")[1] == f"files: {path} F2"


def test_a_projects_own_names_come_before_those_of_its_language() -> None:
    said = [entry(10 + n, "assistant", "fmt.Errorf, Step 2, 448, read_all") for n in range(3)]
    assert next(iter(found(*said))) == "read_all"


@pytest.mark.parametrize(
    ("forms", "told"),
    [
        ("/h/p/src/a.py src/a.py /h/p/b.py", "src/a.py src/a.py b.py"),
        ("a.py src/a.py tests/b.py b.py", "src/a.py src/a.py tests/b.py tests/b.py"),
        ("/h/p/src/a.py /h/p/src/b.py", "/h/p/src/a.py /h/p/src/b.py"),
        ("src/x/__init__.py src/y/__init__.py", "src/x/__init__.py src/y/__init__.py"),
        ("./a/b.py ../a/b.py", "a/b.py a/b.py"),
        ("C:\\p\\src\\a.py src\\a.py C:\\p\\b.py", "src\\a.py src\\a.py b.py"),
        ("/ a/ /a/ . ~/", "/ a/ a/ . ~/"),
    ],
)
def test_paths_are_told_as_short_as_they_were_ever_told(forms: str, told: str) -> None:
    assert list(merged_paths(forms.split()).values()) == told.split()


def test_lines_are_grouped_by_folder_and_kind_and_name_a_pointer_for_each_string() -> None:
    strings = [
        ("src/auth/token.py", "H42"),
        ("src/auth/redis.py", "H42"),
        ("src/auth/session.py", "H40"),
        ("rotate_key", "H42"),
        ("src/store/deep/down/db.py", "H7"),
        ("src/web/app.py", "H42"),
        ("Makefile.toml", "H3"),
        ("/etc/hosts", "H3"),
        ("15 minutes", "H40"),
        ("30 s", "H40"),
        ("9f86d08", "H9"),
        ("TTL_S", "H42"),
        ("#12", "H9"),
    ]
    assert string_lines(strings, "F2") == [
        "In play before it, not in its summary; F2 says where",
        "src/auth/: token.py redis.py H42, session.py F2",
        "src/: store/deep/down/db.py web/app.py F2",
        "files: Makefile.toml /etc/hosts H3",
        "names: rotate_key TTL_S H42",
        "commits: 9f86d08 F2",
        "issues: #12 F2",
        "numbers: 15 minutes, 30 s H40",
    ]


def test_names_with_a_blank_stand_apart_so_that_others_need_no_commas() -> None:
    strings = [("rotate_key", "H4"), ("Postgres 17", "H4"), ("TTL_S", "H4"), ("Python 3.11", "H4")]
    assert string_lines(strings, "F2")[1:] == [
        "names: rotate_key TTL_S H4",
        "names: Postgres 17, Python 3.11 H4",
    ]


def test_no_strings_no_heading() -> None:
    assert string_lines([], "F2") == []


POINTER = re.compile(r"[A-Z]\d+")


@given(
    st.lists(
        st.tuples(
            st.one_of(
                st.text(min_size=1, max_size=150),
                st.from_regex(r"(/?[a-c]{1,30}/){0,4}[a-c]{1,9}\.py", fullmatch=True),
            ),
            st.integers(1, 9).map(lambda number: f"H{number}"),
        ),
        max_size=200,
    )
)
@settings(max_examples=50, deadline=None)
def test_the_block_keeps_to_its_size_and_each_line_ends_in_a_pointer(strings: list[tuple[str, str]]) -> None:
    lines = string_lines(strings, "F2")
    assert sum(len(line) + 1 for line in lines) <= MAX_CHARS
    assert all(len(line) <= 300 and POINTER.fullmatch(line.split()[-1]) for line in lines[1:])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_string_stands_in_the_entry_that_its_pointer_names(seed: int) -> None:
    session = Session(seed)
    session.go_on(200)
    texts = {each.pointer: Kept(each.text) for each in session.entries}
    strings = audit(part(*session.entries), "", briefed=True).strings
    assert 100 < len(strings) <= MOST_STRINGS
    assert [string for string, pointer in strings if not texts[pointer].holds(string)] == []


WINDOW = 200


def coverage(seed: int) -> tuple[float, float]:
    """Return which share of what is needed after a fold, and is not in its summary, a plain list holds and the block.

    The plain list is the floor: 2,000 characters of strings as they were used, by decayed frequency, no pointers.
    """
    session = Session(seed)
    session.go_on(WINDOW)
    folded, before = part(*session.entries), list(reversed(session.used))
    session.go_on(90)
    later = {each for used in session.used[WINDOW:] for each in used}
    summary = "\n".join(each for each in sorted(later) if Random(f"{seed} {each}").random() < 0.46)
    kept, score = Kept(summary), Counter[str]()
    for age, used in enumerate(before):
        score.update({each: 2 ** (-age / HALF_LIFE) for each in used if not kept.holds(each)})
    plain = "; ".join(each for each, _ in score.most_common())[:MAX_CHARS]
    block = "\n".join(string_lines(audit(folded, summary, briefed=True).strings, "F2"))
    needed = later & score.keys()
    return mean(map(Kept(plain).holds, needed)), mean(map(Kept(block).holds, needed))


def test_the_readable_block_covers_what_a_plain_list_of_its_size_covers_within_three_points() -> None:
    plain, block = map(mean, zip(*map(coverage, range(8)), strict=True))
    assert plain < 0.95  # else there would be room for everything, and nothing to compare
    assert block > plain - 0.03


@pytest.mark.parametrize(
    "unit", ["a/", "/a_b.py ", '{"a":', "1.", "x_1 ", "\\n", "+", "#1 ", "é_", "9f86d08a"]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = (unit * 20_000)[:20_000]
    began = time.thread_time()
    audit(part(*(entry(10 + n, "tool_call", f"{{{text}{n}") for n in range(10))), text, briefed=True)
    assert time.thread_time() - began < 2
