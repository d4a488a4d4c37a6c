"""What a search names is what it showed: what reads the same as a hit, too, and on later pages."""

from __future__ import annotations

import pytest

from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Pointer, PointerKind
from tests.contract.acts import ANNA, find, say

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P10")]

TEXT = "Staging listens on 8443."


def _search(pointer: str | None) -> Pointer:
    assert pointer is not None
    return Pointer(PointerKind.SEARCH, int(pointer[1:]))


def _entry(pointer: str) -> Pointer:
    return Pointer(PointerKind.ENTRY, int(pointer[1:]))


async def test_opening_what_the_missed_search_named_under_a_hit_answers_nothing(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await say(store, TEXT, TEXT)
    page = await find(store, "staging")
    (named,) = page.hits[0].like
    await find(store, "8443", missed=_search(page.pointer))
    (miss,) = await store.misses(None, 9)
    assert miss.hits == (page.hits[0].pointer, named)
    await store.note_opened(ANNA, _entry(named))
    assert [miss.answer for miss in await store.misses(None, 9)] == [None]
    await store.close()


async def test_opening_what_a_later_search_named_under_a_hit_answers_the_miss(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await say(store, TEXT, TEXT)
    await find(store, "rehearsal door")
    (named,) = (await find(store, "staging")).hits[0].like
    await store.note_opened(ANNA, _entry(named))
    assert [miss.answer for miss in await store.misses(None, 9)] == [named]
    await store.close()


async def test_what_a_later_page_names_as_a_repeat_was_shown(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pinfold.store.sql.search.page.READ_CHARS", 100)
    store = await open_store(place.folder, "demo")
    said = await say(store, *[TEXT] * 9)
    await find(store, "rehearsal door")
    first = await find(store, "staging")
    repeats = (await find(store, "staging", cursor=first.next_cursor)).repeats
    assert set(repeats) <= set(said)
    await store.note_opened(ANNA, _entry(repeats[0]))
    assert [miss.answer for miss in await store.misses(None, 9)] == [repeats[0]]
    await store.close()
