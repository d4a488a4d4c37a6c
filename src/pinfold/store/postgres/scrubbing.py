"""The scrub: every table is written anew, so that nothing of what was forgotten is left in a page of one.

What the database's own log, its replicas and its backups hold is for those who run it. Source: docs/decisions/0018.
"""

from __future__ import annotations

import re
from typing import Any

import psycopg

from pinfold.store import Progress
from pinfold.store.forgetting import Scrubbed
from pinfold.store.sql.forgetting.owing import OWED

_TABLES = (
    "SELECT oid::regclass::text, pg_has_role(relowner, 'USAGE') FROM pg_class"
    " WHERE relnamespace = 'pinfold'::regnamespace AND relkind = 'r' ORDER BY 1"
)
_SIZE = (
    "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
    " WHERE relnamespace = 'pinfold'::regnamespace AND relkind = 'r'"
)
_WAIT_MS = 10_000
_TRIES = 5
"""A process that just begins to connect counts as a reader for a moment."""

_NOT_OURS = "only the owner of the tables can write them anew: open the store once as that role, and scrub"
_A_READER = "somebody is reading the database; what they may still see stays until they have ended"


def scrub(db: psycopg.Connection[Any], project: int, progress: Progress | None = None) -> Scrubbed:
    """Write all tables of the database anew; everybody waits meanwhile, and it takes the room of the largest again.

    A table that somebody else holds for longer than `_WAIT_MS` is an error of the driver that says so.
    """
    tables = db.execute(_TABLES).fetchall()
    before = _size_of(db)
    db.execute(f"SET lock_timeout = {_WAIT_MS}")
    if not all(is_ours for _, is_ours in tables):
        return Scrubbed(before, before, _NOT_OURS)
    for done, (table, _) in enumerate(tables):
        if progress is not None:
            progress(done, len(tables))
        if not any(_written_anew(db, table) for _ in range(_TRIES)):
            return Scrubbed(before, _size_of(db), _A_READER)
    with db.transaction():
        db.execute(f"SET LOCAL pinfold.project = {project}")
        db.execute("DELETE FROM pinfold.meta WHERE name = %s", (OWED,))
    return Scrubbed(before, _size_of(db))


def _written_anew(db: psycopg.Connection[Any], table: str) -> bool:
    """Write a table anew; False where PostgreSQL tells of dead rows that somebody may still see."""
    kept: list[int] = []

    def heed(notice: psycopg.errors.Diagnostic) -> None:
        kept.extend(int(number) for number in re.findall(r"\d+", notice.message_detail or "")[:1])

    db.add_notice_handler(heed)
    try:
        db.execute(f"VACUUM (FULL, ANALYZE, VERBOSE) {table}")
    finally:
        db.remove_notice_handler(heed)
    return not any(kept)


def _size_of(db: psycopg.Connection[Any]) -> int:
    """Return how much room all projects take together, in bytes."""
    return int(db.execute(_SIZE).fetchone()[0] or 0)  # type: ignore[index]
