"""Planted faults: a protection switched off in a copy of the program, and the tests that must notice."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NEEDED = ("src", "tests")
_LEFT_OUT = shutil.ignore_patterns("planted")
_PATIENCE_S = 240
_LIGHT = ("-p", "no:hypothesispytest", "-p", "no:xdist")
"""Hypothesis' plugin, which only reports, takes a third of a short run's time."""


@dataclass(frozen=True, slots=True)
class Edit:
    """In the file `file` below src/pinfold, `old`, which stands there once, becomes `new`."""

    file: str
    old: str
    new: str

    @property
    def path(self) -> str:
        return f"src/pinfold/{self.file}"


@dataclass(frozen=True, slots=True)
class Plant:
    """One protection (of the promise `promise`), how it is switched off, and the tests of which one must turn red."""

    name: str
    promise: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of tests ended: which failed, and all that was printed."""

    failed: tuple[str, ...]
    code: int
    printed: str


def occurrences(edit: Edit) -> int:
    """How often the text to be replaced stands in the program as it is."""
    return (ROOT / edit.path).read_text("utf-8").count(edit.old)


def copy_of_the_program(folder: Path) -> Path:
    """Copy what a test run needs into `folder`, so that nothing is ever planted in the program itself.

    What Python has compiled comes along; it is known to be that of another text by time and size.
    """
    for name in _NEEDED:
        shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def plant(edits: tuple[Edit, ...], folder: Path) -> None:
    for edit in edits:
        file = folder / edit.path
        file.write_text(file.read_text("utf-8").replace(edit.old, edit.new), "utf-8")


def run_tests(folder: Path, tests: tuple[str, ...]) -> Outcome:
    """Run some tests of the copy in `folder` until the first one fails."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *_LIGHT, "-x", "-q", "--tb=short", *tests],
        cwd=folder,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_PATIENCE_S,
    )
    failed = tuple(re.findall(r"^FAILED (\S+)", run.stdout, re.MULTILINE))
    return Outcome(failed, run.returncode, run.stdout)
