"""Bringing a store of an earlier schema up to this one: a backup, then all missing steps in one transaction.

Source: P15.
"""

from __future__ import annotations

import sqlite3

from pinfold.store.errors import NoSpaceError
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place, identity
from pinfold.store.sqlite.gate import Gate

STEPS: dict[int, tuple[str, ...]] = {
    2: (
        "ALTER TABLE artifact ADD COLUMN aside INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX artifact_shown ON artifact (number) WHERE aside = 0",
        "CREATE INDEX external_id ON external (external_id)",
        "CREATE TABLE transcript (path TEXT PRIMARY KEY, client TEXT NOT NULL, conversation TEXT NOT NULL,"
        " byte_offset INTEGER NOT NULL, head TEXT NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE INDEX transcript_conversation ON transcript (client, conversation)",
        "CREATE TABLE client_run (client TEXT NOT NULL, run TEXT NOT NULL, conversation TEXT NOT NULL,"
        " at TEXT NOT NULL, model TEXT, PRIMARY KEY (client, run)) STRICT, WITHOUT ROWID",
    ),
    3: (
        "CREATE TABLE forgotten (letter TEXT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL,"
        " PRIMARY KEY (letter, number)) STRICT, WITHOUT ROWID",
    ),
    4: (
        "CREATE INDEX artifact_large ON artifact (number) WHERE indexed_bytes > 750000",
        "CREATE INDEX miss_session ON miss (session, seq)",
        "CREATE TABLE answer (miss INTEGER PRIMARY KEY, seq INTEGER NOT NULL, pointer TEXT NOT NULL,"
        " how TEXT NOT NULL, search INTEGER) STRICT",
        "CREATE INDEX answer_pointer ON answer (pointer)",
        "CREATE TABLE alias (word TEXT NOT NULL, miss INTEGER NOT NULL, PRIMARY KEY (word, miss))"
        " STRICT, WITHOUT ROWID",
        "CREATE INDEX alias_miss ON alias (miss)",
    ),
    5: (
        "CREATE TABLE omission (session INTEGER NOT NULL, message INTEGER NOT NULL, seq INTEGER NOT NULL,"
        " how TEXT NOT NULL, PRIMARY KEY (session, message)) STRICT, WITHOUT ROWID",
    ),
}
"""By the schema that a step leads to: what it does to the one before."""


def is_old(db: sqlite3.Connection) -> bool:
    """Whether this file of ours was written by an earlier pinfold and has to be brought up first."""
    return 0 < identity(db)[1] < SCHEMA_VERSION


def bring_up(db: sqlite3.Connection, place: Place, gate: Gate) -> None:
    """Behind the gate, back the old file up and take every missing step; another process may have been first.

    Raises `NoSpaceError` or `DamagedError`, and leaves the file as it was, where no verified backup can be made.
    """
    with gate.hold():
        if is_old(db):
            _keep(place)
            upgrade(db)


def _keep(place: Place) -> None:
    """Back up the old file, unless an upgrade that was cut short has left a backup of this very state."""
    from pinfold.store.sqlite.backing_up import back_up_checked, standing

    if standing(place) is not None:
        return
    try:
        back_up_checked(place)
    except NoSpaceError as error:
        error.hint = (
            "An earlier pinfold's store is backed up before it is brought up to date: free as much as it has"
            " and start again."
        )
        raise


def upgrade(db: sqlite3.Connection) -> None:
    """Take every missing step, all or none."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for version in range(identity(db)[1] + 1, SCHEMA_VERSION + 1):
            for statement in STEPS[version]:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
