"""The store at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.store.results import StoreStatus
from pinfold.store.sql.database import Database


@dataclass(frozen=True, slots=True)
class Engine:
    """What a store lies in: where, how large, in which program of which version, with which journal."""

    location: str
    size_bytes: int
    name: str
    journal: str


def status(db: Database, engine: Engine, project: str, read_only: str | None) -> StoreStatus:
    """Return counts, size and settings; see `Store.status`."""

    def newest(column: str, table: str) -> int:
        return int(db.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0])  # noqa: S608

    live = db.execute("SELECT count(*) FROM pin WHERE superseded_by IS NULL").fetchone()[0]
    asked_for = db.execute("SELECT count(*) FROM artifact WHERE aside = 0").fetchone()[0]
    artifacts = db.execute("SELECT count(*) FROM artifact").fetchone()[0]
    return StoreStatus(
        project=project,
        location=engine.location,
        events=newest("seq", "event"),
        live_pins=live,
        artifacts=artifacts,
        aside=artifacts - asked_for,
        checkpoints=db.execute("SELECT count(*) FROM checkpoint").fetchone()[0],
        sessions=newest("number", "session"),
        size_bytes=engine.size_bytes,
        engine=engine.name,
        journal=engine.journal,
        read_only=read_only,
        client=_client(db),
        hooks=_hooks(db),
        model=_model(db),
    )


def _model(db: Database) -> str | None:
    row = db.execute(
        "SELECT model FROM client_run WHERE model IS NOT NULL ORDER BY at DESC LIMIT 1"
    ).fetchone()
    return None if row is None else str(row[0])


def _client(db: Database) -> str | None:
    row = db.execute(
        "SELECT client FROM session JOIN event USING (seq) WHERE actor != 'cli' ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return None if row is None else str(row[0])


def _hooks(db: Database) -> dict[str, str]:
    """Return when a hook last reported something, from the tables that stay small: runs, sessions begun, folds."""
    rows = db.execute(
        "SELECT client, max(at) AS newest FROM (SELECT client, at FROM client_run"
        " UNION ALL SELECT client, session.at FROM session JOIN event USING (seq) WHERE actor = 'hook'"
        " UNION ALL SELECT client, fold.at FROM fold JOIN event USING (seq)"
        " JOIN session ON session.number = fold.session WHERE actor = 'hook') AS reported"
        " GROUP BY client ORDER BY newest DESC"
    )
    return {row["client"]: row["newest"] for row in rows}
