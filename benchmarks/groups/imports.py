"""Bringing a long transcript into the log, against reading and parsing its lines."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator

from benchmarks.bench import BATCH, Bench
from benchmarks.row import Row
from benchmarks.timing import in_turn, timed
from benchmarks.transcripts import session
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller

FLOOR = "json.loads of its lines"
_SHARE = 15.0
"""Of the 20 times that a whole import may take; the rest is for reading, parsing and making messages."""


def rows(bench: Bench) -> Iterator[Row]:
    """Yield what appending the messages of a transcript costs."""
    said = list(session(bench.scale.transcript_lines, bench.seed))
    file = bench.folder / "session.jsonl"
    file.write_bytes(b"".join(each.line + b"\n" for each in said))

    def append() -> float:
        store = open_direct(bench.place().store_folder, "benchmark")
        try:
            messages = (each.message for each in said)
            began = time.perf_counter()
            while batch := list(itertools.islice(messages, BATCH)):
                store.append_messages(Caller("benchmark", "a-session", "import"), batch)
            return time.perf_counter() - began
        finally:
            store.close()

    def parse() -> None:
        with file.open("rb") as lines:
            for line in lines:
                json.loads(line)

    pair = in_turn(append, timed(parse), bench.scale.imports)
    text_bytes = sum(len(each.message.text.encode()) for each in said)
    share = f"{text_bytes / file.stat().st_size:.0%} of its bytes are text"
    what = f"append of a transcript's {len(said):,} messages"
    speed = f"{text_bytes / pair.ours.median / 1e6:.1f} MB/s of text; {share}"
    yield Row("import", what, FLOOR, pair.ratio, _SHARE, pair=pair, judged=not bench.scale.quick, note=speed)
