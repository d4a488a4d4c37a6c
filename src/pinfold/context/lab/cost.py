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

    def __str__(self) -> str:
        return f"{self.read:g} $ per million tokens of input and {self.output:g} $ of output"

    def dollars(self, sent: int = 0, output: int = 0, read: int = 0, written: int = 0) -> float:
        """Return what tokens cost: sent without a cache, put out, read from a cache and written to it."""
        of_cache = read * self.cache_read + written * self.cache_write
        return (sent * self.read + output * self.output + of_cache) / _MILLION


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
    output = steps * load.output
    return Costs(
        steps,
        raw=prices.dollars(steps * load.system + earlier * load.output, output),
        digests=prices.dollars(steps * load.system + digests * load.digest, output),
        lookup=prices.dollars(steps * flat, output),
    )


@dataclass(frozen=True, slots=True)
class Cached:
    """How a run uses a prompt cache: it lives `lifetime_s` after its last use, steps are `step_s` apart, and so many
    times a day the conversation is resumed after it has gone cold."""

    lifetime_s: int = 300
    step_s: int = 30
    resumes_per_day: int = 4


@dataclass(frozen=True, slots=True)
class CachedCosts:
    """Dollars of a raw run whose prefix is cached, and of writing its whole history anew at each resume of a day."""

    raw_cached: float
    rent_per_day: float


def cached(steps: int, prices: Prices, load: Load, cache: Cached) -> CachedCosts:
    """Return what the cache makes of a raw run.

    While it is warm a step reads what was sent before and writes what is new; when steps are further apart than it
    lives, each writes all of it.
    """
    sent = steps * load.system + steps * (steps - 1) // 2 * load.output
    new = load.system + (steps - 1) * load.output
    is_warm = cache.step_s < cache.lifetime_s
    written, read = (new, sent - new) if is_warm else (sent, 0)
    return CachedCosts(
        raw_cached=prices.dollars(output=steps * load.output, read=read, written=written),
        rent_per_day=prices.dollars(written=cache.resumes_per_day * new),
    )
