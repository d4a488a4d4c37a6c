"""What a replay found: each request, each fold of either side, and what the milder strategies won. All in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pinfold.context.lab.losses import Loss

STRATEGIES = ("truncated", "externalized", "reclaimed", "clipped")
"""The strategies short of a fold, mildest first."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request to the model: what it takes by whose rules.

    `raw`: all that was said so far. `client`: as its client folded it. `projected`: as the policy has it. `reported`:
    as the client wrote it down, None where it did not. `is_over`: the policy refuses it, pins and the newest exchange
    alone are over the budget.
    """

    at: str | None
    raw: int
    client: int
    projected: int
    reported: int | None = None
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class FoldMade:
    """One fold, before request `step` (from 1). `loss` is None where the client keeps its summary to itself."""

    step: int
    before: int
    after: int
    loss: Loss | None


@dataclass(frozen=True, slots=True)
class Won:
    """How often a strategy was used, and the tokens that it took out of all later requests."""

    count: int = 0
    tokens: int = 0

    def plus(self, tokens: int) -> Won:
        """Once more."""
        return Won(self.count + 1, self.tokens + tokens)


@dataclass(frozen=True)
class Replayed:
    """A whole replay. `fixed` is what each request takes beside its history, and is part of each figure of `sent`."""

    fixed: int
    budget: int
    sent: tuple[Sent, ...] = ()
    client_folds: tuple[FoldMade, ...] = ()
    folds: tuple[FoldMade, ...] = ()
    won: Mapping[str, Won] = field(default_factory=dict)

    @property
    def avoided(self) -> int:
        """How many of the client's folds the policy had no need of."""
        return max(0, len(self.client_folds) - len(self.folds))

    @cached_property
    def totals(self) -> dict[str, int]:
        """The sums over all requests: raw, client, projected; reported of those that say so."""
        return {kind: sum(tokens) for kind, tokens in self._by_kind.items()}

    @cached_property
    def largest(self) -> dict[str, int]:
        """The largest single request of each kind."""
        return {kind: max(tokens, default=0) for kind, tokens in self._by_kind.items()}

    @property
    def over(self) -> int:
        """Requests that the policy refuses."""
        return sum(each.is_over for each in self.sent)

    @cached_property
    def _by_kind(self) -> dict[str, list[int]]:
        return {
            "raw": [each.raw for each in self.sent],
            "client": [each.client for each in self.sent],
            "projected": [each.projected for each in self.sent],
            "reported": [each.reported for each in self.sent if each.reported is not None],
        }
