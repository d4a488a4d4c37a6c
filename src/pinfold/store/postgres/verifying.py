"""`verify` and what a rebuild would change: the log, the bytes, and all that is derived, in one snapshot.

The views are derived anew into temporary tables of the same names, which stand before the real ones: nothing of the
project is touched, and nobody waits. Source: P10, P16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from pinfold.store import Progress
from pinfold.store.postgres.database import PostgresDatabase
from pinfold.store.postgres.link import for_project
from pinfold.store.results import VerifyReport
from pinfold.store.sql.auditing import MOST_PROBLEMS, LogAudit, digest_of_rows, part, stale_problems
from pinfold.store.sql.checking_bytes import check_bytes
from pinfold.store.sql.rebuilding import INDEX, VIEWS, count, rebuild
from pinfold.store.sqlite.lexemes import Lexer
from pinfold.store.values import Receipt

_CHAIN, _BYTES = 30, 50
"""Where each part of the work ends, in hundredths of all of it."""

_TABLES = (*VIEWS, *INDEX, "words", "posting")
_PLACED = "(SELECT id, row_number() OVER (ORDER BY id) AS place FROM {0}.entry) AS placed"
_INDEX = (
    "SELECT place, seq, pointer, chunk, kind, session, at, ref FROM {0}.entry JOIN {1} USING (id) ORDER BY place",
    "SELECT name, path, place FROM {0}.entry_path LEFT JOIN {1} ON id = entry ORDER BY 1, 2, 3",
    "SELECT place, body, parts, size FROM {0}.words LEFT JOIN {1} USING (id) ORDER BY place",
    "SELECT token, array_agg(place ORDER BY place) FROM {0}.posting CROSS JOIN unnest(entries) AS held (id)"
    " LEFT JOIN {1} USING (id) GROUP BY token ORDER BY token",
)
"""Entries, their paths and words, and who holds each word; numbered by order, as their ids may have gaps."""


class Verification:
    """One look at a project; for one thread."""

    def __init__(self, project: int, progress: Progress | None) -> None:
        self._project = project
        self._progress = progress

    def report(self, link: psycopg.Connection[Any], receipts: Sequence[Receipt]) -> VerifyReport:
        """Check everything; see `Store.verify`."""
        with self._begun(link) as db:
            log = LogAudit(db)
            log.check_chain(part(self._progress, 0, _CHAIN))
            is_sound = not log.problems
            log.check_receipts(receipts)
            log.problems.extend(check_bytes(db, part(self._progress, _CHAIN, _BYTES)))
            events, artifacts = (count(db, table) for table in ("event", "artifact"))
            if is_sound:
                log.problems += stale_problems(self._differences(db, part(self._progress, _BYTES, 100)))
        return VerifyReport(events, artifacts, tuple(log.problems[:MOST_PROBLEMS]), log.tip, tuple(log.held))

    def stale(self, link: psycopg.Connection[Any]) -> tuple[str, ...]:
        """Return what a rebuild would change; see `Store.stale_views`."""
        with self._begun(link) as db:
            return tuple(self._differences(db, self._progress))

    @contextmanager
    def _begun(self, link: psycopg.Connection[Any]) -> Iterator[PostgresDatabase]:
        """Take one snapshot, of which nothing stays."""
        with closing(Lexer()) as lexer, link.transaction(force_rollback=True):
            link.execute(f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; {for_project(self._project)}")
            yield PostgresDatabase(link, lexer)

    def _differences(self, db: PostgresDatabase, progress: Progress | None) -> Iterator[str]:
        stored = dict(_digests(db, "pinfold"))
        for table in _TABLES:
            db.execute(
                f"CREATE TEMP TABLE {table} (LIKE pinfold.{table} INCLUDING DEFAULTS INCLUDING INDEXES)"
                " ON COMMIT DROP"
            )
        rebuild(db, progress)
        db.flush()
        for name, digest in _digests(db, "pg_temp"):
            if digest != stored[name]:
                yield name


def _digests(db: PostgresDatabase, where: str) -> Iterator[tuple[str, bytes]]:
    """Yield a digest of each view and of the index, of the tables in a schema."""
    for table in VIEWS:
        yield f"view {table}", digest_of_rows(db, f"SELECT * FROM {where}.{table} ORDER BY 1, 2")  # noqa: S608
    yield (
        "search index",
        digest_of_rows(db, *(statement.format(where, _PLACED.format(where)) for statement in _INDEX)),
    )
