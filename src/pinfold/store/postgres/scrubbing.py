"""The scrub: every table is written anew, so that nothing of what was forgotten is left in a page of one.

What the database's own log, its replicas and its backups hold is for those who run it. Source: docs/decisions/0020.
"""

from __future__ import annotations

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
_READERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"
    " AND datname = current_database() AND backend_type = 'client backend'"
)
_NOT_OURS = "only the owner of the tables can write them anew: open the store once as that role, and scrub"
_A_READER = "somebody is reading the database; what they may still see stays until they have ended"


def scrub(db: psycopg.Connection[Any], project: int, progress: Progress | None = None) -> Scrubbed:
    """Write all tables of the database anew; everybody waits meanwhile, and it takes the room of the largest again."""
    tables = db.execute(_TABLES).fetchall()
    before = size_of(db)
    if not all(is_ours for _, is_ours in tables):
        return Scrubbed(before, before, _NOT_OURS)
    for done, (table, _) in enumerate(tables):
        if progress is not None:
            progress(done, len(tables))
        db.execute(f"VACUUM (FULL, ANALYZE) {table}")
    if db.execute(_READERS).fetchone()[0]:  # type: ignore[index]
        return Scrubbed(before, size_of(db), _A_READER)
    with db.transaction():
        db.execute(f"SET LOCAL pinfold.project = {project}")
        db.execute("DELETE FROM pinfold.meta WHERE name = %s", (OWED,))
    return Scrubbed(before, size_of(db))


def size_of(db: psycopg.Connection[Any]) -> int:
    """Return how much room all projects take together, in bytes."""
    return int(db.execute(_SIZE).fetchone()[0] or 0)  # type: ignore[index]
