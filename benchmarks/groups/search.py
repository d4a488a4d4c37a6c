"""Search on a long log against a short one: rare words, and the most common ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.bench import Bench
from benchmarks.client import Peer
from benchmarks.row import Pair, Row
from benchmarks.text import Prose
from benchmarks.timing import in_turn, timed

SLOWEST_MS = 50.0


def rows(bench: Bench) -> Iterator[Row]:
    """Yield rare words, common words, and the common words' absolute time, each at the 99th percentile."""
    scale = bench.scale
    long, short = bench.history(scale.large_history), bench.history(scale.small_history)
    floor = f"the same, {scale.small_history:,} entries"
    prose = Prose(bench.seed + 1)
    with bench.server(long.place) as ours, bench.server(short.place) as base:
        ours.greet()
        base.greet()
        rare = _searches(
            bench, (ours, base), lambda peer: prose.rare_query((long if peer is ours else short).entries)
        )
        common = _searches(bench, (ours, base), lambda peer: prose.common_query())
    what = f"{scale.large_history:,} entries, p99"
    yield Row("search", f"rare words, {what}", floor, rare.p99_ratio, 2.0, pair=rare, judged=not scale.quick)
    yield Row(
        "search",
        f"most common words, {what}",
        floor,
        common.p99_ratio,
        2.0,
        pair=common,
        judged=not scale.quick,
    )
    slowest = common.ours.p99 * 1_000
    yield Row(
        "search",
        f"most common words, {what}",
        "-",
        slowest,
        SLOWEST_MS,
        "ms",
        judged=not scale.quick,
        note="absolute: an idle machine gives the true one",
    )
    yield _ordinary(bench)


def _ordinary(bench: Bench) -> Row:
    """Return how long searches of ordinary words take in the log of some months, at the 95th percentile."""
    scale = bench.scale
    history = bench.history(scale.middle_history)
    prose = Prose(bench.seed + 2)
    with bench.server(history.place) as server:
        server.greet()
        spent = sorted(
            timed(lambda: server.call("search_history", query=prose.words(4)))() for _ in range(scale.queries)
        )
    what = f"four words, {history.entries:,} entries, p95"
    p95 = spent[int(len(spent) * 0.95)] * 1_000
    return Row("search", what, "-", p95, SLOWEST_MS, "ms", judged=not scale.quick)


def _searches(bench: Bench, peers: tuple[Peer, Peer], query: Callable[[Peer], str]) -> Pair:
    ours, base = peers
    return in_turn(
        timed(lambda: ours.call("search_history", query=query(ours))),
        timed(lambda: base.call("search_history", query=query(base))),
        bench.scale.queries,
        warm=10,
    )
