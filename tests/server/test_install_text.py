"""Changing configuration text in place: whatever the text looks like, only what was meant changes."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from pinfold.server.install import json_text, toml_text, trees
from pinfold.server.install.entries import Syntax, UnfitTextError

NEW = {"command": "/opt/x", "args": ["a"]}
PATH = ("servers", "pinfold")
COMMENT = re.compile(r"//c\d+|/\*c\d+\*/|#c\d+")


def _gap(chance: Random) -> str:
    """Blanks and comments as they stand between the marks of a JSON file."""
    number = chance.randrange(100)
    kinds = ["", "", " ", "\n", "\n  ", "\r\n\t", f" //c{number}\n", f"/*c{number}*/", f"\n  //c{number}\n  "]
    return chance.choice(kinds)


def _json_value(chance: Random, depth: int) -> str:
    if depth >= 2 or chance.random() < 0.5:
        return chance.choice(['"s"', "1", "-2.5e3", "true", "null", '"é // \\" /* {"', "[]", "{}"])
    if chance.random() < 0.5:
        return _json_object(chance, depth + 1)
    items = [_json_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return _joined(chance, "[", items, "]")


def _joined(chance: Random, begin: str, children: list[str], end: str) -> str:
    parts = [begin]
    for place, child in enumerate(children):
        is_last = place == len(children) - 1
        parts += [_gap(chance), child, _gap(chance), chance.choice(["", ","]) if is_last else ","]
    return "".join([*parts, _gap(chance), end])


def _json_object(chance: Random, depth: int = 0) -> str:
    members = []
    for key in chance.sample(["a", "b", "servers", "pinfold", "é"], chance.randrange(5)):
        value = (
            _json_object(chance, depth + 1) if key == "servers" and not depth else _json_value(chance, depth)
        )
        members.append(f"{json.dumps(key)}{_gap(chance)}:{_gap(chance)}{value}")
    return _joined(chance, "{", members, "}")


def _json_file(chance: Random) -> str:
    return _gap(chance) + _json_object(chance) + _gap(chance)


def _toml_file(chance: Random) -> str:
    lines = [
        "a = 1 #c1",
        'b = """\n[servers.pinfold]\n#"""',
        "",
        "#c2",
        "c = [\n  [1], #c3\n  # ]\n]",
        "d = '[x]'",
    ]
    tables = [
        "[servers.other]",
        "[tui] #c4",
        '[servers."pin.fold"]',
        "[[list]]",
        "[[list]]",
        "[servers.pinfold]",
    ]
    parts = chance.sample(lines, chance.randrange(6))
    for table in chance.sample(tables, chance.randrange(6)):
        parts += [table, *chance.sample(lines, chance.randrange(4))]
    newline = chance.choice(["\n", "\r\n"])
    return "\n".join(parts).replace("\n", newline) + chance.choice(["", newline])


JSON: Syntax = json_text
TOML: Syntax = toml_text
SEEDS = st.integers(0, 2**32)


def _file(seed: int) -> tuple[Syntax, str]:
    chance = Random(seed)
    case = (JSON, _json_file(chance)) if chance.random() < 0.5 else (TOML, _toml_file(chance))
    note(case[1])
    return case


def _comments(text: str) -> list[str]:
    return COMMENT.findall(text)


@settings(deadline=None, max_examples=200)
@given(SEEDS)
def test_a_member_is_put_in_and_taken_out_and_every_comment_stays(seed: int) -> None:
    syntax, text = _file(seed)
    before = syntax.read(text)
    found = trees.find(before, PATH)
    put = syntax.put(text, PATH, NEW)
    assert syntax.read(put) == trees.put(before, PATH, NEW)
    assert syntax.put(put, PATH, NEW) == put
    if found is trees.MISSING:
        assert _comments(put) == _comments(text)
        dropped = syntax.drop(put, PATH)
        assert _comments(dropped) == _comments(text)
        assert trees.find(syntax.read(dropped), PATH) is trees.MISSING
        if trees.find(before, PATH[:1]) not in (trees.MISSING, {}):
            assert dropped == text or _is_closed_up(syntax, text, dropped)


