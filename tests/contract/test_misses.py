"""What is learned from searches that missed: what answered them, and that the same miss does not happen twice."""

from __future__ import annotations

import pytest

from pinfold.store import Store
from pinfold.store.forgetting import Forget
from pinfold.store.search_results import LEARNED_TIER
from pinfold.store.values import PinKind, Pointer, PointerKind
from tests.contract.acts import ANNA, BEN, find, pin, say

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P4", "P10", "P24")]

ANSWER = "Staging listens on 8443 behind the reverse proxy."
MISSED = "which door does rehearsal use"
OTHER = "staging proxy"


def pointer(text: str) -> Pointer:
    return Pointer(PointerKind(text[0]), int(text[1:]))


async def _sound(store: Store) -> None:
    assert await store.stale_views() == ()
    assert (await store.verify()).problems == ()


async def _answered(store: Store) -> list[tuple[str | None, str | None]]:
    return [(miss.answer, miss.how) for miss in await store.misses(None, 20)]


async def _miss_and_answer(store: Store) -> str:
    """Ask in vain, ask otherwise, open what that showed."""
    (answer,) = await say(store, ANSWER)
    assert (await find(store, MISSED)).hits == ()
    shown = await find(store, OTHER)
    assert [hit.pointer for hit in shown.hits] == [answer]
    await store.note_opened(ANNA, pointer(answer))
    return answer


async def test_a_search_that_is_not_recorded_finds_the_same_and_leaves_nothing(store: Store) -> None:
    await say(store, ANSWER)
    before = await store.log_end()
    seen = await find(store, OTHER, recorded=False)
    assert (seen.pointer, [hit.pointer for hit in seen.hits]) == (None, ["H2"])
    assert (await find(store, MISSED, recorded=False)).hits == ()
    assert (await store.log_end(), await store.misses(None, 20)) == (before, ())
    assert (await find(store, OTHER)).pointer == "S1"


async def test_the_same_miss_does_not_happen_twice(store: Store) -> None:
    answer = await _miss_and_answer(store)
    assert await _answered(store) == [(answer, "opened")]
    again = await find(store, MISSED, caller=BEN)
    assert [(hit.pointer, hit.tier) for hit in again.hits] == [(answer, LEARNED_TIER)]
    assert again.hits[0].note == f"answered an earlier miss: {MISSED}"
    assert again.tier == LEARNED_TIER
    assert len(await store.misses(None, 20)) == 1
    await _sound(store)


async def test_what_the_missed_search_had_shown_or_another_session_opens_is_no_answer(store: Store) -> None:
    first, second = await say(store, ANSWER, "Staging is restarted nightly.")
    await find(store, "staging restarted")
    await find(store, OTHER, missed=pointer("S1"))
    await store.note_opened(ANNA, pointer(second))
    await store.note_opened(BEN, pointer(first))
    assert [how for _, how in await _answered(store)] == [None]
    await store.note_opened(ANNA, pointer(first))
    assert [how for _, how in await _answered(store)] == [None]  # S1 had shown it, too


async def test_a_search_that_says_missed_and_holds_all_its_words_answers_by_what_it_shows(
    store: Store,
) -> None:
    (answer,) = await say(store, ANSWER)
    await find(store, MISSED)
    await find(store, "8443 reverse proxy", missed=pointer("S1"))
    assert await _answered(store) == [(answer, "shown")]
    await find(store, "rehearsal doorway", missed=pointer("S2"))
    assert [how for _, how in await _answered(store)] == [None, None, None]
    assert (await find(store, MISSED)).hits == ()
    await _sound(store)


async def test_a_pin_that_holds_a_third_of_the_missed_words_answers(store: Store) -> None:
    await find(store, "rehearsal gateway door number")
    await pin(store, "Releases are cut on Mondays")
    assert await _answered(store) == [(None, None)]
    await pin(store, "The rehearsal gateway listens on 8443", kind=PinKind.FACT)
    assert await _answered(store) == [("P2", "pinned")]
    await _sound(store)


