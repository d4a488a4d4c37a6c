"""The disk that writes take: of each kind and size, beside a reader that never ends, and of rows of a megabyte."""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.store.commands import Outline, SpillArtifact
from pinfold.store.content import collect
from pinfold.store.sql.apply import INDEXED_WHOLE_BYTES
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import SqliteStore, open_store
from tests.contract.acts import ANNA, checkpoint, find, pin, say, spill
from tests.store.children import child, line_of, tell

pytestmark = pytest.mark.anyio

KIBIBYTE, MEBIBYTE = 1024, 1024 * 1024
STANDING_BYTES = 4 * MEBIBYTE
"""What the log ahead holds of earlier writes before SQLite moves it: 1,000 pages."""

LONGEST_LOG_AHEAD_BYTES = 64 * MEBIBYTE
DRAW = random.Random(1)
WORDS = ["".join(DRAW.choices("abcdefghijklmnoprstuvw", k=DRAW.randint(3, 9))) for _ in range(20_000)]
_COMMON = list(itertools.accumulate(1 / rank for rank in range(1, len(WORDS) + 1)))
CHARACTERS = DRAW.sample([chr(code) for code in range(0x4E00, 0x9FA0)], 3_500)
_USUAL = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(CHARACTERS))))
HAN = [
    "".join(DRAW.choices(CHARACTERS, cum_weights=_USUAL, k=DRAW.choice((1, 2, 2, 2, 3))))
    for _ in range(20_000)
]
SEED = 7
Write = Callable[[SqliteStore, int, int], Awaitable[object]]


@pytest.fixture(autouse=True)
def seed() -> None:
    """Let each test draw the same, whichever others run."""
    DRAW.seed(SEED)


