"""What a conversation's prompt cache really cost: reads, writes, and rewrites after its lifetime had run out."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pinfold.context.lab.cost import Prices


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request took, in tokens, as its client wrote it down.

    `plain` were neither read from a cache nor written to one; `written_long` are those of `written` that a cache keeps
    for an hour.
    """

    at: datetime
    plain: int
    read: int
    written: int
    output: int
    written_long: int = 0

    @property
    def prompt(self) -> int:
        """All that was sent."""
        return self.plain + self.read + self.written


@dataclass(frozen=True, slots=True)
class Paid:
    """Tokens by kind, and their dollars. `rewritten` are those of `written` that a cache had held before."""

    requests: int
    resumes: int
    plain: int
    read: int
    written: int
    rewritten: int
    output: int
    dollars: float
    rewrite_dollars: float


KINDS = ("plain", "read", "written", "rewritten", "output")
"""What is paid for: tokens beside the cache, read from it, written to it first and anew, put out."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A request after the cache had gone cold: how long nothing was sent, and what had to be written anew."""

    at: datetime
    idle_s: float
    rewritten: int
    dollars: float


@dataclass(frozen=True, slots=True)
class Rent:
    """What a conversation took, per day (UTC), per resume and in sum, and the prices that its dollars are made of."""

    prices: Prices
    days: dict[str, Paid]
    resumes: tuple[Resume, ...]
    total: Paid


def rent(usages: Sequence[Usage], prices: Prices, lifetime_s: float) -> Rent:
    """Return what requests, in order of time, have cost; a resume is one `lifetime_s` or more after the one before."""
    resumes = dict(_resumes(usages, prices, lifetime_s))
    days: dict[str, list[int]] = {}
    for place, each in enumerate(usages):
        days.setdefault(each.at.date().isoformat(), []).append(place)
    paid = {day: _paid(usages, places, resumes, prices) for day, places in days.items()}
    total = _paid(usages, range(len(usages)), resumes, prices)
    return Rent(prices, paid, tuple(resumes.values()), total)


def dollars_by_kind(paid: Paid, prices: Prices) -> dict[str, float]:
    """Return what each of `KINDS` has cost; their sum is `paid.dollars`."""
    apart = {
        "plain": prices.dollars(sent=paid.plain),
        "read": prices.dollars(read=paid.read),
        "rewritten": paid.rewrite_dollars,
        "output": prices.dollars(output=paid.output),
    }
    return {kind: apart.get(kind, max(0.0, paid.dollars - sum(apart.values()))) for kind in KINDS}


def _resumes(usages: Sequence[Usage], prices: Prices, lifetime_s: float) -> Iterator[tuple[int, Resume]]:
    for place, (before, each) in enumerate(itertools.pairwise(usages), start=1):
        idle_s = (each.at - before.at).total_seconds()
        if idle_s >= lifetime_s:
            rewritten = min(each.written, max(0, before.prompt - each.read))
            share = rewritten / each.written if each.written else 0.0
            yield place, Resume(each.at, idle_s, rewritten, share * _write_dollars(each, prices))


def _paid(usages: Sequence[Usage], places: Iterable[int], resumes: dict[int, Resume], prices: Prices) -> Paid:
    chosen = list(places)
    found = [usages[place] for place in chosen]
    cold = [resumes[place] for place in chosen if place in resumes]
    return Paid(
        requests=len(found),
        resumes=len(cold),
        plain=sum(each.plain for each in found),
        read=sum(each.read for each in found),
        written=sum(each.written for each in found),
        rewritten=sum(each.rewritten for each in cold),
        output=sum(each.output for each in found),
        dollars=sum(_dollars(each, prices) for each in found),
        rewrite_dollars=sum(each.dollars for each in cold),
    )


def _dollars(usage: Usage, prices: Prices) -> float:
    return prices.dollars(usage.plain, usage.output, usage.read) + _write_dollars(usage, prices)


def _write_dollars(usage: Usage, prices: Prices) -> float:
    """An hour's cache is written at twice the plain price."""
    short = usage.written - usage.written_long
    return prices.dollars(sent=2 * usage.written_long, written=short)
