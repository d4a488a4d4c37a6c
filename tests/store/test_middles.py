"""What stands between the ends of an artifact that is too large for the index is found all the same."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinfold.store import Store
from pinfold.store.errors import DamagedError
from pinfold.store.sql import spilling
from pinfold.store.sql.search import middles
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import find, say, spill

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P32")]

_LINES = 18_000
_MIDDLE = 11_000


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setattr(spilling, "INDEXED_WHOLE_BYTES", 1024 * 1024)
    opened = await open_store(tmp_path / "store", "demo")
    yield opened
    await opened.close()


def _log(needles: dict[int, str]) -> bytes:
    """Return 1.8 MB of text whose lines are all the same but for the needles."""
    lines = [needles.get(number, f"step {'-' * 94}") for number in range(1, _LINES + 1)]
    return "\n".join(lines).encode()


async def _spill(store: Store, needle: str, line: int = _MIDDLE) -> str:
    artifact = (await spill(store, _log({line: needle}), label="build log")).artifact
    assert 0 < artifact.indexed_bytes < artifact.size_bytes
    return artifact.pointer


async def test_a_needle_there_is_found_with_its_line_by_words_in_any_order_and_by_their_stems(
    store: Store,
) -> None:
    await _spill(store, "the Zéppelin subsystem refused 17 handshakes")
    for query in ("handshakes zeppelin", '"subsystem refused" zeppelin', "nothing at all\n17 zeppelin"):
        page = await find(store, query)
        assert [(hit.pointer, hit.tier) for hit in page.hits[:1]] == [(f"A1#L{_MIDDLE}", "all words")]
        assert (page.tier, page.covered, page.through, page.partly) == ("all words", 1.0, (), ())
        assert "subsystem refused 17" in page.hits[0].snippet


async def test_a_needle_is_found_among_lines_in_other_scripts(store: Store) -> None:
    lines = _log({_MIDDLE: "ПРОВЕРКА Zéppelin 身份验证 ✓", _MIDDLE + 1: "ok", _MIDDLE + 2: "naïve ✗"})
    await spill(store, lines, label="build log")
    for query, line in (("проверка zeppelin", 0), ("身份验证", 0), ('"ok naive"', 1)):
        page = await find(store, query)
        assert (page.hits[0].pointer, page.tier) == (f"A1#L{_MIDDLE + line}", "all words")


async def test_a_word_that_no_entry_holds_is_found_there_before_what_holds_the_others(store: Store) -> None:
    await _spill(store, "the zeppelin refused")
    await say(store, "what became of the handshake in that build?")
    page = await find(store, "handshake build zeppelin")
    assert (page.hits[0].pointer, page.hits[0].tier) == (f"A1#L{_MIDDLE}", "most words")
    assert len(page.hits) == 2
    assert page.covered == pytest.approx(1 / 3)
    assert page.through == ("A1",)


async def test_what_stands_inside_of_words_is_found_only_where_nothing_else_is(store: Store) -> None:
    await _spill(store, "at 0xdeadbeef")
    assert [hit.tier for hit in (await find(store, "deadbeef")).hits] == ["substring"]
    said = await say(store, "a crash at startup")
    assert [hit.pointer for hit in (await find(store, "crash adbee")).hits] == said


async def test_a_phrase_must_stand_there_as_it_was_quoted(store: Store) -> None:
    await _spill(store, "the zeppelin subsystem refused")
    assert (await find(store, '"zeppelin-subsystem"')).hits[0].pointer == f"A1#L{_MIDDLE}"
    for quoted in ('"subsystem zeppelin"', '"eppelin subsystem"'):
        page = await find(store, quoted)
        assert (page.hits, page.through) == ((), ("A1",))


async def test_the_newest_artifact_comes_first_and_older_ones_are_left_once_it_holds_all_words(
    store: Store,
) -> None:
    for number in (1, 2):
        await _spill(store, "the zeppelin refused", _MIDDLE + number)
    page = await find(store, "zeppelin")
    assert ([hit.pointer for hit in page.hits], page.partly) == ([f"A2#L{_MIDDLE + 2}"], ("A1",))


async def test_when_the_time_is_over_it_is_said_what_was_not_looked_through(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _spill(store, "the zeppelin refused")
    monkeypatch.setattr(middles, "LOOK_S", 0.0)
    page = await find(store, "zeppelin")
    assert (page.hits, page.through, page.partly) == ((), (), ("A1",))


async def test_it_is_not_looked_at_where_an_entry_holds_all_words_or_for_a_later_page_or_outside_the_filters(
    store: Store,
) -> None:
    await _spill(store, "the zeppelin refused")
    texts = [f"the zeppelin of {'abcdefg'[n]}{n * 37}" for n in range(7)]
    await say(store, *texts)
    page = await find(store, "zeppelin")
    assert {hit.pointer[0] for hit in page.hits} == {"H"}
    assert (page.through, page.partly) == ((), ())
    other = await find(store, "zeppelin", kinds=("pins",))
    assert (other.hits, other.through, other.partly) == ((), (), ())


async def test_later_pages_go_on_behind_what_was_found_there(store: Store) -> None:
    await _spill(store, "the zeppelin refused")
    texts = [f"the handshake of {'abcdefg'[n]}{n * 37}" for n in range(7)]
    said = await say(store, *texts)
    seen: list[str] = []
    cursor = None
    for _ in range(4):
        page = await find(store, "zeppelin handshake", cursor=cursor, limit=3)
        seen += [hit.pointer for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen[0] == f"A1#L{_MIDDLE}"
    assert sorted(seen[1:]) == sorted(said)


async def test_a_damaged_chunk_there_leaves_what_stands_before_it_and_is_said(
    store: Store, tmp_path: Path
) -> None:
    await _spill(store, "the zeppelin refused")
    with sqlite3.connect(tmp_path / "store" / "log.db") as db:
        changed = db.execute(
            "UPDATE chunk SET packed = zeroblob(9) WHERE start BETWEEN 1300000 AND 1400000"
        ).rowcount
    db.close()
    assert changed
    page = await find(store, "zeppelin")
    assert ([hit.pointer for hit in page.hits], page.partly) == ([f"A1#L{_MIDDLE}"], ("A1",))


async def test_a_damaged_piece_in_the_index_keeps_no_search_from_what_is_around_it(
    store: Store, tmp_path: Path
) -> None:
    await spill(store, b"the zeppelin refused")
    said = await say(store, "a crash at startup")
    with sqlite3.connect(tmp_path / "store" / "log.db") as db:
        assert db.execute("UPDATE chunk SET packed = zeroblob(9), codec = 'zstd'").rowcount == 1
    db.close()
    with pytest.raises(DamagedError):
        await find(store, "zeppelin")
    assert [hit.pointer for hit in (await find(store, "tartu")).hits] == said
