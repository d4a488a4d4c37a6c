"""Artifacts that are too large to be in the index as a whole: a search says which, where it may have missed by that."""

from __future__ import annotations

from pinfold.store.sqlite.search.index import Index

MOST = 3
_LARGE = """
    SELECT entry.pointer FROM artifact
    JOIN content ON content.sha256 = artifact.sha256
    JOIN entry ON entry.pointer = 'A' || artifact.number AND entry.chunk IS NULL
    WHERE artifact.indexed_bytes > 750000 AND artifact.indexed_bytes < content.size_bytes
"""


def partly_indexed(index: Index) -> tuple[str, ...]:
    """Return the pointers of the newest such artifacts in scope."""
    filters, values = index.scope.on_entry()
    sql = f"{_LARGE}{filters} ORDER BY artifact.number DESC LIMIT {MOST}"
    return tuple(row[0] for row in index.db.execute(sql, values))
