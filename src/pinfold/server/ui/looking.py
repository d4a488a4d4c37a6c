"""One look at a page: what the address asks for, and what a page is made of."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pinfold.store import Store
from pinfold.store.errors import InvalidInputError

T = TypeVar("T")
PAGE = 50
_MOST_DIGITS = 15
NAME = re.compile(r"([PACHFSs])([1-9][0-9]{0,14})")
"""What has a page of its own by a letter and a number: pointers and, in lower case, sessions."""


def is_number(text: str) -> bool:
    """Whether a text is a whole number, and no longer than those of the log."""
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


@dataclass(frozen=True, slots=True)
class Look:
    """One request: a store that can only be read, the number in the address, and what stands behind its `?`."""

    store: Store
    number: int
    given: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return what was given under a name, "" for nothing."""
        return self.given.get(name, "").strip()

    def whole(self, name: str) -> int | None:
        """Return a whole number that was given, None for nothing; raises `InvalidInputError`."""
        text = self.text(name)
        if not text:
            return None
        if not is_number(text):
            raise InvalidInputError(f"“{name}” in the address is no number.", "Go back to the listing.")
        return int(text)


@dataclass(frozen=True, slots=True)
class Page:
    """A page to be: its template, its title, what it shows, its part of the navigation, the status of the answer."""

    template: str
    title: str
    facts: Mapping[str, Any]
    section: str = ""
    has_charts: bool = False
    status: int = 200


Show = Callable[[Look], Awaitable[Page]]


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A page of a listing, newest first; `older` is behind which number the next one begins, if there is one."""

    shown: tuple[T, ...]
    older: int | None
    is_newest: bool


async def part(
    read: Callable[[int | None, int], Awaitable[tuple[T, ...]]], look: Look, number: Callable[[T], int]
) -> Part[T]:
    """Return the part of a listing that a look asks for with `before`."""
    before = look.whole("before")
    found = await read(before, PAGE + 1)
    shown = found[:PAGE]
    return Part(shown, number(shown[-1]) if len(found) > PAGE else None, before is None)
