from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROMISES = (ROOT / "docs" / "promises.md").read_text("utf-8")


def test_every_promise_is_held_by_tests_that_exist() -> None:
    tests = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    }
    for row in re.findall(r"^\| (P\d+) .*$", PROMISES, re.MULTILINE):
        line = next(line for line in PROMISES.splitlines() if line.startswith(f"| {row} "))
        named = set(re.findall(r"`(test_\w+)`", line))
        assert named, row
        assert named <= tests, (row, named - tests)


def test_every_promise_that_the_code_names_as_its_source_is_in_the_document() -> None:
    sources = [
        source
        for file in (ROOT / "src").rglob("*.py")
        for source in re.findall(r"Sources?: [^\"]*", file.read_text("utf-8"))
    ]
    named = {number for source in sources for number in re.findall(r"\bP\d+\b", source)}
    assert sorted(named - set(re.findall(r"\bP\d+\b", PROMISES))) == []


def test_every_test_of_the_stores_contract_holds_a_promise() -> None:
    promised = set(re.findall(r"^\| (P\d+) ", PROMISES, re.MULTILINE))
    for file in sorted((ROOT / "tests" / "contract").glob("test_*.py")):
        marked = re.search(r"^pytestmark = .*mark\.promise\((.*)\)", file.read_text("utf-8"), re.MULTILINE)
        assert marked, file.name
        assert set(re.findall(r"P\d+", marked[1])) <= promised, file.name
