"""Rows of `chunk`, which alone need what packs and unpacks them."""

from __future__ import annotations

from pinfold.store.content import Chunk
from pinfold.store.sql.database import Row
from pinfold.store.sql.readable import readable


@readable("chunk")
def chunk_of(row: Row) -> Chunk:
    """Read a row of `chunk`."""
    return Chunk(
        row["start"], row["lines_before"], row["size_bytes"], row["sha256"], row["codec"], row["packed"]
    )
