"""Measure and print: `python -m benchmarks.retrieval [--locomo PATH] [--changelog GIT_DIR] [--half a|b] [--json FILE]`.

The data is never part of pinfold: `--locomo` is `locomo10.json` of snap-research/locomo, or the folder of its
zip; `--changelog` a clone of a project with one changelog file for each change, such as pypa/pip.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.retrieval import changelog, dialogues
from benchmarks.retrieval.baselines import Fts, TagOverlap
from benchmarks.retrieval.measures import Score, answers, score
from benchmarks.retrieval.product import Pinfold
from benchmarks.retrieval.snowball import Snowball
from benchmarks.retrieval.task import Case, Searcher

_COLUMNS = (
    f"{'task':<14} {'searcher':<31} {'n':>5}  {'hit@5':<12} {'R@5':>5}  {'R@10':>5}  {'MRR':>5}"
    f"  {'p50':>6} {'p95 ms':>6}  {'index MB':>8}"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and return the exit status; 2 when no data was named."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if not (asked.locomo or asked.changelog):
        parser.error("name the data: --locomo PATH, --changelog GIT_DIR, or both")
    print(_COLUMNS, flush=True)
    scores = []
    for task, cases in _tasks(asked):
        for searcher in _searchers(ours_only=asked.ours):
            scores.append(score(task, searcher.name, *answers(searcher, cases, asked.half)))
            searcher.close()
            print(line(scores[-1]), flush=True)
    if asked.json:
        rows = [asdict(one) for one in scores]
        asked.json.write_text(json.dumps({"half": asked.half, "rows": rows}, indent=1) + "\n", "utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--locomo", type=Path, metavar="PATH", help="questions about dialogues")
    parser.add_argument("--changelog", type=Path, metavar="GIT_DIR", help="from changelog lines to commits")
    parser.add_argument(
        "--half", choices=["a", "b"], help="only these questions: choose on one, report the other"
    )
    parser.add_argument("--ours", action="store_true", help="without the baselines")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the run to a file")
    return parser


def _tasks(asked: argparse.Namespace) -> Iterator[tuple[str, list[Case]]]:
    if asked.locomo:
        yield "turns", list(dialogues.turn_cases(asked.locomo))
        yield "conversations", list(dialogues.conversation_cases(asked.locomo))
    if asked.changelog:
        yield "changelog", list(changelog.cases(asked.changelog))


def _searchers(*, ours_only: bool) -> Iterator[Searcher]:
    yield Pinfold()
    if ours_only:
        return
    yield TagOverlap()
    yield Fts("unicode61", drop_stop_words=False)
    yield Fts("porter unicode61", drop_stop_words=True)
    yield Fts("trigram", drop_stop_words=True, shortest=3)
    try:
        yield Snowball()
    except ImportError as error:
        print(f"left out: bm25s, since {error}; install the extra `retrieval`", file=sys.stderr, flush=True)


def line(found: Score) -> str:
    """Return one row of the table."""
    hit = f"{found.hit_5:.1f} ± {found.width:.1f}"
    shares = f"{found.recall_5:5.1f}  {found.recall_10:5.1f}  {found.mrr:5.1f}"
    times = f"{found.p50_ms:6.1f} {found.p95_ms:6.1f}"
    size = f"{found.index_bytes / 1e6:8.1f}"
    return f"{found.task:<14} {found.searcher:<31} {found.questions:>5}  {hit:<12} {shares}  {times}  {size}"


if __name__ == "__main__":
    sys.exit(main())
