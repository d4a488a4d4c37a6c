"""What was stored can be read again, or it is damaged: whoever wrote it made all of it readable. Source: P5."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pinfold.store.errors import DamagedError

P = ParamSpec("P")
T = TypeVar("T")


def readable(table: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let what turns a row of `table` into something raise `DamagedError` where the row does not hold that."""

    def checking(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def checked(*row: P.args, **more: P.kwargs) -> T:
            try:
                return read(*row, **more)
            except (TypeError, ValueError, LookupError, AttributeError):
                raise DamagedError(f"A row of the table {table}") from None  # its cause would quote the row

        return checked

    return checking
