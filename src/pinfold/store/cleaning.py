"""What a store is asked, without known secret shapes: names are cleaned as texts are, so equal ones stay equal.

A name that was cleaned when it was stored would never be found again by itself as it came. Source: P24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from pinfold.store.redaction import Redactor

T = TypeVar("T")


def cleaned(redactor: Redactor, asked: T) -> T:
    """Return a text, a caller or a command with every text in it redacted; of bytes, only what is said of them."""
    return cast(T, _cleaned(redactor, asked))


def _cleaned(redactor: Redactor, value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Enum):
        return redactor.text(value).text
    if isinstance(value, tuple):
        return tuple(_cleaned(redactor, each) for each in value)
    if isinstance(value, Mapping):
        return {name: _cleaned(redactor, each) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: _cleaned(redactor, part) for name, part in parts.items()})
    return value
