"""The size budget of CONTRIBUTING.md, measured on every source file."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "pinfold"
FORBIDDEN = {"manager", "helper", "helpers", "util", "utils", "handler", "data", "info", "process"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions() -> Iterator[tuple[str, Function, int]]:
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{file.relative_to(SOURCE)}:{node.lineno} {node.name}", node, length


def test_no_file_is_over_350_lines() -> None:
    sizes = {
        str(file.relative_to(SOURCE)): len(file.read_text("utf-8").splitlines())
        for file in SOURCE.rglob("*.py")
    }
    assert {name: size for name, size in sizes.items() if size > 350} == {}


def test_functions_are_short() -> None:
    lengths = sorted(length for _, _, length in _functions())
    assert [name for name, _, length in _functions() if length > 60] == []
    assert statistics.median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 30


def test_no_function_takes_more_than_five_parameters() -> None:
    def count(node: Function) -> int:
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        return len([name for name in names if name not in ("self", "cls")])

    assert [name for name, node, _ in _functions() if count(node) > 5] == []


def test_names_say_what_a_thing_is() -> None:
    wrong = []
    for file in sorted(SOURCE.rglob("*.py")):
        names = [file.stem]
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.append(node.name)
        wrong += [f"{file.name}: {name}" for name in names if FORBIDDEN & set(_words(name))]
    assert wrong == []


def _words(name: str) -> list[str]:
    spaced = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.split("_")
