"""The log against itself, receipts that were given, and what is derived from it. Source: P10."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from pinfold.store import Progress
from pinfold.store.events import GENESIS
from pinfold.store.sql.chain import event_problems
from pinfold.store.sql.database import Database
from pinfold.store.sql.rebuilding import log_rows
from pinfold.store.values import Receipt

MOST_PROBLEMS = 50


def part(progress: Progress | None, start: int, end: int) -> Progress | None:
    """Return what tells of one part of the work as a share of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(start * total + (end - start) * done, 100 * max(total, 1))


def digest_of_rows(db: Database, *statements: str) -> bytes:
    """Return one digest of all rows that the statements give, in order."""
    whole = hashlib.sha256()
    for statement in statements:
        for row in db.stream(statement):
            whole.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
    return whole.digest()


def stale_problems(names: Iterable[str]) -> list[str]:
    """Return a line for each view that is not what the log makes of it."""
    return [f"{name}: it differs from the log; run `pinfold rebuild`" for name in names]


class LogAudit:
    """One look at a log: `problems`, a line each; `tip`, where it ends; `held`, the receipts that it bears out.

    What was found until something could not be read stays found.
    """

    def __init__(self, db: Database) -> None:
        self.problems: list[str] = []
        self.tip: Receipt | None = None
        self.held: list[Receipt] = []
        self._db = db

    def check_chain(self, progress: Progress | None = None) -> None:
        """Go through all events, to the first ones that are wrong."""
        previous, expected = GENESIS, 0
        for row in log_rows(self._db, progress):
            expected += 1
            if row["seq"] != expected:
                self.problems.append(f"event {expected}: missing (the next one is {row['seq']})")
                expected = row["seq"]
            self.problems += event_problems(row, previous)
            previous = row["digest"]
            self.tip = Receipt.of(row["seq"], row["digest"])
            if len(self.problems) >= MOST_PROBLEMS:
                break

    def check_receipts(self, receipts: Sequence[Receipt]) -> None:
        """Hold the receipts against the log; a cut tail shows in nothing else."""
        for receipt in receipts:
            row = self._db.execute("SELECT digest FROM event WHERE seq = ?", (receipt.seq,)).fetchone()
            if row is None:
                why = "the log ends before it; acknowledged events are missing"
            elif not row["digest"].hex().startswith(receipt.digest):
                why = "the log says otherwise at that event"
            else:
                self.held.append(receipt)
                continue
            self.problems.append(f"receipt {receipt}: {why}")
