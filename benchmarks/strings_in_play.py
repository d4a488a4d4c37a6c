"""What the brief's strings in play bring back of what a compaction drops, measured on real transcripts.

`python -m benchmarks.strings_in_play FOLDER [--json FILE]` reads a folder of transcripts as their clients write them.
A specific is *needed* when it stood before a compaction, anywhere, and the agent used it again before the next one, in
what it said or in a tool's input. A row gives the share of needed ones that a summary covers by itself, and together
with the block that the brief shows, or with a plain list of the same length: strings of prose and tool inputs that the
summary lacks, one a line, without pointers. Source: design 2 (The brief); `docs/performance.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.compactions import Compaction, compactions, text_of
from benchmarks.needed import Specific, holds, specifics_of
from pinfold.context.folds import audit
from pinfold.context.string_lines import string_lines

SIZES = (1_000, 2_000)
_HALF_LIFE = 40
_PLAIN: dict[str, Callable[[Sequence[int]], float]] = {
    "frequency": len,
    "recency": lambda ages: -min(ages),
    "decayed": lambda ages: sum(2 ** (-age / _HALF_LIFE) for age in ages),
}


@dataclass(frozen=True, slots=True)
class Covered:
    """One compaction: how many specifics were needed, and how many of them each way covers, by its name."""

    name: str
    entries: int
    needed: int
    covered: dict[str, int]


def measure(compaction: Compaction) -> Covered:
    """Measure one compaction; the names of ways are `summary`, `block 1000`, `decayed 2000`, …, `ceiling`."""
    entries, summary = compaction.part.entries, compaction.summary
    used = [entry for entry in compaction.after if entry.role in ("assistant", "tool_call")]
    needed = specifics_of(text_of(entries)) & specifics_of(text_of(used))
    ages = _ages(compaction)
    strings = audit(compaction.part, summary, briefed=False).strings
    texts = {"summary": ""}
    for size in SIZES:
        texts[f"block {size}"] = "\n".join(string_lines(strings, "F1", size))
        texts |= {f"{way} {size}": _plain_list(ages, summary, way, size) for way in _PLAIN}
    texts["ceiling"] = "\n".join(form for _, form in ages)
    covered = {way: sum(holds(f"{summary}\n{text}", each) for each in needed) for way, text in texts.items()}
    return Covered(compaction.name, len(entries), len(needed), covered)


def _ages(compaction: Compaction) -> dict[Specific, list[int]]:
    """Return the specifics of prose and tool inputs, with how many entries ago each stood."""
    ages: defaultdict[Specific, list[int]] = defaultdict(list)
    for age, entry in enumerate(reversed(compaction.part.entries)):
        if entry.role != "tool_result":
            for each in specifics_of(text_of([entry])):
                ages[each].append(age)
    return ages


def _plain_list(ages: dict[Specific, list[int]], summary: str, way: str, size: int) -> str:
    score = _PLAIN[way]
    ranked = sorted(ages, key=lambda each: (-score(ages[each]), each))
    text = "\n".join(form for kind, form in ranked if not holds(summary, (kind, form)))
    return text if len(text) <= size else text[:size].rpartition("\n")[0]


def total(found: Sequence[Covered]) -> Covered:
    """Return the sum of all compactions."""
    ways = {way: sum(each.covered[way] for each in found) for way in found[0].covered}
    return Covered("all", sum(each.entries for each in found), sum(each.needed for each in found), ways)


def table(found: Sequence[Covered]) -> str:
    """Return a line for each compaction and one for their sum: shares in per cent."""
    ways = list(found[0].covered)
    lines = [f"{'compaction':<10}{'entries':>9}{'needed':>8}  " + "  ".join(ways)]
    for each in (*found, total(found)):
        shares = "  ".join(f"{100 * each.covered[way] / (each.needed or 1):>{len(way)}.1f}" for way in ways)
        lines.append(f"{each.name[:8]:<10}{each.entries:>9}{each.needed:>8}  {shares}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit status 1 where no compaction was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strings_in_play", description=__doc__)
    parser.add_argument("folder", type=Path, help="transcripts, in any folder below it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts to a file")
    asked = parser.parse_args(arguments)
    found = [measure(each) for each in compactions(asked.folder)]
    if not found:
        print(f"no compaction with a summary in {asked.folder}", file=sys.stderr)
        return 1
    print(table(found))
    if asked.json:
        asked.json.write_text(json.dumps([asdict(each) for each in found], indent=1), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
