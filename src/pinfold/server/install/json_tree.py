"""JSON with comments and trailing commas, read into values that know where in the text they stand."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pinfold.server.install.entries import UnfitTextError

_DEPTH = 200
_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
    |(?P<word>[-+.\w]+)
    |(?P<mark>[{}\[\],:])""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Child:
    """A member (`key` is a text) or an item (None). `start` is that of its key; `comma` where its comma stands."""

    key: str | None
    start: int
    node: Node
    comma: int | None

    @property
    def end(self) -> int:
        """Where it ends, with its comma."""
        return self.node.end if self.comma is None else self.comma + 1


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place in the text; `children` of an object or array, in order."""

    value: Any
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def child(self, key: str) -> Child | None:
        """Return the member that counts: the last one of that name."""
        return next((child for child in reversed(self.children) if child.key == key), None)


@lru_cache(maxsize=4)  # one change asks several times, and a file of Claude Code has megabytes
def parse(text: str) -> Node | None:
    """Return the root, an object; None where there is nothing but blanks and comments. Nobody changes it.

    Raises `UnfitTextError` with the line.
    """
    reader = _Reader(text)
    if reader.kind == "end":
        return None
    root = reader.value(0)
    if reader.kind != "end":
        raise reader.unfit("more text after the end of the object")
    if not isinstance(root.value, dict):
        raise UnfitTextError(1, "the file holds no object")
    return root


def _refuse(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity, which Python would take


class _Reader:
    """One token ahead, gaps left out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = ""
        self.start = self.end = 0
        self.advance()

    def advance(self) -> None:
        self.kind = "gap"
        while self.kind == "gap":
            self.start = self.end
            if self.start == len(self.text):
                self.kind = "end"
                return
            match = _TOKEN.match(self.text, self.start)
            if match is None:
                raise self.unfit("something that is not JSON")
            self.kind, self.end = str(match.lastgroup), match.end()

    def unfit(self, reason: str) -> UnfitTextError:
        return UnfitTextError(self.text.count("\n", 0, self.start) + 1, reason)

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.text[self.start] == mark

    def expect(self, mark: str) -> None:
        if not self.is_mark(mark):
            found = "the end of the file" if self.kind == "end" else "something else"
            raise self.unfit(f"a {mark!r} is missing, {found} stands there")
        self.advance()

    def value(self, depth: int) -> Node:
        if depth > _DEPTH:
            raise self.unfit(f"more than {_DEPTH} levels")
        if self.is_mark("{"):
            return self.container("}", depth)
        if self.is_mark("["):
            return self.container("]", depth)
        return self.scalar()

    def scalar(self) -> Node:
        start, end = self.start, self.end
        try:
            value = json.loads(self.text[start:end], parse_constant=_refuse)
        except ValueError:
            raise self.unfit("a value is missing or is not JSON") from None
        self.advance()
        return Node(value, start, end)

    def container(self, close: str, depth: int) -> Node:
        start, children = self.start, list[Child]()
        self.advance()
        while not self.is_mark(close):
            children.append(self.child(close, depth))
        end = self.end
        self.advance()
        keyed = {str(child.key): child.node.value for child in children}
        items = [child.node.value for child in children]
        return Node(keyed if close == "}" else items, start, end, tuple(children))

    def child(self, close: str, depth: int) -> Child:
        start, key = self.start, None
        if close == "}":
            if self.kind != "string":
                raise self.unfit("a key in double quotes is missing")
            key = self.scalar().value
            self.expect(":")
        node = self.value(depth + 1)
        comma = self.start if self.is_mark(",") else None
        if comma is None and not self.is_mark(close):
            self.expect(",")
        elif comma is not None:
            self.advance()
        return Child(key, start, node, comma)
