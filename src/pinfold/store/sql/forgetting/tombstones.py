"""What is still known of the forgotten: that it was there, and when it went."""

from __future__ import annotations

from pinfold.store.errors import NotFoundError
from pinfold.store.sql.database import Database


def refuse_forgotten(db: Database, letter: str, number: int) -> None:
    """Raise `NotFoundError` for what was forgotten; return for what never was."""
    row = db.execute("SELECT at FROM forgotten WHERE letter = ? AND number = ?", (letter, number)).fetchone()
    if row is not None:
        hint = "Nothing of it is left; go on without it."
        raise NotFoundError(f"{letter}{number}", f"it was forgotten on request on {row[0][:10]}", hint)
