"""Artifacts that are too large to be in the index as a whole: a search says which, where it may have missed by that."""

from __future__ import annotations

from pinfold.store.sqlite.search.index import Index

MOST = 3
_LOOKED_AT = 1_000
_LARGE = f"""
    SELECT entry.pointer FROM (
        SELECT number, sha256, indexed_bytes FROM artifact WHERE indexed_bytes > 750000
        ORDER BY number DESC LIMIT {_LOOKED_AT}
    ) AS artifact
    JOIN content ON content.sha256 = artifact.sha256
    JOIN entry ON entry.pointer = 'A' || artifact.number AND entry.chunk IS NULL
    WHERE artifact.indexed_bytes < content.size_bytes
"""  # noqa: S608 - the number is ours


def partly_indexed(index: Index) -> tuple[str, ...]:
    """Return the pointers of the newest such artifacts in scope."""
    filters, values = index.scope.on_entry()
    sql = f"{_LARGE}{filters} ORDER BY artifact.number DESC LIMIT {MOST}"
    return tuple(row[0] for row in index.db.execute(sql, values))
