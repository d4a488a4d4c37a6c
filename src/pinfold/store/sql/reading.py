"""Single things and listings, read from the views; each function runs in one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pinfold.store.errors import NotFoundError
from pinfold.store.events import Kind
from pinfold.store.results import Artifact, Checkpoint, Entry, Fold, Pin, PinHistory
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.tombstones import refuse_forgotten
from pinfold.store.sql.lineage import newest_of
from pinfold.store.sql.rows import (
    ARTIFACT_QUERY,
    MISS_QUERY,
    SEARCH_QUERY,
    artifact_of,
    checkpoint_of,
    entry_of,
    event_of,
    fold_of,
    miss_of,
    pin_of,
    search_of,
)

if TYPE_CHECKING:  # the brief reads much, but no searches
    from pinfold.store.search_results import SearchRecord

T = TypeVar("T")
_HISTORY = 50


def pin_with_history(db: Database, number: int) -> PinHistory:
    """Return the pin with what it replaced, what replaced it, and its folds; see `Store.pin`."""
    own = _one(db, "SELECT * FROM pin WHERE number = ?", number, pin_of, ("P", "pin"))
    rows = db.execute(
        "WITH RECURSIVE chain (number) AS (SELECT CAST(? AS BIGINT) UNION SELECT pin.number FROM pin JOIN chain"
        " ON pin.superseded_by = chain.number)"
        " SELECT pin.* FROM pin JOIN chain USING (number) ORDER BY number DESC LIMIT ?",
        (newest_of(db, number), _HISTORY),
    ).fetchall()
    others = tuple(pin for pin in map(pin_of, rows) if pin.number != number)
    return PinHistory(own, others, _folds_of(db, own))


def _folds_of(db: Database, pin: Pin) -> tuple[Fold, ...]:
    gone = 2**62 if pin.superseded_seq is None else pin.superseded_seq
    rows = db.execute(
        "SELECT * FROM fold WHERE seq > ? AND seq < ? AND (? = 0 OR session = ?) ORDER BY number DESC LIMIT ?",
        (pin.seq, gone, int(pin.session_only), pin.session, _HISTORY),
    ).fetchall()
    return tuple(map(fold_of, rows))


def checkpoint_by_number(db: Database, number: int) -> Checkpoint:
    """Return a checkpoint; see `Store.checkpoint`."""
    return _one(db, "SELECT * FROM checkpoint WHERE number = ?", number, checkpoint_of, ("C", "checkpoint"))


def fold_by_number(db: Database, number: int) -> Fold:
    """Return a fold; see `Store.fold`."""
    return _one(db, "SELECT * FROM fold WHERE number = ?", number, fold_of, ("F", "fold"))


def _one(db: Database, query: str, number: int, read: Callable[[Row], T], names: tuple[str, str]) -> T:
    row = db.execute(query, (number,)).fetchone()
    if row is None:
        letter, name = names
        refuse_forgotten(db, letter, number)
        hint = f'fetch_pointer("{name}s") lists them.'
        raise NotFoundError(f"{letter}{number}", f"there is no such {name} in this project", hint)
    return read(row)


def entry_by_seq(db: Database, seq: int) -> Entry:
    """Return a message with its neighbours; see `Store.entry`."""
    row = db.execute("SELECT * FROM event WHERE seq = ?", (seq,)).fetchone()
    hint = "search_history finds entries."
    if row is None:
        raise NotFoundError(f"H{seq}", "there is no such entry in this project", hint)
    if row["kind"] != Kind.MESSAGE_APPENDED:
        raise NotFoundError(f"H{seq}", "it is no message, tool call or tool result", hint)
    event = event_of(row)
    if event.body is None:
        refuse_forgotten(db, "H", seq)
        raise NotFoundError(f"H{seq}", "it was forgotten on request", hint)
    entry = entry_of(event, _neighbour(db, row, "<", "DESC"), _neighbour(db, row, ">", "ASC"))
    return replace(entry, omitted=_omitted(db, entry))


def _omitted(db: Database, entry: Entry) -> tuple[str, int] | None:
    query = "SELECT how, seq FROM omission WHERE session = ? AND message = ?"
    row = db.execute(query, (entry.session, entry.seq)).fetchone()
    return None if row is None else (row["how"], row["seq"])


def _neighbour(db: Database, row: Row, side: str, order: str) -> int | None:
    found = db.execute(
        f"SELECT seq FROM event WHERE session = ? AND seq {side} ? AND kind = ? AND body IS NOT NULL"  # noqa: S608
        f" ORDER BY seq {order} LIMIT 1",
        (row["session"], row["seq"], Kind.MESSAGE_APPENDED),
    ).fetchone()
    return None if found is None else int(found[0])


def search_by_number(db: Database, number: int) -> SearchRecord:
    """Return an earlier search; see `Store.search_record`."""
    missed = db.execute(f"{MISS_QUERY} WHERE miss.search = ? ORDER BY miss.seq LIMIT 1", (number,)).fetchone()
    if missed is not None:
        return miss_of(missed)
    row = db.execute(f"{SEARCH_QUERY} WHERE search.number = ?", (number,)).fetchone()
    if row is None:
        refuse_forgotten(db, "S", number)
        newest = db.execute("SELECT coalesce(max(number), 0) FROM search").fetchone()[0]
        why = (
            "only recent searches are kept" if number <= newest else "there is no such search in this project"
        )
        raise NotFoundError(f"S{number}", why, "Search again with search_history.")
    return search_of(row)


def pins(db: Database, before: int | None, limit: int) -> tuple[Pin, ...]:
    """Return pins, newest first; see `Store.pins`."""
    return _page(db, "SELECT * FROM pin WHERE number < ? ORDER BY number DESC", before, limit, pin_of)


def artifacts(db: Database, before: int | None, limit: int) -> tuple[Artifact, ...]:
    """Return artifacts, newest first; see `Store.artifacts`."""
    query = f"{ARTIFACT_QUERY} WHERE artifact.number < ? ORDER BY artifact.number DESC"
    return _page(db, query, before, limit, artifact_of)


def checkpoints(db: Database, before: int | None, limit: int) -> tuple[Checkpoint, ...]:
    """Return checkpoints, newest first; see `Store.checkpoints`."""
    query = "SELECT * FROM checkpoint WHERE number < ? ORDER BY number DESC"
    return _page(db, query, before, limit, checkpoint_of)


def folds(db: Database, before: int | None, limit: int) -> tuple[Fold, ...]:
    """Return folds, newest first; see `Store.folds`."""
    return _page(db, "SELECT * FROM fold WHERE number < ? ORDER BY number DESC", before, limit, fold_of)


def misses(db: Database, before: int | None, limit: int) -> tuple[SearchRecord, ...]:
    """Return searches that missed, newest first; see `Store.misses`."""
    return _page(db, f"{MISS_QUERY} WHERE miss.seq < ? ORDER BY miss.seq DESC", before, limit, miss_of)


def _page(
    db: Database, query: str, before: int | None, limit: int, read: Callable[[Row], T]
) -> tuple[T, ...]:
    rows = db.execute(f"{query} LIMIT ?", (2**62 if before is None else before, limit)).fetchall()
    return tuple(map(read, rows))
