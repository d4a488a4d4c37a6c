"""The disk that a long log takes."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.row import Row


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the size of the whole store against the text in it."""
    history = bench.history(bench.scale.large_history)
    taken = sum(file.stat().st_size for file in history.place.store_folder.iterdir())
    what = f"size on disk, {history.entries:,} entries, index and all"
    note = (
        f"{taken / history.entries:,.0f} against {history.text_bytes / history.entries:,.0f} bytes an entry"
    )
    yield Row("disk", what, "bytes of their text", taken / history.text_bytes, 2.5, note=note)
