"""A scrub that is owed: something was forgotten, and may still stand where no table uses the room any more."""

from __future__ import annotations

from pinfold.store.sql.database import Database
from pinfold.store.sql.transaction import Transaction

OWED = "scrub_owed"


def owe(tx: Transaction) -> None:
    """Remember, in the transaction that forgets, that the files are still to be scrubbed."""
    tx.db.execute(
        "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (OWED, tx.at.encode()),
    )


def is_owed(db: Database) -> bool:
    """Whether something was forgotten and may still stand in a page that no table uses."""
    return db.execute("SELECT 1 FROM meta WHERE name = ?", (OWED,)).fetchone() is not None
