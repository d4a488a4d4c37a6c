"""The house: arrows run one way, only their owners import the SDK and the driver, and there is no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "pinfold"
BACKENDS = tuple(f"pinfold.store.{name}" for name in ("sql", "sqlite", "postgres"))
RANK = {"server": 3, "tools": 2, "context": 1, "store": 0}


def _modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def _imports(file: Path, *, at_load: bool = False) -> Iterator[str]:
    """Yield every imported module; with `at_load` only what importing the file imports at once."""
    tree = ast.parse(file.read_text("utf-8"))
    nodes = _at_load(tree.body) if at_load else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _at_load(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(node)


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "pinfold" else ""


def test_arrows_run_from_server_over_tools_and_context_to_store() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, file in _modules()
        for imported in _imports(file)
        if _room(imported) in RANK and RANK[_room(imported)] > RANK.get(_room(module), 9)
    ]
    assert wrong == []


def test_only_their_owners_import_the_sdk_and_the_driver() -> None:
    owners = {
        "mcp": "pinfold.server",
        "mcp_types": "pinfold.server",
        "click": "pinfold.server",
        "sqlite3": "pinfold.store.sqlite",
        "aiosqlite": "pinfold.store.sqlite",
        "portalocker": "pinfold.store.file_lock",
        "psycopg": "pinfold.store.postgres",
    }
    wrong = [
        f"{module} imports {imported}"
        for module, file in _modules()
        for imported in _imports(file)
        if imported.split(".")[0] in owners and not module.startswith(owners[imported.split(".")[0]])
    ]
    assert wrong == []


def test_tools_and_context_know_the_contract_and_no_backend() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, file in _modules()
        for imported in _imports(file)
        if _room(module) in ("tools", "context") and imported.startswith(BACKENDS)
    ]
    assert wrong == []


def test_no_module_imports_itself_in_a_circle() -> None:
    modules = dict(_modules())
    graph = {
        module: {found for found in _imports(file, at_load=True) if found in modules and found != module}
        for module, file in modules.items()
    }
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " → ".join((*path[path.index(module) :], module))
        if module not in done:
            for found in sorted(graph[module]):
                walk(found, (*path, module))
            done.add(module)

    for module in graph:
        walk(module, ())
