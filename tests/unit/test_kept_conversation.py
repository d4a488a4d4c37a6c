"""A conversation in a store, on generated histories: whoever asks for a request, whenever, gets the same bytes."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinfold.context.projection import (
    Folded,
    Hidden,
    Message,
    Request,
    Shortened,
    Superseded,
    extractive,
)
from pinfold.context.projection.kept import KeptConversation, fork_conversation
from pinfold.store import Store
from pinfold.store.events import Kind
from pinfold.store.sqlite.store import open_store
from tests.store.children import ended
from tests.unit.kept_talks import ANNA, FORK, Played, bytes_of, opened, play, small
from tests.unit.projections import generated, orphans

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P31", "P39")]
SEEDS = (4, 8)
TURNS = 14
SAYS_WHY = {Kind.PROJECTION_COMMITTED, Kind.FOLD_RECORDED, Kind.DECISION_SUPERSEDED}

IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
import anyio
from pinfold.store.sqlite.store import open_store
from tests.unit.kept_talks import bytes_of, opened

async def main():
    store = await open_store(Path(sys.argv[1]), "demo")
    talk = await opened(store)
    print(bytes_of(talk.projected()), bytes_of(await talk.request()), talk.seq)
    await store.close()

anyio.run(main)
"""


@pytest.fixture(scope="module", params=SEEDS)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("played") / "store", request.param, TURNS)


@pytest.fixture
async def store(played: Played) -> AsyncIterator[Store]:
    store = await open_store(played.folder, "demo")
    yield store
    await store.close()


@pytest.fixture
async def talk(store: Store) -> KeptConversation:
    return await opened(store)


async def _kinds(store: Store, after: int, end: int) -> set[str]:
    """Return the kinds of events of this session, and of pins of any, in a stretch of the log."""
    session = (await store.brief_state(ANNA)).session
    events = [event for event in await store.logged(after) if event.seq <= end]
    return {
        event.kind for event in events if event.session == session or event.kind == Kind.DECISION_SUPERSEDED
    }


async def test_the_histories_hold_decisions(talk: KeptConversation) -> None:
    """What follows would say little of histories in which nothing is decided."""
    assert {type(step) for step in talk.history} >= {Message, Folded, Hidden, Shortened, Superseded}


async def test_a_second_look_at_the_store_gives_the_same_history_and_bytes(
    talk: KeptConversation, played: Played
) -> None:
    last, seq = played.requests[-1]
    assert talk.seq == seq
    assert bytes_of(talk.projected()) == bytes_of(await talk.request()) == bytes_of(last)
    assert talk.seq == seq, "nothing is decided anew"


async def test_another_process_goes_on_with_the_same_bytes(talk: KeptConversation, played: Played) -> None:
    done = ended(IN_ANOTHER_PROCESS, played.folder)
    assert done.returncode == 0, done.stderr
    own = bytes_of(talk.projected())
    assert done.stdout.split() == [own, own, str(talk.seq)]


async def test_a_rebuilt_store_gives_the_same_bytes(store: Store, talk: KeptConversation) -> None:
    before = bytes_of(talk.projected())
    await store.rebuild()
    assert (await store.verify()).problems == ()
    again = await opened(store)
    assert (again.history, bytes_of(again.projected())) == (talk.history, before)


async def test_each_request_of_the_past_is_projected_as_it_was(
    talk: KeptConversation, played: Played
) -> None:
    for request, seq in played.requests:
        assert bytes_of(await talk.as_of(seq)) == bytes_of(request)


async def test_every_request_is_whole_and_within_its_budget(played: Played) -> None:
    for request, _ in played.requests:
        assert orphans(request.messages) == set()
        assert request.used.total <= 900


async def test_every_live_pin_of_the_project_is_in_the_request_letter_for_letter(
    store: Store, played: Played
) -> None:
    for request, seq in played.requests:
        state = await store.brief_state(ANNA, seq)
        live = [pin for pin in state.pins if pin.superseded_by is None]
        shown = [each for each in request.messages if each.pinned]
        assert [each.pointer for each in shown] == [pin.pointer for pin in live]
        assert all(pin.text in each.text for pin, each in zip(live, shown, strict=True))
        assert not any("only Ben" in each.text for each in request.messages)


async def test_a_request_begins_with_the_one_before_unless_an_event_says_why_not(
    store: Store, played: Played
) -> None:
    kept = 0
    for (before, last), (request, seq) in zip(played.requests, played.requests[1:], strict=False):
        if not SAYS_WHY & await _kinds(store, last, seq):
            kept += 1
            assert request.messages[: len(before.messages)] == before.messages
    assert 0 < kept < len(played.requests) - 1


async def test_a_fork_begins_as_its_origin_was_and_changes_nothing_there(
    played: Played, tmp_path: Path
) -> None:
    store = await open_store(shutil.copytree(played.folder, tmp_path / "store"), "demo")
    try:
        session = (await store.brief_state(ANNA)).session
        request, seq = played.requests[6]
        origin, before = await store.logged(0, session), bytes_of((await opened(store)).projected())
        fork = await fork_conversation(store, FORK, seq, small(), extractive())
        assert _said(fork.projected()) == _said(request)
        for message in generated(99, 6):
            await fork.append(message)
        await fork.request()
        assert await store.logged(0, session) == origin
        assert bytes_of((await opened(store)).projected()) == before
        again = await fork_conversation(store, FORK, seq, small(), extractive())
        assert again.history == fork.history
        assert (await store.verify()).problems == ()
    finally:
        await store.close()


def _said(request: Request) -> list[Message]:
    return [each for each in request.messages if not each.pinned]
