"""Checks of single arguments: each reads one value strictly and describes it in the input schema.

They raise `PinfoldError` straight through pydantic, so none of its wording reaches a caller.
Source: design 2, common rules.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from pinfold.store.errors import InvalidInputError, TooLargeError
from pinfold.store.values import MAX_ITEM_CHARS, MAX_ITEMS, MAX_KEY_CHARS, MAX_PATH_CHARS, PointerKind
from pinfold.tools.pointers import parse_pointer, quote

_WHOLE = re.compile(r"\s*\+?\d{1,12}\s*", re.ASCII)
_UNMET = 10**9
_UNFIT = re.compile("[\ud800-\udfff\0]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Check(ABC):
    """Reads one argument and describes it. `takes_null` and `takes_empty` say what means "not given"."""

    takes_null = True
    takes_empty = True

    def is_kept(self) -> bool:
        """Whether its text may be stored, so that known secret shapes are replaced first."""
        return False

    @abstractmethod
    def read(self, name: str, value: object) -> object:
        """Return the value as the tool uses it; raises `InvalidInputError` or `TooLargeError`."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let `read` be the whole validation of the field."""

        def checked(value: object, field: core_schema.ValidationInfo) -> object:
            return self.read(field.field_name or "argument", value)

        return core_schema.with_info_plain_validator_function(checked)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the field by `schema` alone."""
        return self.schema()


@dataclass(frozen=True, slots=True)
class Text(Check):
    """Text of 1 to `limit` characters that is not blank, kept exactly as given; no NUL, no lone surrogate."""

    limit: int
    advice: str = "Shorten it, or spill it and give the pointer."

    def is_kept(self) -> bool:
        """Whether it may be stored: yes."""
        return True

    def read(self, name: str, value: object) -> str:
        """Return the text unchanged."""
        if not isinstance(value, str):
            raise InvalidInputError(f"`{name}` must be text, not {quote(value)}.", "Send it as a string.")
        if not value.strip():
            raise InvalidInputError(f"`{name}` is empty.", "Give at least one visible character.")
        if len(value) > self.limit:
            raise TooLargeError(f"`{name}`", len(value), self.limit, unit="characters", hint=self.advice)
        if found := _UNFIT.search(value):
            what = "a NUL" if found[0] == "\0" else "half of a surrogate pair"
            raise InvalidInputError(f"`{name}` holds {what} at character {found.start()}.", "Leave it out.")
        return value

    def schema(self) -> dict[str, Any]:
        """Describe it as a string; the limit is said where a model would hit it, in the description."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Query(Text):
    """Text that only asks and is never stored as content; redacting it would change what is asked."""

    def is_kept(self) -> bool:
        """Whether it may be stored: no."""
        return False


@dataclass(frozen=True, slots=True)
class Content(Check):
    """Text to be spilled: anything that UTF-8 can carry, NUL and blanks included; the tool refuses an empty one."""

    takes_empty = False

    def read(self, name: str, value: object) -> str:
        """Return the text unchanged."""
        if not isinstance(value, str):
            raise InvalidInputError(f"`{name}` must be text, not {quote(value)}.", "Send it as a string.")
        if found := _SURROGATE.search(value):
            where = f"half of a surrogate pair at character {found.start()}"
            raise InvalidInputError(
                f"`{name}` holds {where}.", "Write the output to a file and spill its path."
            )
        return value

    def schema(self) -> dict[str, Any]:
        """Describe it as a string."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Whole(Check):
    """A whole number from `low` to `high`; the same in digits as a string is accepted."""

    low: int
    high: int
    prefix: str = ""
    takes_null = False

    def read(self, name: str, value: object) -> int:
        """Return the number."""
        number = self._number(value)
        if number is None or not self.low <= number <= self.high:
            accepted = f"Give a whole number from {self.low:,} to {self.high:,}."
            raise InvalidInputError(f"`{name}` cannot be {quote(value)}.", accepted)
        return number

    def _number(self, value: object) -> int | None:
        if isinstance(value, str):
            digits = value.strip().removeprefix(self.prefix)
            return int(digits) if _WHOLE.fullmatch(digits) else None
        if isinstance(value, float) and value.is_integer():
            return int(value)  # JSON knows one kind of number
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def schema(self) -> dict[str, Any]:
        """Describe it as an integer with its range; bounds that go without saying are left out."""
        bounds = {"minimum": self.low} if self.low > 1 else {}
        return {"type": "integer"} | bounds | ({"maximum": self.high} if self.high < _UNMET else {})


@dataclass(frozen=True, slots=True)
class Flag(Check):
    """True or false, also spelled as a string."""

    def read(self, name: str, value: object) -> bool:
        """Return the truth value."""
        spelled = value.strip().lower() if isinstance(value, str) else value
        if spelled in ("true", "false"):
            return spelled == "true"
        if isinstance(spelled, bool):
            return spelled
        raise InvalidInputError(f"`{name}` cannot be {quote(value)}.", "Give true or false.")

    def schema(self) -> dict[str, Any]:
        """Describe it as a boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Choice(Check):
    """One of a few words, in any letter case."""

    options: tuple[str, ...]

    def read(self, name: str, value: object) -> str:
        """Return the option."""
        word = value.strip().lower() if isinstance(value, str) else ""
        if word in self.options:
            return word
        accepted = f"Give one of {', '.join(self.options)}."
        raise InvalidInputError(f"`{name}` cannot be {quote(value)}{meant(word, self.options)}", accepted)

    def schema(self) -> dict[str, Any]:
        """Describe it by its options."""
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class PointerTo(Check):
    """A pointer of one kind, in any accepted spelling."""

    kind: PointerKind

    def read(self, name: str, value: object) -> object:
        """Return the `Pointer`."""
        return parse_pointer(value, self.kind, f"`{name}`")

    def schema(self) -> dict[str, Any]:
        """Describe it as a string."""
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Items(Check):
    """A list of what `each` reads. One string stands for one item, a JSON list in a string for that list."""

    each: Check
    limit: int = MAX_ITEMS

    def is_kept(self) -> bool:
        """Whether its items may be stored."""
        return self.each.is_kept()

    def read(self, name: str, value: object) -> tuple[object, ...]:
        """Return the items in order."""
        items = _listed(value)
        if items is None:
            raise InvalidInputError(f"`{name}` must be a list of strings, not {quote(value)}.", 'Send ["…"].')
        if len(items) > self.limit:
            raise TooLargeError(f"`{name}`", len(items), self.limit, unit="items", hint="Merge or drop some.")
        return tuple(self.each.read(f"{name}[{place}]", item) for place, item in enumerate(items))

    def schema(self) -> dict[str, Any]:
        """Describe it as an array."""
        return {"type": "array", "items": self.each.schema()}


LINES = Items(Text(MAX_ITEM_CHARS, advice="Split it, or spill it and give the pointer."))
"""A list of one-line items."""

PATHS = Items(Text(MAX_PATH_CHARS, advice="Give a path."))
"""A list of paths, as names; nothing is read."""


KEY = Text(MAX_KEY_CHARS, advice="Shorten it.")
"""The idempotency key of a write."""


def _listed(value: object) -> list[object] | tuple[object, ...] | None:
    if isinstance(value, list | tuple):
        return value
    if not isinstance(value, str):
        return None
    if value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return [value]
        if isinstance(parsed, list):
            return parsed
    return [value]


def meant(word: str, names: tuple[str, ...]) -> str:
    """Return how the sentence ends: with the name that was probably meant, where one is near."""
    from difflib import get_close_matches

    near = get_close_matches(word[:60], names, n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else "."
