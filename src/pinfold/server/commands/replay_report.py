"""What a replay found, as a table of sums or of requests, and as an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio

from pinfold.context.budget import Window, window_of
from pinfold.context.lab.cost import Prices
from pinfold.context.lab.rent import Rent, rent
from pinfold.context.lab.replayed import FoldMade, Replayed
from pinfold.context.lab.script import estimate
from pinfold.context.projection import Budget, Cache, Policy
from pinfold.context.tokens import count
from pinfold.context.visible import counted, money
from pinfold.server.commands.named_transcript import ACCEPTED, named_transcript, reading
from pinfold.server.commands.rent_report import rent_facts
from pinfold.server.commands.tables import Report
from pinfold.server.transcripts.lines import line_number
from pinfold.server.transcripts.replaying import Played, model_of, play
from pinfold.store import Progress
from pinfold.store.errors import InvalidInputError

_KINDS = ("raw", "client", "projected", "reported")
_SAME_NAMES = ("spill", "stale_turns", "keep", "fold_batch")
"""The limits that a policy has by the same names."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What was asked of a policy; None where the client's habit or the policy's own default holds."""

    window: int | None = None
    output_reserve: int | None = None
    system_prompt: int | None = None
    tool_definitions: int | None = None
    safety_margin: int | None = None
    spill: int | None = None
    stale_turns: int | None = None
    keep: int | None = None
    fold_batch: int | None = None
    caps: Mapping[str, int] = field(default_factory=dict)

    def policy(self, window: Window, cache: Cache, tokens: str) -> Policy:
        """Return the policy. Raises `InvalidInputError` where nothing is left for history."""
        habit = window.habit
        budget = Budget(
            window.tokens,
            habit.output_reserve if self.output_reserve is None else self.output_reserve,
            habit.own_tokens if self.system_prompt is None else self.system_prompt,
            self.tool_definitions or 0,
            window.margin if self.safety_margin is None else self.safety_margin,
        )
        if not budget.history:
            raise InvalidInputError(
                f"Of a window of {window.tokens:,} tokens nothing is left for history.",
                "Say a larger --window, or less --output-reserve, --system-prompt and --safety-margin.",
            )
        given = {name: getattr(self, name) for name in _SAME_NAMES if getattr(self, name) is not None}
        size = estimate if tokens == "estimate" else count
        return Policy(budget, self.caps, cache=cache, size=size, **given)


@dataclass(frozen=True, slots=True)
class Choice:
    """How to replay: whose transcript it is (None: it shows), what tokens cost, how they are counted, which policy."""

    client: str | None
    prices: Prices
    lifetime_s: float
    tokens: str
    limits: Limits

    def cache(self) -> Cache:
        """Return the cache as a policy reckons with it, in plain prices."""
        plain = self.prices.read
        if not plain:
            return Cache(self.lifetime_s)
        return Cache(self.lifetime_s, self.prices.cache_read / plain, self.prices.cache_write / plain)


@dataclass(frozen=True, slots=True)
class Seen:
    """A transcript that was replayed, under what, and what its caches cost in fact, where it has figures."""

    path: Path
    window: Window
    policy: Policy
    played: Played
    paid: Rent | None


def seen(path: Path, choice: Choice, progress: Progress | None = None) -> Seen:
    """Replay a transcript. Raises `InvalidInputError` for a file that is none, or holds no request to a model."""
    with reading(path):
        found = named_transcript(path, choice.client)
        window = window_of(found.client, model_of(found), choice.limits.window)
        policy = choice.limits.policy(window, choice.cache(), choice.tokens)
        played = anyio.run(play, found, policy, progress)
    if not played.replayed.sent:
        raise InvalidInputError(f"{path} holds no request to a model.", ACCEPTED)
    usages = played.usages
    paid = rent(usages, choice.prices, choice.lifetime_s) if usages else None
    return Seen(path, window, policy, played, paid)


def report_of(seen: Seen, *, show_steps: bool) -> Report:
    """Return the table of the sums, or of each request."""
    columns = ("request", "at (UTC)", *_KINDS) if show_steps else ("", *_KINDS)
    rows = _steps(seen.played.replayed) if show_steps else _sums(seen.played.replayed)
    return Report(facts_of(seen), columns, rows, _remark(seen))


