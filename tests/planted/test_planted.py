"""Each protection, switched off, turns a test red: so the tests do test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.planted.planting import ROOT, Plant, copy_of_the_program, occurrences, plant, run_tests
from tests.planted.plants import PLANTS

ALL = pytest.mark.parametrize("planted", PLANTS, ids=[one.name for one in PLANTS])
QUICK = ("a chunk's digest is not compared", "a path is compared by its text")
SHARES = 4
_TESTS_FAILED = 1


@ALL
def test_a_plant_still_fits_the_program_and_names_tests_that_exist(planted: Plant) -> None:
    assert [occurrences(edit) for edit in planted.edits] == [1] * len(planted.edits)
    for test in planted.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        assert not name or f"def {name.partition('[')[0]}(" in (ROOT / file).read_text("utf-8"), test


@pytest.fixture
def copy() -> Iterator[Path]:
    """A copy of the program where an ordinary user can read it, as tests want that become one."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield copy_of_the_program(folder)
    shutil.rmtree(folder)


def _check(planted: Plant, folder: Path) -> None:
    plant(planted.edits, folder)
    outcome = run_tests(folder, planted.tests)
    assert outcome.code == _TESTS_FAILED, outcome.printed[-4_000:]
    assert outcome.failed, outcome.printed[-4_000:]
    print(f"{planted.name}: caught by {outcome.failed[0]}")


@pytest.mark.parametrize("planted", [one for one in PLANTS if one.name in QUICK], ids=lambda one: one.name)
def test_a_planted_fault_turns_a_test_red(planted: Plant, copy: Path) -> None:
    _check(planted, copy)


@pytest.mark.full
@pytest.mark.timeout(300)
@ALL
def test_every_planted_fault_turns_a_test_red(planted: Plant, copy: Path) -> None:
    _check(planted, copy)


@pytest.mark.full
@pytest.mark.timeout(300)
@pytest.mark.parametrize("share", range(SHARES))
def test_the_same_tests_are_green_in_a_copy_without_a_plant(share: int, copy: Path) -> None:
    """So it is the plant that turns them red, and not the copy."""
    tests = sorted({test for one in PLANTS for test in one.tests})
    files = sorted({test.partition("::")[0] for test in tests})[share::SHARES]
    outcome = run_tests(copy, tuple(test for test in tests if test.partition("::")[0] in files))
    assert (outcome.code, outcome.failed) == (0, ()), outcome.printed[-4_000:]
