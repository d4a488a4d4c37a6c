"""What is still known of the forgotten: that it was there, and when it went."""

from __future__ import annotations

import sqlite3

from pinfold.store.errors import NotFoundError
from pinfold.store.values import Pointer


def refuse_forgotten(db: sqlite3.Connection, pointer: Pointer) -> None:
    """Raise `NotFoundError` for what was forgotten; return for what never was."""
    row = db.execute(
        "SELECT at FROM forgotten WHERE letter = ? AND number = ?", (pointer.kind, pointer.number)
    ).fetchone()
    if row is not None:
        hint = "Nothing of it is left; go on without it."
        raise NotFoundError(str(pointer), f"it was forgotten on request on {row[0][:10]}", hint)