def facts_of(seen: Seen) -> dict[str, Any]:
    """Return all there is, for programs."""
    replayed, unknown = seen.played.replayed, seen.played.unknown
    budget = seen.policy.budget
    limits = {name: getattr(seen.policy, name) for name in _SAME_NAMES}
    return {
        "transcript": str(seen.path),
        "client": seen.window.client,
        "model": seen.window.model,
        "policy": asdict(budget) | {"history": budget.history, "caps": dict(seen.policy.caps)} | limits,
        "requests": len(replayed.sent),
        "refused": replayed.over,
        "totals": replayed.totals,
        "largest": replayed.largest,
        "folds": {
            "client": [asdict(each) for each in replayed.client_folds],
            "policy": [asdict(each) for each in replayed.folds],
            "avoided": replayed.avoided,
        },
        "strategies": {name: asdict(won) for name, won in replayed.won.items()},
        "cost": None if seen.paid is None else rent_facts(seen.paid),
        "not_understood": {"lines": unknown.count, "first": _first_unknown(seen)},
        "steps": [asdict(each) for each in replayed.sent],
    }


def _sums(replayed: Replayed) -> list[tuple[str, ...]]:
    client, policy = _lost(replayed.client_folds), _lost(replayed.folds)
    said = sum(each.reported is not None for each in replayed.sent)
    told = [name for name in _KINDS if name != "reported" or said]
    rows = [
        ("requests", *[str(len(replayed.sent))] * 3, str(said or "")),
        ("tokens sent", *_named(replayed.totals, told)),
        ("largest request", *_named(replayed.largest, told)),
        ("folds", "", str(len(replayed.client_folds)), str(len(replayed.folds)), ""),
        ("specifics lost in folds", "", client, policy, ""),
        ("folds avoided", "", "", str(replayed.avoided), ""),
    ]
    for name, won in replayed.won.items():
        rows.append((name, "", "", str(won.count), ""))
        rows.append((f"tokens {name}", "", "", str(won.tokens), ""))
    if replayed.over:
        rows.append(("over the budget", "", "", str(replayed.over), ""))
    return rows


def _steps(replayed: Replayed) -> list[tuple[str, ...]]:
    return [
        (
            str(number),
            (each.at or "")[:19],
            str(each.raw),
            str(each.client),
            str(each.projected) + ("!" if each.is_over else ""),
            "" if each.reported is None else str(each.reported),
        )
        for number, each in enumerate(replayed.sent, start=1)
    ]


def _named(figures: Mapping[str, int], names: list[str]) -> tuple[str, ...]:
    return tuple(str(figures[name]) if name in names else "" for name in _KINDS)


def _lost(folds: tuple[FoldMade, ...]) -> str:
    return str(sum(each.loss.lost for each in folds if each.loss))


def _remark(seen: Seen) -> str:
    replayed, window = seen.played.replayed, seen.window
    share = replayed.totals["projected"] / max(1, replayed.totals["raw"])
    assumed = ", assumed" if window.assumed else ""
    lines = [
        f"{window.model or 'Model unknown'}, window {window.tokens:,}{assumed}; {seen.policy.budget.history:,} of it"
        f" for history. Projected is {share:.0%} of raw.",
        _cost(seen.paid),
    ]
    if replayed.over:
        lines.append(
            f"{counted(replayed.over, 'request')} did not fit: what may not be folded was over the budget."
        )
    if unknown := seen.played.unknown.count:
        first = f"{'the first of them ' * (unknown > 1)}line {_first_unknown(seen)}"
        lines.append(f"Not understood: {counted(unknown, 'line')}, {first}.")
    return "\n".join(lines)


def _cost(paid: Rent | None) -> str:
    if paid is None:
        return "The transcript has no usage figures, so what its caches cost is not known."
    total = paid.total
    return (
        f"Its requests cost {money(total.dollars)} $ at {paid.prices} (--read, --output): {total.read:,} tokens read"
        f" from the cache, {total.written:,} written, {total.rewritten:,} of them anew after"
        f" {counted(total.resumes, 'resume')} ({money(total.rewrite_dollars)} $)."
    )


def _first_unknown(seen: Seen) -> int | None:
    unknown = seen.played.unknown
    return line_number(seen.path, unknown.first) if unknown.count else None
