"""Kept conversations of any shape and of ten thousand messages; with the long tiers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from pinfold.context.projection import Budget, Policy
from pinfold.store import Store
from pinfold.store.sqlite.store import open_store
from tests.unit.kept_talks import ANNA, bytes_of, opened, play
from tests.unit.projections import generated, orphans

pytestmark = [pytest.mark.full, pytest.mark.anyio]
MESSAGES = 10_000
LONGEST_S = 0.1
"""For ten thousand messages, beyond reading them. Source: design 4."""


@pytest.mark.parametrize("_one", range(3))
def test_a_conversation_of_any_shape_is_whole_and_replayed_to_the_byte(tmp_path: Path, _one: int) -> None:
    seed = random.randrange(10**6)  # not a name of the test: each worker would draw its own
    print(f"seed {seed}")
    played = play(tmp_path / "store", seed, 25)

    async def look() -> None:
        store = await open_store(played.folder, "demo")
        talk = await opened(store)
        for request, seq in played.requests:
            assert orphans(request.messages) == set()
            assert request.used.total <= request.used.budget
            assert bytes_of(await talk.as_of(seq)) == bytes_of(request)
        assert talk.projected() == played.requests[-1][0]
        assert (await store.verify()).problems == ()
        await store.close()

    anyio.run(look)


async def _fill(store: Store, messages: int) -> None:
    talk = await opened(store, policy=Policy(Budget(10**9)))
    seed = 0
    while len(talk.history) < messages:
        await talk.append(*generated(seed, 60))
        seed += 1


def _took(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


async def test_ten_thousand_messages_of_a_store_are_projected_in_a_tenth_of_a_second(tmp_path: Path) -> None:
    talks = {}
    for messages in (MESSAGES // 4, MESSAGES):
        store = await open_store(tmp_path / str(messages), "demo")
        await _fill(store, messages)
        talks[messages] = await opened(store, ANNA, Policy(Budget(10**9)))
        await store.close()
    rounds = [{steps: _took(talk.projected) for steps, talk in talks.items()} for _ in range(15)]
    took = {
        steps: min(times[steps] for times in rounds) for steps in talks
    }  # in turn: what disturbs, disturbs both
    each = {steps: took[steps] / len(talk.history) for steps, talk in talks.items()}
    print({len(talk.history): f"{took[steps] * 1_000:.0f} ms" for steps, talk in talks.items()})
    assert each[MESSAGES] * MESSAGES <= LONGEST_S
    assert each[MESSAGES] <= 2 * each[MESSAGES // 4], "linear, with room for noise"
