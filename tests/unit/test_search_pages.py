"""What later pages know of earlier ones: what read the same, which artifacts had their place, and no texts."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfold.store.sql.search import EntryRow, page
from tests.unit.test_search_sql import Log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "store.db")
    yield made
    made.db.close()


def piece(log: Log, artifact: str, text: str) -> int:
    return log.add(text, pointer=artifact, kind="artifacts", chunk=len(log.texts) + 1)


def test_what_reads_the_same_as_the_first_page_is_no_hit_of_the_next_one(log: Log) -> None:
    repeated = piece(log, "A3", "alarm in the cellar")
    fresh = piece(log, "A2", "alarm in the attic")
    hidden = piece(log, "A1", "alarm in the yard")
    second = piece(log, "A1", "alarm in the hall")
    first = piece(log, "A1", "alarm in the cellar")
    shown = log.search("alarm", limit=2)
    assert [hit.entry.id for hit in shown.hits] == [first, second]
    then = log.search("alarm", limit=2, cursor=shown.next_cursor)
    assert [hit.entry.id for hit in then.hits] == [fresh]
    assert [hit.entry.id for hit in then.repeats] == [repeated]
    assert hidden < second


def test_an_artifact_has_two_places_however_long_the_texts_before_it(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "READ_CHARS", 100)
    pieces = [piece(log, "A2", f"alarm {n} " + f"filler{n} " * 20) for n in range(3)]
    before = piece(log, "A1", "alarm 9 " + "filler9 " * 20)
    assert log.pages("alarm", limit=5) == [[before], [pieces[2]], [pieces[1]], []]


def test_a_page_lets_go_of_the_texts_of_earlier_pages(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    monkeypatch.setattr(page, "READ_CHARS", 10_000)
    alive: list[weakref.ref[Text]] = []
    most = 0

    def text_of(row: EntryRow) -> str:
        nonlocal most
        text = Text(log.texts[row.id])
        alive.append(weakref.ref(text))
        most = max(most, sum(len(each) for each in (ref() for ref in alive) if each))
        return text

    monkeypatch.setattr(log, "text_of", text_of)
    for n in range(20):
        piece(log, f"A{n}", f"alarm {n} " + f"filler{n} " * 300)
    assert sum(map(len, log.pages("alarm", limit=20))) == 20
    assert 10_000 < most < 10_000 + 2 * 3_000
