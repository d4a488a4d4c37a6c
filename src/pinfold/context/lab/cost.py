"""`pinfold lab cost`: N steps with history replayed raw, folded into digests, or looked up. Source: design 4."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (100, 500, 2_000, 5_000)
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens; of the cache's reads and writes, too."""

    read: float = 3.0
    output: float = 15.0
    cache_read: float = 0.3
    cache_write: float = 3.75


@dataclass(frozen=True, slots=True)
class Load:
    """What a step takes, in tokens. `looked_up` entries of `entry` tokens stand in for the whole history."""

    system: int = 1_500
    output: int = 300
    digest: int = 50
    steps_per_digest: int = 10
    working_state: int = 600
    looked_up: int = 5
    entry: int = 60


@dataclass(frozen=True, slots=True)
class Costs:
    """Dollars of a run of `steps`, by how its history reaches the model."""

    steps: int
    raw: float
    digests: float
    lookup: float

    @property
    def lookup_per_step(self) -> float:
        """The same for every step, however long the run."""
        return self.lookup / self.steps


def costs(steps: int, prices: Prices, load: Load) -> Costs:
    """Return the sums, exact: step k sends what k - 1 earlier steps left behind."""
    earlier = steps * (steps - 1) // 2
    full, rest = divmod(steps, load.steps_per_digest)
    digests = full * (full - 1) // 2 * load.steps_per_digest + full * rest
    flat = load.system + load.working_state + load.looked_up * load.entry
    return Costs(
        steps,
        raw=_dollars(steps * load.system + earlier * load.output, steps * load.output, prices),
        digests=_dollars(steps * load.system + digests * load.digest, steps * load.output, prices),
        lookup=_dollars(steps * flat, steps * load.output, prices),
    )


@dataclass(frozen=True, slots=True)
class Cached:
    """How a run uses a prompt cache: it lives `lifetime_s` after its last use, steps are `step_s` apart, and so many
    times a day the conversation is resumed after it has gone cold."""

    lifetime_s: int = 300
    step_s: int = 30
    resumes_per_day: int = 4


@dataclass(frozen=True, slots=True)
class Rent:
    """Dollars of a raw run whose prefix is cached, and of writing its whole history anew at each resume of a day."""

    raw_cached: float
    rent_per_day: float


def cached(steps: int, prices: Prices, load: Load, cache: Cached) -> Rent:
    """Return what the cache makes of a raw run.

    While it is warm a step reads what was sent before and writes what is new; when steps are further apart than it
    lives, each writes all of it.
    """
    sent = steps * load.system + steps * (steps - 1) // 2 * load.output
    new = load.system + (steps - 1) * load.output
    is_warm = cache.step_s < cache.lifetime_s
    written, read = (new, sent - new) if is_warm else (sent, 0)
    spent = written * prices.cache_write + read * prices.cache_read + steps * load.output * prices.output
    rent = cache.resumes_per_day * new * prices.cache_write
    return Rent(spent / _MILLION, rent / _MILLION)


def _dollars(read: int, output: int, prices: Prices) -> float:
    return (read * prices.read + output * prices.output) / _MILLION
