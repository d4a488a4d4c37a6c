"""Stored bytes against their digests, and against what refers to them. Source: P9, P10."""

from __future__ import annotations

from collections.abc import Iterator

from pinfold.store import Progress
from pinfold.store.content import Totals
from pinfold.store.errors import DamagedError
from pinfold.store.sql.chunks import chunk_of
from pinfold.store.sql.database import Database, Row

_MISSING = "SELECT number FROM artifact WHERE sha256 NOT IN (SELECT sha256 FROM content) ORDER BY number"
_ORPHANS = "SELECT sha256 FROM content WHERE sha256 NOT IN (SELECT sha256 FROM artifact) ORDER BY id"
_STRAYS = "SELECT count(*) FROM chunk WHERE content NOT IN (SELECT id FROM content)"


def check_bytes(db: Database, progress: Progress | None = None) -> Iterator[str]:
    """Yield what is wrong with the bytes of artifacts, a line each; memory does not grow with them."""
    contents = db.execute("SELECT * FROM content ORDER BY id").fetchall()
    for done, content in enumerate(contents, start=1):
        fault = _fault(db, content)
        if fault:
            yield f"bytes {content['sha256'].hex()[:12]}: {fault}"
        if progress is not None:
            progress(done, len(contents))
    yield from (f"A{row[0]}: its bytes are missing" for row in db.execute(_MISSING))
    yield from (f"bytes {row[0].hex()[:12]}: nothing refers to them" for row in db.execute(_ORPHANS))
    strays = db.execute(_STRAYS).fetchone()[0]
    if strays:
        yield f"bytes: {strays} chunks belong to nothing"


def _fault(db: Database, content: Row) -> str:
    totals = Totals()
    for row in db.stream("SELECT * FROM chunk WHERE content = ? ORDER BY start", (content["id"],)):
        try:
            piece = chunk_of(row).unpack("")
        except DamagedError:
            return f"the chunk at byte {row['start']} is damaged"
        if (row["start"], row["lines_before"], row["size_bytes"]) != (
            totals.size_bytes,
            totals.newlines,
            len(piece),
        ):
            return f"its chunks do not add up at byte {totals.size_bytes}"
        totals.add(piece)
    totals.finish()
    found = totals.digest.digest(), totals.size_bytes, totals.lines, int(totals.is_text)
    stored = tuple(content[name] for name in ("sha256", "size_bytes", "lines", "is_text"))
    return "" if found == stored else "its chunks do not add up to what was stored"
