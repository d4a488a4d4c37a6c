"""`verify`: the log against itself, and all that is derived against the log. Source: P10."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from pinfold.store import Progress
from pinfold.store.errors import DamagedError
from pinfold.store.events import GENESIS, digest_of, link
from pinfold.store.results import VerifyReport
from pinfold.store.sqlite.chunks import chunk_of
from pinfold.store.sqlite.connection import address_of
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.opening import statements
from pinfold.store.sqlite.rebuilding import VIEWS, count, derive, log
from pinfold.store.sqlite.transaction import RECEIPT_DIGITS
from pinfold.store.values import Receipt

_MOST_PROBLEMS = 50


def verify(
    database: Path, progress: Progress | None = None, receipts: Sequence[Receipt] = ()
) -> VerifyReport:
    """Check everything in one snapshot of `database`, deriving the views anew in a scratch database.

    The scratch has no name, so nothing of it is left behind, however this ends.
    Raises `NoSpaceError` where there is no room for it.
    """
    db = sqlite3.connect("", uri=True, isolation_level=None)
    try:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = OFF")
        db.execute("ATTACH DATABASE ? AS live", (address_of(database, read_only=True),))
        for statement in statements(files("pinfold.store").joinpath("schema.sql").read_text("utf-8")):
            db.execute(statement)
        db.execute("BEGIN")
        return _report(db, progress, receipts)
    except sqlite3.Error as error:
        translate(error, str(database.parent))
    finally:
        db.close()


def _report(db: sqlite3.Connection, progress: Progress | None, receipts: Sequence[Receipt]) -> VerifyReport:
    problems: list[str] = []
    tip: Receipt | None = None
    unmet: Mapping[Receipt, str] = dict.fromkeys(receipts, "")
    events = artifacts = 0
    with _naming("log", problems):
        tip = _check_chain(db, problems, progress)
        events = count(db, "live.event")
        unmet = dict(_unmet(db, receipts))
        problems.extend(f"receipt {receipt}: {why}" for receipt, why in unmet.items())
    with _naming("file", problems):
        problems.extend(f"file: {row[0]}" for row in db.execute("PRAGMA live.quick_check") if row[0] != "ok")
    with _naming("bytes", problems):
        artifacts = _check_bytes(db, problems)
    if not problems:
        _check_derived(db, problems)
    held = tuple(receipt for receipt in receipts if receipt not in unmet)
    return VerifyReport(events, artifacts, tuple(problems[:_MOST_PROBLEMS]), tip, held)


def _unmet(db: sqlite3.Connection, receipts: Sequence[Receipt]) -> Iterator[tuple[Receipt, str]]:
    """Yield each receipt that the log does not bear out, and why; a cut tail shows in nothing else."""
    for receipt in receipts:
        row = db.execute("SELECT digest FROM live.event WHERE seq = ?", (receipt.seq,)).fetchone()
        if row is None:
            yield receipt, "the log ends before it; acknowledged events are missing"
        elif not row["digest"].hex().startswith(receipt.digest):
            yield receipt, "the log says otherwise at that event"


@contextmanager
def _naming(what: str, problems: list[str]) -> Iterator[None]:
    """Make a problem of what cannot even be read, so that the other checks still run."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        problems.append(f"{what}: it cannot be read ({error})")


def _check_chain(db: sqlite3.Connection, problems: list[str], progress: Progress | None) -> Receipt | None:
    previous, expected = GENESIS, 0
    tip: Receipt | None = None
    for row in log(db, progress, "live"):
        expected += 1
        if row["seq"] != expected:
            problems.append(f"event {expected}: missing (the next one is {row['seq']})")
            expected = row["seq"]
        if row["body"] is not None and digest_of(row["body"]) != row["body_digest"]:
            problems.append(f"event {row['seq']}: its body was changed")
        if row["digest"] != _digest(row, previous):
            problems.append(
                f"event {row['seq']}: it does not follow the one before (changed, swapped or inserted)"
            )
        previous = row["digest"]
        tip = Receipt(row["seq"], row["digest"].hex()[:RECEIPT_DIGITS])
        if len(problems) >= _MOST_PROBLEMS:
            break
    return tip


