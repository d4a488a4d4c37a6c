"""A clock that stands, jumps and repeats itself, where a transaction reads the time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from pinfold.store.sql import transaction

DECADE = timedelta(days=3_652)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SUMMER_ENDS = datetime(2026, 10, 25, 1, tzinfo=UTC)
"""When clocks in Europe are put back from three to two."""


class Clock:
    """Shows what `shows` says: the same until it is set anew."""

    def __init__(self) -> None:
        self.shows = NOON

    def now(self, zone: Any) -> datetime:
        return self.shows.astimezone(zone)


@contextmanager
def clock() -> Iterator[Clock]:
    """Let every transaction of this process read the time from one clock."""
    shown = Clock()
    with patch.object(transaction, "datetime", shown):
        yield shown
