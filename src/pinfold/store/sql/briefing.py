"""What the brief is made from, in one snapshot; its cost depends on pins and artifacts shown, not on the log."""

from __future__ import annotations

from dataclasses import replace

from pinfold.store.errors import NotFoundError
from pinfold.store.results import Artifact, BriefState, Fold, Pin
from pinfold.store.sql.database import Database
from pinfold.store.sql.lineage import closed_later, current, epoch_of, inherits, lineage, previous_of
from pinfold.store.sql.reading import checkpoint_by_number
from pinfold.store.sql.rows import ARTIFACT_QUERY, artifact_of, fold_of, pin_of
from pinfold.store.values import Caller

ARTIFACTS_SHOWN = 12


def brief_state(db: Database, project: str, caller: Caller | None, as_of: int | None = None) -> BriefState:
    """Read everything as it stood at `as_of`; see `Store.brief_state`."""
    tip = int(db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0])
    if as_of is not None and as_of > tip:
        hint = 'fetch_pointer("brief") shows it as it is now.'
        raise NotFoundError(f"brief@{as_of}", f"the log has {tip} events", hint)
    seq = tip if as_of is None else as_of
    session = None if caller is None else current(db, caller)
    began = epoch_of(db, session, seq)
    epoch = seq if began is None else began  # a conversation that is new begins now
    number = previous_of(db, session, seq)
    checkpoint = None if number is None else checkpoint_by_number(db, number)
    artifacts = _artifacts(db, seq)
    return BriefState(
        project=project,
        session=session,
        seq=seq,
        epoch=epoch,
        pins=_pins(db, session, epoch, seq),
        checkpoint=checkpoint,
        closed=() if checkpoint is None else closed_later(db, checkpoint, seq),
        artifacts=artifacts,
        artifact_count=_count_up_to(db, artifacts[0].number) if artifacts else 0,
        fold=_last_fold(db, session, seq),
    )


def _pins(db: Database, session: int | None, epoch: int, seq: int) -> tuple[Pin, ...]:
    rows = db.execute(
        "SELECT * FROM pin WHERE (superseded_seq IS NULL OR superseded_seq > ?) AND seq <= ? ORDER BY number",
        (epoch, seq),
    ).fetchall()
    heritage = lineage(db, session)
    found = []
    for pin in map(pin_of, rows):
        superseded = pin.superseded_seq is not None and pin.superseded_seq <= seq
        if pin.session_only and not inherits(heritage, pin.session, pin.seq):
            continue
        found.append(pin if superseded else replace(pin, superseded_by=None, superseded_seq=None))
    return tuple(found)


def _artifacts(db: Database, seq: int) -> tuple[Artifact, ...]:
    rows = db.execute(
        f"{ARTIFACT_QUERY} WHERE aside = 0 AND artifact.seq <= ? ORDER BY artifact.number DESC LIMIT ?",
        (seq, ARTIFACTS_SHOWN),
    ).fetchall()
    return tuple(map(artifact_of, rows))


def _count_up_to(db: Database, number: int) -> int:
    """Count the artifacts that a brief might list; an index holds nothing but their numbers."""
    query = "SELECT count(*) FROM artifact WHERE aside = 0 AND number <= ?"
    return int(db.execute(query, (number,)).fetchone()[0])


def _last_fold(db: Database, session: int | None, seq: int) -> Fold | None:
    row = db.execute(
        "SELECT * FROM fold WHERE session = ? AND seq <= ? ORDER BY number DESC LIMIT 1", (session, seq)
    ).fetchone()
    return None if row is None else fold_of(row)