def _digest(row: sqlite3.Row, previous: bytes) -> bytes:
    names = ("seq", "at", "session", "actor", "kind", "key", "parent", "version")
    return link(previous, tuple(row[name] for name in names), row["body_digest"])


def _check_bytes(db: sqlite3.Connection, problems: list[str]) -> int:
    for content in db.execute("SELECT * FROM live.content").fetchall():
        name = f"bytes {content['sha256'].hex()[:12]}"
        whole, size = hashlib.sha256(), 0
        try:
            for row in db.execute(
                "SELECT * FROM live.chunk WHERE content = ? ORDER BY start", (content["id"],)
            ):
                piece = chunk_of(row).unpack(name)
                whole.update(piece)
                size += len(piece)
        except DamagedError as error:
            problems.append(f"{error.message}")
            continue
        if whole.digest() != content["sha256"] or size != content["size_bytes"]:
            problems.append(f"{name}: its chunks do not add up to what was stored")
    missing = db.execute(
        "SELECT number FROM live.artifact WHERE sha256 NOT IN (SELECT sha256 FROM live.content)"
    ).fetchall()
    problems.extend(f"A{row[0]}: its bytes are missing" for row in missing)
    return count(db, "live.artifact")


def _check_derived(db: sqlite3.Connection, problems: list[str]) -> None:
    derive(db, log(db, None, "live"), "live")
    for table in VIEWS:
        with _naming(f"view {table}", problems):
            if _rows_digest(db, "main", table) != _rows_digest(db, "live", table):
                problems.append(f"view {table}: it differs from the log; run `pinfold rebuild`")
    with _naming("search index", problems):
        if _index_digest(db, "main") != _index_digest(db, "live"):
            problems.append("search index: it differs from the log; run `pinfold rebuild`")


def _rows_digest(db: sqlite3.Connection, schema: str, table: str) -> bytes:
    return _digest_rows(db.execute(f"SELECT * FROM {schema}.{table} ORDER BY 1, 2"))  # noqa: S608


def _index_digest(db: sqlite3.Connection, schema: str) -> bytes:
    """Digest of entries and every word's place in them, numbered by order, since entry ids may have gaps."""
    vocabulary = f"temp.vocabulary_{schema}"
    db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {vocabulary} USING fts5vocab ({schema}, words, instance)")
    entries = "seq, pointer, kind, session, at, ref, chunk IS NOT NULL"
    ordered = f"SELECT id, row_number() OVER (ORDER BY id) AS place, {entries} FROM {schema}.entry"  # noqa: S608
    parts = (
        f"SELECT place, {entries} FROM ({ordered.replace(entries, f'{entries}, chunk')}) ORDER BY place",  # noqa: S608
        f"SELECT name, path, place FROM {schema}.entry_path JOIN ({ordered}) ON id = entry ORDER BY 1, 2, 3",  # noqa: S608
        f"SELECT term, place, col, offset FROM {vocabulary} JOIN ({ordered}) ON id = doc ORDER BY 1, 2, 3, 4",  # noqa: S608
    )
    whole = hashlib.sha256()
    for part in parts:
        whole.update(_digest_rows(db.execute(part)))
    orphans = db.execute(
        f"SELECT count(*) FROM {vocabulary} WHERE doc NOT IN (SELECT id FROM {schema}.entry)"  # noqa: S608
    ).fetchone()[0]
    return whole.digest() + str(orphans).encode()


def _digest_rows(rows: sqlite3.Cursor) -> bytes:
    whole = hashlib.sha256()
    for row in rows:
        whole.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
    return whole.digest()
