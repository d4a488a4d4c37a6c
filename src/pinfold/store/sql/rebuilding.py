"""All that is derived from the log, derived anew. Source: design 1, How a write flows; P10."""

from __future__ import annotations

from collections.abc import Iterator

from pinfold.store import Progress
from pinfold.store.errors import DamagedError
from pinfold.store.events import GENESIS, Event
from pinfold.store.sql.apply import apply
from pinfold.store.sql.chain import event_problems
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.rows import event_of
from pinfold.store.views import changes

VIEWS = (
    "session",
    "conversation",
    "pin",
    "artifact",
    "checkpoint",
    "fold",
    "omission",
    "external",
    "miss",
    "answer",
    "alias",
    "forgotten",
)
INDEX = ("entry", "entry_path")
_EVERY = 2_000


def count(db: Database, table: str) -> int:
    """Return the number of rows of a table."""
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def log_rows(db: Database, progress: Progress | None) -> Iterator[Row]:
    """Yield every event's row in order, and tell how far that is."""
    total = count(db, "event")
    for done, row in enumerate(db.stream("SELECT * FROM event ORDER BY seq"), start=1):
        yield row
        if progress is not None and (done % _EVERY == 0 or done == total):
            progress(done, total)


def empty(db: Database) -> None:
    """Take everything out of the views and the index."""
    for table in (*VIEWS, *INDEX):
        db.execute(f"DELETE FROM {table}")  # noqa: S608
    db.clear_words()


def rebuild(db: Database, progress: Progress | None = None) -> int:
    """Empty the views and the index and derive them anew, inside of a write transaction; return the number of events.

    Raises `DamagedError` for an event that is not what it was: the views are then all that is left of it.
    """
    empty(db)
    done, previous = 0, GENESIS
    for row in log_rows(db, progress):
        apply(db, changes(_sound(row, previous)))
        previous = row["digest"]
        done += 1
    return done


def _sound(row: Row, previous: bytes) -> Event:
    if any(event_problems(row, previous)):
        raise DamagedError(
            f"Event {row['seq']} of the log", "A backup from before has it: `pinfold restore`."
        )
    return event_of(row)
