"""Parts of artifacts: by offset, by line, or chunk by chunk; the cost never grows with the artifact."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinfold.store.errors import DamagedError, NotFoundError
from pinfold.store.results import Artifact, ArtifactSlice
from pinfold.store.sql.chunks import chunk_of
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.tombstones import refuse_forgotten
from pinfold.store.sql.rows import ARTIFACT_QUERY, artifact_of


def artifact_by_number(db: Database, number: int) -> Artifact:
    """Return an artifact's facts; see `Store.artifact`."""
    row = db.execute(f"{ARTIFACT_QUERY} WHERE artifact.number = ?", (number,)).fetchone()
    if row is None:
        refuse_forgotten(db, "A", number)
        raise NotFoundError(
            f"A{number}", "there is no such artifact", 'fetch_pointer("artifacts") lists them.'
        )
    return artifact_of(row)


def chunks_from(db: Database, artifact: Artifact, start: int) -> Iterator[tuple[Row, bytes]]:
    """Yield rows and their checked bytes from the chunk that holds offset `start` on; raises `DamagedError`."""
    content = _content_id(db, artifact)
    first = db.execute(
        "SELECT max(start) FROM chunk WHERE content = ? AND start <= ?", (content, start)
    ).fetchone()
    expected = first[0] or 0
    rows = db.stream(
        "SELECT * FROM chunk WHERE content = ? AND start >= ? ORDER BY start", (content, expected)
    )
    for row in rows:
        if row["start"] != expected:
            raise DamagedError(f"A{artifact.number} (a chunk is missing)")
        expected += row["size_bytes"]
        yield row, chunk_of(row).unpack(f"A{artifact.number}")
    if expected != artifact.size_bytes:
        raise DamagedError(f"A{artifact.number} (its end is missing)")


def _content_id(db: Database, artifact: Artifact) -> int:
    row = db.execute("SELECT id FROM content WHERE sha256 = ?", (bytes.fromhex(artifact.sha256),)).fetchone()
    return int(row[0])


def artifact_bytes(db: Database, number: int, start: int, max_bytes: int) -> ArtifactSlice:
    """Return bytes from an offset on; see `Store.artifact_bytes`."""
    return _bytes(db, artifact_by_number(db, number), start, max_bytes)


def _bytes(db: Database, artifact: Artifact, start: int, max_bytes: int) -> ArtifactSlice:
    if start >= artifact.size_bytes or max_bytes <= 0:
        return ArtifactSlice(artifact, b"", start, artifact.lines)
    pieces: list[bytes] = []
    line, missing = 1, max_bytes
    for row, content in chunks_from(db, artifact, start):
        skipped = max(0, start - row["start"])
        if not pieces:
            line = row["lines_before"] + content.count(b"\n", 0, skipped) + 1
        pieces.append(content[skipped : skipped + missing])
        missing -= len(pieces[-1])
        if not missing:
            break
    return ArtifactSlice(artifact, b"".join(pieces), start, line)


def artifact_lines(db: Database, number: int, lines: tuple[int, int], max_bytes: int) -> ArtifactSlice:
    """Return lines first to last, both included; see `Store.artifact_lines`."""
    artifact = artifact_by_number(db, number)
    first, last = lines
    start = _line_start(db, artifact, first)
    if start is None:
        return ArtifactSlice(artifact, b"", artifact.size_bytes, artifact.lines)
    stop = _line_start(db, artifact, last + 1)
    length = (artifact.size_bytes if stop is None else stop) - start
    found = _bytes(db, artifact, start, min(length, max_bytes))
    return ArtifactSlice(artifact, found.content, start, first)


def _line_start(db: Database, artifact: Artifact, line: int) -> int | None:
    """Return the offset of a line's first byte (from 1), None when it lies behind the end."""
    if line <= 1:
        return 0 if artifact.size_bytes else None
    if line > artifact.lines:
        return None
    content = _content_id(db, artifact)
    wanted = line - 1  # the line begins behind this many line ends
    row = db.execute(
        "SELECT * FROM chunk WHERE content = ? AND lines_before < ? ORDER BY lines_before DESC, start DESC LIMIT 1",
        (content, wanted),
    ).fetchone()
    piece = chunk_of(row).unpack(f"A{artifact.number}")
    position = -1
    for _ in range(wanted - row["lines_before"]):
        position = piece.find(b"\n", position + 1)
        if position < 0:
            raise DamagedError(f"A{artifact.number} (its line index does not match)")
    return int(row["start"]) + position + 1


def scan_artifact(db: Database, number: int, start: int, visit: Callable[[ArtifactSlice], bool]) -> Artifact:
    """Call `visit` with each chunk from an offset on; see `Store.scan_artifact`."""
    artifact = artifact_by_number(db, number)
    if start < artifact.size_bytes:
        for row, content in chunks_from(db, artifact, start):
            if not visit(ArtifactSlice(artifact, content, row["start"], row["lines_before"] + 1)):
                break
    return artifact