def _is_closed_up(syntax: Syntax, text: str, dropped: str) -> bool:
    """TOML needs a last line end before anything can follow, and keeps it."""
    return syntax is TOML and dropped.rstrip() == text.rstrip()


@settings(deadline=None, max_examples=200)
@given(SEEDS, st.sampled_from([("hooks", "Stop"), ("list",)]))
def test_an_item_is_added_last_and_each_can_be_taken_out(seed: int, path: tuple[str, ...]) -> None:
    syntax, text = _file(seed)
    before = syntax.read(text)
    if not isinstance(trees.find(before, path[:1]), (list, type(trees.MISSING))):
        return
    added = syntax.append(text, path, {"hooks": [NEW]})
    assert syntax.read(added) == trees.append(before, path, {"hooks": [NEW]})
    assert _comments(added) == _comments(text)
    items = trees.find(syntax.read(added), path)
    for index in range(len(items)):
        left = trees.find(syntax.read(syntax.drop_item(added, path, index)), path)
        assert (left if left is not trees.MISSING else []) == [*items[:index], *items[index + 1 :]]


@settings(deadline=None, max_examples=200)
@given(SEEDS)
def test_any_member_of_a_json_file_can_be_taken_out(seed: int) -> None:
    text = _json_file(Random(seed))
    note(text)
    before = json_text.read(text)
    for key in before:
        dropped = json_text.drop(text, (key,))
        assert json_text.read(dropped) == {other: value for other, value in before.items() if other != key}


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ('{"a": 1}', '{"a": 1, "k": [1]}'),
        ("{}", '{\n  "k": [\n    1\n  ]\n}'),
        ('{\n\t"a": 1 // x\n}\n', '{\n\t"a": 1, // x\n\t"k": [\n\t\t1\n\t]\n}\n'),
        ('{\n   "a": {},\n}', '{\n   "a": {},\n   "k": [\n      1\n   ],\n}'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "k": [\r\n  1\r\n ]\r\n}'),
        ("{\n  // old: 1\n}\n", '{\n  // old: 1\n  "k": [\n    1\n  ]\n}\n'),
        ('{"a": 1 // x\n}', '{"a": 1, // x\n"k": [1]\n}'),
    ],
)
def test_new_lines_take_the_files_own_layout(text: str, put: str) -> None:
    assert json_text.put(text, ("k",), [1]) == put
    assert json_text.drop(put, ("k",)) in (text, text.replace("{\n}", "{}"))


def test_a_table_is_cut_out_without_the_comment_that_belongs_to_the_next() -> None:
    text = '[servers.pinfold]\ncommand = "x" # ours\n\n# about tui\n[tui]\nx = 1\n'
    assert toml_text.drop(text, PATH) == "\n# about tui\n[tui]\nx = 1\n"


@pytest.mark.parametrize(
    "text", ["servers = { other = { a = 1 } } # x\n", "[servers]\nother = { a = 1 }\npinfold.command = 'y'\n"]
)
def test_tables_on_one_line_are_changed_where_they_stand(text: str) -> None:
    put = toml_text.put(text, PATH, NEW)
    assert toml_text.read(put)["servers"] == {"other": {"a": 1}, "pinfold": NEW}
    assert ("# x" in put) == ("# x" in text)
    assert toml_text.read(toml_text.drop(put, PATH)) == {"servers": {"other": {"a": 1}}}


def test_a_key_that_stands_twice_is_not_taken_out_by_halves() -> None:
    with pytest.raises(UnfitTextError, match="more than once"):
        json_text.drop('{"k": 1, "k": 2}', ("k",))


def test_a_file_of_thirty_thousand_lines_is_changed_like_any_other() -> None:
    projects: dict[str, Any] = {f"/p/{n}": {"history": ["x" * 40] * 1_000} for n in range(30)}
    text = json.dumps({"projects": projects}, indent=2)
    assert text.count("\n") > 30_000
    assert json.loads(json_text.put(text, PATH, NEW)) == {"projects": projects, "servers": {"pinfold": NEW}}
