"""What is written into the index of words for an entry; apart from `search`, which a write does not need."""

from __future__ import annotations

import sqlite3

from pinfold.store import words


def index_entry(db: sqlite3.Connection, entry_id: int, text: str) -> None:
    """Make an entry's text findable; its row in `entry` must exist."""
    db.execute(
        "INSERT INTO words (rowid, body, parts, tags) VALUES (?, ?, ?, ?)", _columns(db, entry_id, text)
    )


def unindex_entry(db: sqlite3.Connection, entry_id: int, text: str) -> None:
    """Take an entry out of the index: with the same text as it was put in, before its row in `entry` goes."""
    db.execute(
        "INSERT INTO words (words, rowid, body, parts, tags) VALUES ('delete', ?, ?, ?, ?)",
        _columns(db, entry_id, text),
    )


def _columns(db: sqlite3.Connection, entry_id: int, text: str) -> tuple[int, str, str, str]:
    kind, session = db.execute("SELECT kind, session FROM entry WHERE id = ?", (entry_id,)).fetchone()
    return entry_id, words.body(text), words.parts(text), f"{kind_tag(kind)} {session_tag(session)}"


def kind_tag(kind: str) -> str:
    """Return the word that stands in the index for a kind of entry."""
    return f"kind{kind.replace('_', '')}"


def session_tag(session: int) -> str:
    """Return the word that stands in the index for a session."""
    return f"session{session}"
