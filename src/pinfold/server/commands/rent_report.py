"""What a transcript's prompt cache really cost, per day, in sum and at each resume."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from pinfold.context.lab.cost import Prices
from pinfold.context.lab.rent import Paid, Rent, rent
from pinfold.context.visible import counted, money
from pinfold.server.commands.named_transcript import ACCEPTED, named_transcript, reading
from pinfold.server.commands.tables import Report
from pinfold.server.transcripts.usage import usages
from pinfold.store import Progress
from pinfold.store.errors import InvalidInputError

_COLUMNS = (
    "day (UTC)",
    "requests",
    "resumes",
    "plain",
    "read",
    "written",
    "rewritten",
    "output",
    "$",
    "$ of rewrites",
)


def paid_for(path: Path, prices: Prices, lifetime_s: float, progress: Progress | None = None) -> Rent:
    """Return what a transcript has cost. Raises `InvalidInputError` for a file that is none, or holds no figures."""
    with reading(path):
        found = named_transcript(path)
        seen = usages(found.path, found.client, progress)
    if not seen:
        raise InvalidInputError(f"{path} holds no usage figures.", ACCEPTED)
    return rent(seen, prices, lifetime_s)


def rent_report(path: Path, paid: Rent, lifetime_s: float) -> Report:
    """Return it as a table, a day a row."""
    rows = [_row(day, each) for day, each in paid.days.items()]
    facts = {"transcript": str(path)} | rent_facts(paid)
    return Report(facts, _COLUMNS, [*rows, _row("all", paid.total)], _remark(paid, lifetime_s))


def _row(name: str, paid: Paid) -> tuple[str, ...]:
    counts = (paid.requests, paid.resumes, paid.plain, paid.read, paid.written, paid.rewritten, paid.output)
    return name, *map(str, counts), money(paid.dollars), money(paid.rewrite_dollars)


def rent_facts(paid: Rent) -> dict[str, object]:
    """Return all there is, for programs."""
    return {
        "days": [{"day": day} | asdict(each) for day, each in paid.days.items()],
        "resumes": [asdict(each) | {"at": each.at.isoformat()} for each in paid.resumes],
        "total": asdict(paid.total),
    }


def _remark(paid: Rent, lifetime_s: float) -> str:
    return f"At {paid.prices} (--read, --output). {_idle(paid, lifetime_s)}"


def _idle(paid: Rent, lifetime_s: float) -> str:
    if not paid.resumes:
        return f"Never idle for {lifetime_s:g} s: nothing had to be written anew."
    dearest = max(paid.resumes, key=lambda each: each.dollars)
    return (
        f"{counted(len(paid.resumes), 'resume')} after {lifetime_s:g} s or more;"
        f" the dearest at {dearest.at:%Y-%m-%d %H:%M}, {dearest.rewritten:,} tokens written"
        f" anew for {money(dearest.dollars)} $."
    )