def _prose(size: int, words: list[str] = WORDS, between: str = " ") -> str:
    """Return `size` bytes of words as common as in real text: the commonest every twelfth, most hardly ever."""
    text = between.join(DRAW.choices(words, cum_weights=_COMMON, k=size // 4 + 1))
    return text.encode()[:size].decode("utf-8", "ignore")


def _identifiers(size: int) -> str:
    """Return what an index likes least: words of which none comes twice."""
    return " ".join(DRAW.randbytes(8).hex() for _ in range(size // 17 + 1))[:size]


async def _spill_noise(store: SqliteStore, n: int, size: int) -> None:
    held = collect([DRAW.randbytes(size)])
    await store.spill_artifact(
        SpillArtifact(ANNA, held, Outline("application/octet-stream", "", 0), label=f"{n}")
    )
    held.close()


KINDS: dict[str, Write] = {
    "pin": lambda store, n, size: pin(store, f"{n} {_prose(size)}"),
    "message": lambda store, _, size: say(store, _prose(size)),
    "message in Chinese": lambda store, _, size: say(store, _prose(size, HAN, "")),
    "message of identifiers": lambda store, _, size: say(store, _identifiers(size)),
    "spilled text": lambda store, n, size: spill(store, _prose(size).encode(), label=f"{n}"),
    "spilled noise": _spill_noise,
    "checkpoint": lambda store, n, size: checkpoint(
        store, goal=f"{n}", facts=tuple(_prose(1_000) for _ in range(size // 1_000))
    ),
    "search that misses": lambda store, n, _: find(store, f"zebra{n}"),
}
TIMES = {"message in Chinese": 6}
"""Where no blanks part the words, every two neighbours are in the index."""

_LARGE = ("message", "message in Chinese", "message of identifiers", "spilled text", "spilled noise")
RUNS = [
    *((kind, 1_000, 25) for kind in KINDS),
    ("pin", 0, 25),
    ("spilled text", 0, 25),
    ("message in Chinese", 100_000, 4),
    ("spilled noise", 100_000, 4),
    *(
        pytest.param(kind, size, count, marks=pytest.mark.full)
        for kind in _LARGE
        for size, count in ((0, 300), (10_000, 60), (100_000, 12), (1_000_000, 4), (10_000_000, 1))
    ),
    *(pytest.param(kind, 1_000, 300, marks=pytest.mark.full) for kind in KINDS),
    pytest.param("checkpoint", 100_000, 10, marks=pytest.mark.full),
]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _move_log_ahead(place: Place) -> None:
    with closing(sqlite3.connect(place.database)) as link:
        assert link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert _size(place.log_ahead) == 0


@pytest.mark.parametrize(("kind", "size", "count"), RUNS)
async def test_no_run_of_writes_takes_more_disk_than_its_share(
    place: Place, kind: str, size: int, count: int
) -> None:
    """At most 4 times what is written and 64 KiB a write stay, 6 times of a script without blanks (P33).

    Until the log ahead has been moved, pages lie in it once more, and beside them what it holds of earlier writes.
    """
    store = await open_store(place.folder, "demo")
    await say(store, "begin")
    _move_log_ahead(place)
    start = _size(place.database)
    share = TIMES.get(kind, 4) * size + 64 * KIBIBYTE
    most = longest = 0.0
    for n in range(count):
        await KINDS[kind](store, n, size)
        longest = max(longest, _size(place.log_ahead))
        grown = _size(place.database) + _size(place.log_ahead) - start
        assert grown <= 2 * (n + 1) * share + STANDING_BYTES
        most = max(most, grown / ((n + 1) * share))
    _move_log_ahead(place)
    stays = _size(place.database) - start
    await store.close()
    print(f"{kind}, {size:,} bytes, {count} times: {stays // count:,} bytes each stay, limit {share:,};")
    print(f"at most {most:.0%} of the share while written, log ahead up to {longest / MEBIBYTE:.1f} MiB")
    assert longest > 0
    assert stays <= count * share


async def test_many_small_writes_leave_the_log_ahead_small(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    written = 0
    for n in range(150):
        before = _size(place.database)
        await pin(store, f"{n} {_prose(500)}")
        written += _size(place.database) > before
        assert _size(place.log_ahead) <= STANDING_BYTES + 512 * KIBIBYTE
    await store.close()
    print(f"the log ahead was moved at least {written} times")
    assert written >= 1


async def test_bytes_that_are_there_already_take_no_room_again(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    same = DRAW.getstate()
    await _spill_noise(store, 0, 500_000)
    _move_log_ahead(place)
    start = _size(place.database)
    for n in range(1, 6):
        DRAW.setstate(same)
        await _spill_noise(store, n, 500_000)
    assert (await store.status()).artifacts == 6
    _move_log_ahead(place)
    assert _size(place.database) - start <= 5 * 64 * KIBIBYTE
    await store.close()


async def test_of_a_large_artifact_only_its_ends_are_in_the_index(place: Place) -> None:
    store = await open_store(place.folder, "demo")
    await spill(store, _identifiers(INDEXED_WHOLE_BYTES + 1).encode(), label="ids")
    await store.close()
    with closing(sqlite3.connect(place.database)) as link:
        index = link.execute("SELECT sum(length(block)) FROM words_data").fetchone()[0]
    print(f"{index:,} bytes of index for {INDEXED_WHOLE_BYTES + 1:,} of text, of which 1 MiB is covered")
    assert 500_000 < index < 4 * MEBIBYTE


async def test_an_artifact_that_is_covered_whole_stays_within_two_and_a_half_times_its_text(
    place: Place,
) -> None:
    store = await open_store(place.folder, "demo")
    size = 2 * MEBIBYTE
    made = await spill(store, _identifiers(size).encode(), label="ids")
    assert made.artifact.indexed_bytes == size
    await store.close()
    taken = sum(_size(file) for file in place.folder.iterdir())
    print(f"{taken / size:.2f} times their text")
    assert 1.0 < taken / size <= 2.5


async def test_rows_of_a_megabyte_stay_within_two_and_a_half_times_their_text(place: Place) -> None:
    """Index and all, on the disk as it lies there (a report of 82,000 such rows spoke of 136 GB)."""
    store = await open_store(place.folder, "demo")
    count, size = 4, 1_000_000
    for _ in range(count):
        await say(store, _prose(size))
    await store.close()
    taken = sum(_size(file) for file in place.folder.iterdir())
    print(f"{taken / (count * size):.2f} times their text")
    assert 1.0 < taken / (count * size) <= 2.5


READING = """
import sqlite3, sys
link = sqlite3.connect(sys.argv[1], isolation_level=None)
link.execute("BEGIN")
print(link.execute("SELECT count(*) FROM event").fetchone()[0], flush=True)
sys.stdin.readline()
print(link.execute("SELECT count(*) FROM event").fetchone()[0], flush=True)
link.execute("COMMIT")
print("ended", flush=True)
sys.stdin.readline()
"""


async def test_after_a_long_foreign_read_the_log_ahead_is_small_again(place: Place) -> None:
    """While it lasts, nothing can be moved; afterwards two writes do it, without a restart (P16)."""
    store = await open_store(place.folder, "demo")
    await say(store, "begin")
    with child(READING, place.database) as reader:
        assert line_of(reader) == "2"
        while _size(place.log_ahead) <= LONGEST_LOG_AHEAD_BYTES + 8 * MEBIBYTE:
            await _spill_noise(store, 0, 8 * MEBIBYTE)
        longest = _size(place.log_ahead)
        tell(reader)
        assert (line_of(reader), line_of(reader)) == ("2", "ended")
        await pin(store, "the reader has ended")
        await pin(store, "and so has its snapshot")
        left = _size(place.log_ahead)
    print(f"log ahead {longest / MEBIBYTE:.0f} MiB beside the reader, {left / MEBIBYTE:.1f} MiB after it")
    assert left <= LONGEST_LOG_AHEAD_BYTES
    assert (await store.status()).live_pins == 2
    await store.close()
