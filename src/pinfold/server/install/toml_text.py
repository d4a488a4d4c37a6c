"""Changing TOML in place: whole tables are added at the end and cut out, tomlkit does the rest (decision 0009)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pinfold.server.install import trees
from pinfold.server.install.entries import Keys, Tree, UnfitTextError

_LINE = re.compile(r"line (\d+)")
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|\#[^\n]*|\n|[\[\]{}]|[^"'\#\n\[\]{}]+''',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Table:
    """A `[table]` or `[[table]]`: from its header to the end of its last line that holds a key, comments left out."""

    path: Keys
    is_item: bool
    start: int
    end: int


def read(text: str) -> Tree:
    """Return the whole configuration."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise UnfitTextError(line, str(error).partition(" (at")[0]) from None


def put(text: str, path: Keys, value: object) -> str:
    """Set a member, with the tables around it where they are missing."""
    tree = read(text)
    if trees.find(tree, path) == value:
        return text
    wanted = trees.put(tree, path, value)

    def by_tables() -> str:
        old = [table for table in _tables(text) if table.path[: len(path)] == path]
        block = _rendered(text, path, value)
        if not old:
            return _added(text, block)
        rest = text
        for table in reversed(old[1:]):
            rest = _cut(rest, table)
        return rest[: old[0].start] + block + rest[old[0].end :]

    return _first_right(wanted, path, by_tables, lambda: _by_tomlkit(text, path, value))


def drop(text: str, path: Keys) -> str:
    """Remove a member that is there."""
    wanted = trees.drop(read(text), path)

    def by_tables() -> str:
        rest = text
        for table in reversed(list(_tables(text))):
            if table.path[: len(path)] == path:
                rest = _cut(rest, table)
        return rest

    return _first_right(wanted, path, by_tables, lambda: _by_tomlkit(text, path, trees.MISSING))


def append(text: str, path: Keys, value: object) -> str:
    """Add an item to an array, which is made where it is missing."""
    wanted = trees.append(read(text), path, value)
    block = _rendered(text, path, [value])
    items = trees.find(wanted, path)
    return _first_right(wanted, path, lambda: _added(text, block), lambda: _by_tomlkit(text, path, items))


def drop_item(text: str, path: Keys, index: int) -> str:
    """Remove an item that is there."""
    wanted = trees.drop_item(read(text), path, index)
    items = trees.find(wanted, path)

    def by_tables() -> str:
        rest, place = text, -1
        for table in list(_tables(text)):
            place += table.is_item and table.path == path
            if place == index and table.path[: len(path)] == path:
                rest = _cut(rest, _moved(table, len(rest) - len(text)))
        return rest

    return _first_right(wanted, path, by_tables, lambda: _by_tomlkit(text, path, items))


def _first_right(wanted: Tree, path: Keys, *ways: Callable[[], str]) -> str:
    """Return the first text that reads as wanted: a file is rather left alone than harmed.

    A table that lost its last line may be gone: TOML needs none to say that there is nothing.
    """
    for way in ways:
        try:
            text = way()
            if _without_empty(tomllib.loads(text), path) == _without_empty(wanted, path):
                return text
        except ValueError:
            continue
    raise UnfitTextError(0, "it is written in a way that cannot be changed safely")


def _without_empty(tree: Tree, path: Keys) -> Tree:
    for end in range(len(path), 0, -1):
        if trees.find(tree, path[:end]) in ({}, []):
            tree = trees.drop(tree, path[:end])
    return tree


def _by_tomlkit(text: str, path: Keys, value: object) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    place: Any = document
    for key in path[:-1]:
        place = place.setdefault(key, {})
    if value is trees.MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return tomlkit.dumps(document)


def _rendered(text: str, path: Keys, value: object) -> str:
    import tomlkit

    for key in reversed(path):
        value = {key: value}
    block = tomlkit.dumps(value)  # type: ignore[arg-type]  # a path has at least one key
    return block.replace("\n", _newline(text))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _added(text: str, block: str) -> str:
    newline = _newline(text)
    if text and not text.endswith("\n"):
        text += newline
    return text + newline + block if text else block


def _cut(text: str, table: _Table) -> str:
    """Take a table out, and the blank line before it unless that now parts two others."""
    head, tail = text[: table.start], text[table.end :]
    newline = _newline(text)
    if head.endswith(newline * 2) and (not tail or tail.startswith(newline)):
        head = head[: -len(newline)]
    return head + tail


def _moved(table: _Table, by: int) -> _Table:
    return _Table(table.path, table.is_item, table.start + by, table.end + by)


def _tables(text: str) -> Iterator[_Table]:
    header, start, end = "", 0, 0
    for line_start, line_end in _statements(text):
        statement = text[line_start:line_end]
        if statement.lstrip().startswith("["):
            if header:
                yield _table(header, start, end)
            header, start, end = statement, line_start, line_end
        elif not statement.lstrip().startswith("#") and statement.strip():
            end = line_end
    if header:
        yield _table(header, start, end)


def _table(header: str, start: int, end: int) -> _Table:
    """Return a table; its header is TOML by itself, so tomllib says which keys it names."""
    keys, tree = list[str](), tomllib.loads(header)
    while tree:
        key = next(iter(tree))
        keys.append(key)
        tree = tree[key][0] if isinstance(tree[key], list) else tree[key]
    return _Table(tuple(keys), header.lstrip().startswith("[["), start, end)


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield each line's start and end; a value that goes on over several lines is one line."""
    start, depth = 0, 0
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        elif word == "\n" and depth == 0:
            yield start, token.end()
            start = token.end()
    if start < len(text):
        yield start, len(text)
