"""What a model pays in o200k tokens, counted on what a real server sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio

from benchmarks import samples
from benchmarks.bench import Bench, append
from benchmarks.client import text_of
from benchmarks.row import Row
from pinfold.context.tokens import count

HITS = 5
PAID = ("name", "description", "inputSchema")


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the tool list, the instructions, a search reply of five hits and a brief of ten pins."""
    place = bench.place()
    with bench.server(place) as server:
        instructions = server.greet()["instructions"]
        listed = [{name: tool[name] for name in PAID} for tool in server.tools()]
        for text, why in samples.PINS:
            server.call("pin_decision", text=text, why=why)
        brief = server.call("fetch_pointer", pointer="brief")
        anyio.run(append, place.store_folder, iter(samples.MESSAGES))
        found = server.call("search_history", query=samples.QUERY, limit=HITS)
    yield _row("tool list", json.dumps(listed, ensure_ascii=False, separators=(",", ":")), 1_000)
    yield _row("server instructions", instructions, 120)
    hits = len(found["structuredContent"]["hits"])
    yield _row(f"search reply of {hits} hits", text_of(found), 400, found)
    yield _row(f"brief of {len(samples.PINS)} pins", text_of(brief), 700, brief)


def _row(what: str, text: str, budget: int, reply: dict[str, Any] | None = None) -> Row:
    note = ""
    if reply is not None:
        structured = json.dumps(reply["structuredContent"], ensure_ascii=False, separators=(",", ":"))
        note = f"as text; {count(structured):,} as structured content"
    return Row("tokens", what, "-", count(text), budget, "tokens", note=note)
