"""What a model pays in o200k tokens, counted on what a real server sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pinfold.context.tokens import count

from benchmarks.bench import Bench, keep
from benchmarks.client import text_of
from benchmarks.row import Row
from benchmarks.text import Prose

HITS = 5
PINS = 10
PAID = ("name", "description", "inputSchema")


def rows(bench: Bench) -> Iterator[Row]:
    """Yield the tool list, the instructions, a search reply of five hits and a brief of ten pins."""
    with bench.server(bench.place()) as server:
        instructions = server.greet()["instructions"]
        listed = [{name: tool[name] for name in PAID} for tool in server.tools()]
        keep(server, PINS, Prose(bench.seed))
        brief = server.call("fetch_pointer", pointer="brief", max_tokens=5_000)
    history = bench.history(bench.scale.small_history)
    with bench.server(history.place) as server:
        server.greet()
        query = Prose(bench.seed).rare_query(history.entries)
        found = server.call("search_history", query=query, limit=HITS)
    yield _row("tool list", json.dumps(listed, ensure_ascii=False, separators=(",", ":")), 1_000)
    yield _row("server instructions", instructions, 120)
    yield _row("search reply of five hits", text_of(found), 400, found)
    yield _row("brief of ten pins", text_of(brief), 700, brief)


def _row(what: str, text: str, budget: int, reply: dict[str, Any] | None = None) -> Row:
    note = ""
    if reply is not None:
        structured = json.dumps(reply["structuredContent"], ensure_ascii=False, separators=(",", ":"))
        note = f"as text; {count(structured):,} as structured content"
    return Row("tokens", what, "none", count(text), budget, "tokens", note=note)
