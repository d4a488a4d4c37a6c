"""Changing JSON with comments in place: only the characters of the change itself move (decision 0009)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from pinfold.server.install import trees
from pinfold.server.install.entries import Keys, Tree, UnfitTextError
from pinfold.server.install.json_tree import Child, Node, parse

_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*(\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class _Style:
    """How the file is written: `unit` of indentation, None for a file on one line."""

    newline: str
    unit: str | None

    @classmethod
    def of(cls, text: str, root: Node) -> _Style:
        newline = "\r\n" if "\r\n" in text else "\n"
        if not root.children:
            return cls(newline, "  ")
        first = root.children[0].start
        if "\n" not in text[root.start : root.end]:
            return cls(newline, None)
        return cls(newline, _indent_if_first(text, first) or "  ")

    def render(self, value: object, indent: str | None) -> str:
        """Return a value as text; `indent` is that of its line, None where it stays on that line."""
        if indent is None:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit or "  ").split("\n")
        return f"{self.newline}{indent}".join(lines)


def read(text: str) -> Tree:
    """Return the whole configuration."""
    root = parse(text)
    return {} if root is None else dict(root.value)


def put(text: str, path: Keys, value: object) -> str:
    """Set a member, with the objects around it where they are missing."""
    tree, root = read(text), parse(text)
    if trees.find(tree, path) == value:
        return text
    wanted = trees.put(tree, path, value)
    if root is None:
        return _sure(_begin(text, path, value), wanted)
    style, node = _Style.of(text, root), root
    for depth, key in enumerate(path):
        child = node.child(key)
        if child is None:
            return _sure(_insert(text, node, key, _nested(path[depth + 1 :], value), style), wanted)
        inline, node = _is_inline(text, node), child.node
    indent = None if inline else _indent(text, node.start)
    return _sure(text[: node.start] + style.render(value, indent) + text[node.end :], wanted)


def drop(text: str, path: Keys) -> str:
    """Remove a member that is there."""
    wanted = trees.drop(read(text), path)
    node = _node(text, path[:-1])
    places = [place for place, child in enumerate(node.children) if child.key == path[-1]]
    if len(places) != 1:
        raise UnfitTextError(0, f"{path[-1]!r} stands there more than once")
    return _sure(_remove(text, node, places[0]), wanted)


def append(text: str, path: Keys, value: object) -> str:
    """Add an item to an array, which is made where it is missing."""
    tree, root = read(text), parse(text)
    if root is None or trees.find(tree, path) is trees.MISSING:
        return put(text, path, [value])
    changed = _insert(text, _node(text, path), None, value, _Style.of(text, root))
    return _sure(changed, trees.append(tree, path, value))


def drop_item(text: str, path: Keys, index: int) -> str:
    """Remove an item that is there."""
    wanted = trees.drop_item(read(text), path, index)
    return _sure(_remove(text, _node(text, path), index), wanted)


def _sure(text: str, wanted: Tree) -> str:
    """Return `text` if it reads as wanted: a file is rather left alone than harmed."""
    if read(text) != wanted:
        raise UnfitTextError(0, "it is written in a way that cannot be changed safely")
    return text


def _node(text: str, path: Keys) -> Node:
    node = parse(text)
    for key in path:
        child = node.child(key) if node else None
        node = child.node if child else None
    assert node is not None, "callers look first"
    return node


def _nested(path: Keys, value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _begin(text: str, path: Keys, value: object) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = newline if text and not text.endswith("\n") else ""
    return text + gap + _Style(newline, "  ").render(_nested(path, value), "") + newline


def _insert(text: str, node: Node, key: str | None, value: object, style: _Style) -> str:
    """Add a last child behind all that stands in the container, comments included."""
    last = node.children[-1] if node.children else None
    begin = last.end if last else node.start + 1
    cut, in_comment = _after_comments(text, begin, node.end - 1)
    indent = _child_indent(text, node, style)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    gap = " " if last else ""
    if indent is not None or in_comment:
        gap = style.newline + (indent or "")
    new = gap + name + style.render(value, indent)
    if last and last.comma is not None:
        new += ","
    rest = text[cut:]
    if not last and indent is not None and "\n" not in text[cut : node.end - 1]:
        rest = style.newline + _indent(text, node.start) + text[node.end - 1 :]
    comma = "," if last and last.comma is None else ""
    before = text[: last.node.end] + comma + text[last.node.end : cut] if last else text[:cut]
    return before + new + rest


def _remove(text: str, node: Node, index: int) -> str:
    """Take a child out with the blanks before it; comments stay. An emptied container closes up."""
    child, former = node.children[index], node.children[index - 1] if index else None
    begin = former.end if former else node.start + 1
    left = begin + len(text[begin : child.start].rstrip())
    if _after_comments(text, begin, left)[1] and not _LINE_END.match(text, child.end):
        left = text.index("\n", left) + 1
    head, tail = text[:left], text[child.end :]
    if former and former.comma is not None and child.comma is None:
        head = head[: former.comma] + head[former.comma + 1 :]
    if len(node.children) == 1:
        inside = head[node.start + 1 :] + text[child.end : node.end - 1]
        if not inside.strip():
            return text[: node.start + 1] + text[node.end - 1 :]
    return head + tail


def _after_comments(text: str, begin: int, end: int) -> tuple[int, bool]:
    """Return where the last comment between two children ends (`begin` without one), and whether a line ends it."""
    comments = list(_COMMENT.finditer(text, begin, end))
    if not comments:
        return begin, False
    return comments[-1].end(), comments[-1].group().startswith("//")


def _is_inline(text: str, node: Node) -> bool:
    return bool(node.children) and "\n" not in text[node.start : node.children[0].start]


def _child_indent(text: str, node: Node, style: _Style) -> str | None:
    """Return the indentation of a further child, None where children follow each other on one line."""
    if style.unit is None or _is_inline(text, node):
        return None
    first: Child | None = node.children[0] if node.children else None
    found = _indent_if_first(text, first.start) if first else None
    return _indent(text, node.start) + style.unit if found is None else found


def _indent_if_first(text: str, position: int) -> str | None:
    """Return what stands before `position` in its line, if that is only blanks."""
    before = text[text.rfind("\n", 0, position) + 1 : position]
    return before if not before.strip() else None


def _indent(text: str, position: int) -> str:
    """Return the blanks that begin the line of `position`."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]