async def test_a_dead_end_tried_again_is_found_by_the_words_of_the_attempt(store: Store) -> None:
    await pin(store, "Use an ORM for the query layer", kind=PinKind.DEAD_END)
    await pin(store, "Adopt an ORM for the query layer everywhere")
    (miss,) = await store.misses(None, 9)
    assert (miss.answer, miss.how, miss.hits) == ("P1", "dead end", ("P1",))
    await _sound(store)


async def test_after_five_more_searches_a_miss_is_no_longer_answered(store: Store) -> None:
    (answer,) = await say(store, ANSWER)
    await find(store, MISSED)
    for _ in range(6):
        await find(store, OTHER)
    await store.note_opened(ANNA, pointer(answer))
    assert await _answered(store) == [(None, None)]


async def test_what_was_learned_never_goes_before_a_full_match_and_is_on_the_first_page(store: Store) -> None:
    answer = await _miss_and_answer(store)
    said = await say(store, *(f"{MISSED}, number {n}" for n in range(9)))
    page = await find(store, MISSED)
    assert [hit.tier for hit in page.hits] == ["exact phrase"] * 4 + [LEARNED_TIER]
    assert page.hits[4].pointer == answer
    rest = await find(store, MISSED, cursor=page.next_cursor, limit=50)
    shown = [hit.pointer for hit in (*page.hits, *rest.hits)]
    assert sorted(shown) == sorted([answer, *said])
    only = await find(store, MISSED, limit=1)
    assert [hit.tier for hit in only.hits] == ["exact phrase"]


async def test_what_was_learned_stands_behind_a_hit_that_holds_half_of_the_words(store: Store) -> None:
    answer = await _miss_and_answer(store)
    half, little = await say(store, "the door of the rehearsal room", "doors are painted")
    hits = (await find(store, MISSED)).hits
    assert [hit.pointer for hit in hits[:2]] == [half, answer]
    await store.forget(Forget(ANNA, pointers=(pointer(half),)))
    hits = (await find(store, MISSED)).hits
    assert [hit.pointer for hit in hits] == [answer, little]


async def test_signs_as_asked_leave_what_was_learned_on_the_first_page(store: Store) -> None:
    (answer,) = await say(store, ANSWER)
    await find(store, "rehearsal c++")
    await find(store, OTHER)
    await store.note_opened(ANNA, pointer(answer))
    await say(store, *(f"rehearsal in c, number {n}" for n in range(9)), "rehearsal in c++")
    page = await find(store, "rehearsal c++")
    assert "c++" in page.hits[0].snippet
    assert page.hits[4].pointer == answer


async def test_a_query_that_shares_a_word_with_a_miss_is_not_answered_by_it(store: Store) -> None:
    await _miss_and_answer(store)
    assert (await find(store, "rehearsal schedule")).hits == ()
    assert [hit.tier for hit in (await find(store, "rehearsal door used")).hits] == [LEARNED_TIER]


async def test_filters_phrases_and_replacements_hold_for_what_was_learned(store: Store) -> None:
    await _miss_and_answer(store)
    assert (await find(store, MISSED, kinds=("pins",))).hits == ()
    assert (await find(store, f'"{MISSED}"')).hits == ()
    await find(store, "who may deploy", caller=BEN)
    await pin(store, "Only Kim may deploy", caller=BEN)
    await pin(store, "Only Lou ships releases", caller=BEN, supersedes=(1,))
    assert [hit.pointer for hit in (await find(store, "who may deploy", kinds=("pins",))).hits] == ["P2"]


@pytest.mark.parametrize("gone", ["answer", "miss"])
@pytest.mark.parametrize("rebuilds", [True, False])
async def test_forgetting_either_side_forgets_the_alias(
    store: Store, gone: str, monkeypatch: pytest.MonkeyPatch, *, rebuilds: bool
) -> None:
    monkeypatch.setattr("pinfold.store.sql.forgetting.erasing._WORTH_A_REBUILD", 99 if rebuilds else 0)
    answer = await _miss_and_answer(store)
    await store.forget(Forget(ANNA, pointers=(pointer(answer if gone == "answer" else "S1"),)))
    assert (await find(store, MISSED, caller=BEN)).hits == ()
    assert [how for _, how in await _answered(store)] == [None] * (2 if gone == "answer" else 1)
    await _sound(store)
