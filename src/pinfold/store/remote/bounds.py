"""What a caller over HTTP may ask of a store at most: a tool checks that before it makes a command, a stranger may not.

Twice the limits of `values` pass: what replaces a secret may be longer than it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pinfold.store.commands import CheckpointState, PinDecision, SearchHistory, SpillArtifact
from pinfold.store.errors import InvalidInputError, TooLargeError
from pinfold.store.values import (
    MAX_ITEM_CHARS,
    MAX_KEY_CHARS,
    MAX_LABEL_CHARS,
    MAX_PATH_CHARS,
    MAX_PIN_CHARS,
    MAX_WHY_CHARS,
    Caller,
)

_SLACK = 2
_HITS = 50
_LISTED = 5_000
"""More than the specifics of the longest pin can be."""

_CHARS: Mapping[type, Mapping[str, int]] = {
    Caller: {
        "client": MAX_LABEL_CHARS,
        "conversation": MAX_LABEL_CHARS,
        "head": MAX_KEY_CHARS,
        "branch": MAX_PATH_CHARS,
    },
    PinDecision: {"text": MAX_PIN_CHARS, "why": MAX_WHY_CHARS, "key": MAX_KEY_CHARS},
    SpillArtifact: {
        "label": MAX_LABEL_CHARS,
        "source": MAX_LABEL_CHARS,
        "path": MAX_PATH_CHARS,
        "key": MAX_KEY_CHARS,
    },
    CheckpointState: {"goal": MAX_ITEM_CHARS, "next_step": MAX_ITEM_CHARS, "key": MAX_KEY_CHARS},
}
_LISTS = (PinDecision, CheckpointState)
"""Commands whose lists are short, and so is each text in them."""


def check_bounds(asked: Any) -> None:
    """Check the arguments of a verb. Raises `TooLargeError`, `InvalidInputError`."""
    for each in _commands(asked):
        for name, limit in _CHARS.get(type(each), {}).items():
            _check(name, getattr(each, name), limit)
        if isinstance(each, _LISTS):
            _check_lists(each)
        if isinstance(each, SearchHistory) and not 1 <= each.limit <= _HITS:
            raise InvalidInputError("`limit` is out of range.", f"Ask for 1 to {_HITS}.")


def _commands(value: Any) -> Iterator[Any]:
    """Yield every dataclass in an argument, the outer ones first."""
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _commands(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from _commands(getattr(value, field.name))


def _check_lists(command: PinDecision | CheckpointState) -> None:
    for field in fields(command):
        listed = getattr(command, field.name)
        if isinstance(listed, tuple):
            if len(listed) > _LISTED:
                raise TooLargeError(
                    f"`{field.name}`", len(listed), _LISTED, unit="items", hint="Leave some out."
                )
            for each in listed:
                _check(field.name, each, MAX_PATH_CHARS)


def _check(name: str, text: Any, limit: int) -> None:
    if not isinstance(text, str):
        return
    if len(text) > _SLACK * limit:
        raise TooLargeError(f"`{name}`", len(text), limit, unit="characters", hint="Shorten it.")
    if "\0" in text:
        raise InvalidInputError(f"`{name}` holds a NUL.", "Leave it out.")
