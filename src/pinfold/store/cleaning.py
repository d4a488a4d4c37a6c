"""What a store is asked, without known secret shapes: names are cleaned as texts are, so equal ones stay equal.

A name that was cleaned when it was stored would never be found again by itself as it came. Source: P24.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pinfold.store.redaction import Redactor

T = TypeVar("T")


def cleaned(redactor: Redactor, asked: T) -> T:
    """Return a text, a caller or a command with every text in it redacted; of bytes, only what is said of them."""
    if redactor.is_plain(texts_in(asked)):
        return asked
    return cast(T, _cleaned(redactor, asked))


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text that `cleaned` would redact."""
    if isinstance(value, str):
        if not isinstance(value, Enum):
            yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts_in(each)
    else:
        for name in _parts(value.__class__):
            yield from texts_in(getattr(value, name))


@cache
def _parts(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _cleaned(redactor: Redactor, value: Any) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, Enum) else redactor.text(value).text
    if isinstance(value, tuple):
        return tuple(_cleaned(redactor, each) for each in value)
    if isinstance(value, Mapping):
        return {name: _cleaned(redactor, each) for name, each in value.items()}
    parts = _parts(value.__class__)
    if not parts:
        return value
    return replace(value, **{name: _cleaned(redactor, getattr(value, name)) for name in parts})
