"""What is to stand in a client's configuration: members of objects, items of arrays, and the files they go into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

NAME = "pinfold"
Scope = Literal["user", "project"]
Keys: TypeAlias = tuple[str, ...]
Tree: TypeAlias = dict[str, Any]

_OUR_HOOK = re.compile(r"\bpinfold\S*\s+hook\s")
_STORE = "PINFOLD_HOME"


class UnfitTextError(Exception):
    """A configuration cannot be read, or not be changed without harm. `line` counts from 1; 0: no one line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Member:
    """The server's entry, a member of an object. `env` is the key that holds its environment."""

    path: Keys
    value: Tree
    env: str = "env"

    @property
    def address(self) -> str | None:
        """Where the server is, if it is reached over HTTP."""
        return address_in(self.value)

    def merged(self, former: object) -> Tree:
        """Return what is to stand where `former` stands: our values, and what a person added to a local server.

        The store's place is ours alone: a former one must not outlive the hooks that lead elsewhere.
        """
        if not isinstance(former, dict) or "command" not in former or self.address is not None:
            return self.value
        kept = former.get(self.env)
        env = {name: word for name, word in kept.items() if name != _STORE} if isinstance(kept, dict) else {}
        env |= self.value.get(self.env, {})
        merged = {**former, **self.value}
        if self.env in merged:
            merged[self.env] = env
        return merged


def address_in(server: object) -> str | None:
    """Return the address in a server's entry, by whichever name a client has for it."""
    if not isinstance(server, Mapping):
        return None
    return next((str(server[name]) for name in ("url", "httpUrl") if name in server), None)


@dataclass(frozen=True, slots=True)
class Item:
    """An item of an array: a permission rule, or a group of hooks."""

    path: Keys
    value: str | Tree

    def owns(self, other: object) -> bool:
        """Say whether an item is ours, of this version or an earlier one: equal, or all its hooks call pinfold."""
        if other == self.value:
            return True
        hooks = other.get("hooks") if isinstance(other, Mapping) else None
        return isinstance(hooks, list) and bool(hooks) and all(map(_is_our_hook, hooks))


def _is_our_hook(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, Mapping) else None
    return isinstance(command, str) and _OUR_HOOK.search(command) is not None


Entry = Member | Item


class Syntax(Protocol):
    """How one kind of configuration is read and changed, text to text; all else in it stays as it is.

    Every path leads through objects. All raise `UnfitTextError`.
    """

    def read(self, text: str) -> Tree:
        """Return the whole configuration, to be looked at only; that of an empty file is empty."""

    def put(self, text: str, path: Keys, value: object) -> str:
        """Set a member, with the objects around it where they are missing; the same text where it stands so."""

    def drop(self, text: str, path: Keys) -> str:
        """Remove a member that is there."""

    def append(self, text: str, path: Keys, value: object) -> str:
        """Add an item to an array, which is made where it is missing."""

    def drop_item(self, text: str, path: Keys, index: int) -> str:
        """Remove an item that is there."""


@dataclass(frozen=True, slots=True)
class Target:
    """One file and all that goes into it. A `syntax` is one of the modules `json_text`, `toml_text`.

    `strict_for` names a client that itself reads the file only as plain JSON.
    """

    path: Path
    syntax: Syntax
    entries: Sequence[Entry]
    strict_for: str = ""


@dataclass(frozen=True, slots=True)
class Registration:
    """All of one client in one scope, and what a person has to do afterwards, a sentence each."""

    targets: tuple[Target, ...]
    next_steps: tuple[str, ...]
