"""What is forgotten is in no byte of the files, whoever reads or writes meanwhile and whoever is killed."""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from pinfold.store.commands import Message, RecordFold
from pinfold.store.content import Chunk, collect
from pinfold.store.forgetting import Forget
from pinfold.store.logged import LogPart
from pinfold.store.sql.chunks import chunk_of
from pinfold.store.sql.forgetting.owing import is_owed
from pinfold.store.sqlite import connection
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import SqliteStore, open_store
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import ANNA, checkpoint, find, pin, say, spill
from tests.store.children import child, line_of, tell

pytestmark = pytest.mark.anyio
CLI = Caller("command-line", "command-line", actor="cli")


def _word(draw: random.Random) -> str:
    return "".join(draw.choices(string.ascii_lowercase, k=14))


@pytest.fixture
def needle() -> list[str]:
    """Four words that stand nowhere else."""
    draw = random.Random()
    return [_word(draw) for _ in range(4)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "store")


async def _fill(store: SqliteStore, needle: list[str], bystanders: int = 60) -> None:
    """Write the needle in every way there is, between things that stay."""
    text = " ".join(needle)
    for n in range(bystanders):
        await say(store, f"bystander {n} " + _word(random.Random(n)) * 20)
    [said] = await say(store, f"It was said that {text}.")
    await pin(store, f"decide {text}", why=f"because {text}", files=(f"src/{needle[0]}.py",))
    await spill(store, (f"{text}\n" * 3).encode() + random.Random(1).randbytes(300), label=f"label {text}")
    await spill(store, b"line\n" * 30_000 + text.encode() + b"\n" + b"line\n" * 30_000, label="long")
    await checkpoint(store, goal=text, facts=(text,), files=(f"docs/{needle[1]}.md",))
    await store.record_fold(
        RecordFold(ANNA, "f1", "auto", offered=((said, f"that {text}"),), strings=((needle[2], said),))
    )
    await find(store, f"{text} and more that is nowhere")
    await find(store, text)
    for n in range(bystanders):
        await store.append_messages(ANNA, [Message("user", f"later bystander {n}", f"id{n}")])


def _decompressed(database: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        for row in db.execute("SELECT * FROM chunk"):
            piece: Chunk = chunk_of(row)
            yield piece.unpack("a chunk")


def _traces(place: Place, needle: list[str]) -> dict[str, list[str]]:
    """Return in which files, or unpacked chunks, words of the needle stand; also as the index spells them."""
    found = {}
    for file in sorted(place.folder.iterdir()):
        content = file.read_bytes().lower()
        found[file.name] = [word for word in needle for form in (word, word[:8]) if form.encode() in content]
    found["chunks"] = [
        word for piece in _decompressed(place.database) for word in needle if word.encode() in piece
    ]
    return {name: words for name, words in found.items() if words}


async def test_nothing_of_the_forgotten_is_left_in_any_byte_of_the_files(
    place: Place, needle: list[str]
) -> None:
    store = await open_store(place.folder, "demo")
    await _fill(store, needle)
    assert set(_traces(place, needle)) >= {"chunks"}
    for word in needle:
        await store.forget(Forget(CLI, match=word))
    assert _traces(place, needle) != {}  # in pages that no table uses: this is what the scrub is for
    scrubbed = await store.scrub()
    assert scrubbed.owed is None
    assert _traces(place, needle) == {}
    assert (await store.verify()).problems == ()
    assert len((await find(store, "bystander", limit=50)).hits) == 50
    await store.close()
    assert _traces(place, needle) == {}


async def test_no_copy_is_left_of_what_was_written_without_care_for_free_pages(
    place: Place, needle: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLite does where it is not told otherwise: what is deleted stays in the free part of its page."""
    careless = tuple(one.replace("secure_delete = ON", "secure_delete = OFF") for one in connection._SETTINGS)
    monkeypatch.setattr(connection, "_SETTINGS", careless)
    store = await open_store(place.folder, "demo")
    await _fill(store, needle)
    for word in needle:
        await store.forget(Forget(CLI, match=word))
    await store.close()
    monkeypatch.undo()
    assert "log.db" in _traces(place, needle)
    store = await open_store(place.folder, "demo")
    assert (await store.scrub()).owed is None
    await store.close()
    assert _traces(place, needle) == {}


READING = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM event").fetchone()
print("reading", flush=True)
sys.stdin.readline()
db.execute("COMMIT")
db.close()
print("done", flush=True)
"""


async def test_a_scrub_that_a_reader_holds_up_is_owed_and_done_later(place: Place, needle: list[str]) -> None:
    store = await open_store(place.folder, "demo")
    await _fill(store, needle, bystanders=5)
    await store._writer.write(lambda tx: tx.db.execute("PRAGMA busy_timeout = 50").fetchall())
    with child(READING, place.database) as reader:
        assert await anyio.to_thread.run_sync(line_of, reader) == "reading"
        for word in needle:
            await store.forget(Forget(CLI, match=word))
        scrubbed = await store.scrub()
        assert scrubbed.owed is not None
        assert "reading" in scrubbed.owed
        assert (await find(store, needle[0])).hits == ()
        tell(reader)
        assert await anyio.to_thread.run_sync(line_of, reader) == "done"
    assert await store._reader.read(is_owed)
    assert (await store.scrub()).owed is None
    assert not await store._reader.read(is_owed)
    assert _traces(place, needle[1:]) == {}
    await store.close()


KILLED = """
import os, signal, sys
import anyio
from pathlib import Path
from pinfold.store.forgetting import Forget
from pinfold.store.logged import LogPart
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller, Pointer, PointerKind

async def main():
    store = await open_store(Path(sys.argv[1]), "demo")
    for word in sys.argv[4:]:
        await store.forget(Forget(Caller("command-line", "command-line", actor="cli"), match=word))
    print("forgotten", flush=True)
    steps = [0]
    def look():
        steps[0] += 1
        if steps[0] == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return 0
    await store._writer.alone(lambda db: db.set_progress_handler(look, int(sys.argv[2])))
    await store.scrub()
    print("scrubbed", steps[0], flush=True)

anyio.run(main)
"""


@pytest.mark.parametrize("step", [1, 5, 20, 80])
async def test_a_scrub_that_is_killed_is_owed_and_can_be_done_again(
    place: Place, needle: list[str], step: int
) -> None:
    store = await open_store(place.folder, "demo")
    await _fill(store, needle, bystanders=20)
    await store.close()
    with child(KILLED, place.folder, "50", str(step), *needle) as running:
        assert line_of(running) == "forgotten"
        assert line_of(running) == ""
        assert running.wait(20) == -9
    store = await open_store(place.folder, "demo")
    assert (await store.verify()).problems == ()
    assert (await find(store, needle[0])).hits == ()
    assert await store._reader.read(is_owed)
    assert (await store.scrub()).owed is None
    await store.close()
    assert _traces(place, needle[1:]) == {}


async def test_others_read_and_write_while_the_files_are_scrubbed(place: Place, needle: list[str]) -> None:
    store, other = [await open_store(place.folder, "demo") for _ in range(2)]
    await _fill(store, needle)
    await store.forget(Forget(CLI, match=needle[0]))
    made: list[int] = []

    async def write() -> None:
        for n in range(40):
            made.append((await pin(other, f"meanwhile {n}")).pin.number)
            assert (await find(other, "bystander")).hits

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        for _ in range(3):
            assert (await store.scrub()).owed is None
    assert (
        len([one for one in await store.pins(None, 99) if one.text.startswith("meanwhile")])
        == len(made)
        == 40
    )
    assert (await other.verify()).problems == ()
    await store.close()
    await other.close()


async def test_a_damaged_artifact_can_be_forgotten_though_its_words_cannot_be_taken_out(
    tmp_path: Path,
) -> None:
    store = await open_store(tmp_path / "store", "demo")
    for number in range(9):
        await pin(store, f"Decision {number}")
    await spill(store, b"a sound line\n" * 99)
    await spill(store, b"a line that will be damaged\n" * 99)
    with closing(sqlite3.connect(tmp_path / "store" / "log.db")) as db:
        assert db.execute("UPDATE chunk SET packed = x'00' WHERE content = 2").rowcount == 1
        db.commit()
    assert "damaged" in "".join((await store.verify()).problems)
    await store.forget(Forget(CLI, pointers=(Pointer(PointerKind.ARTIFACT, 2),)))
    assert (await store.verify()).problems == ()
    assert [hit.pointer for hit in (await find(store, "sound line")).hits] == ["A1#L1"]
    await store.close()


async def test_what_was_forgotten_where_a_copy_comes_from_is_forgotten_though_its_bytes_are_damaged_here(
    tmp_path: Path,
) -> None:
    source, copy = [await open_store(tmp_path / name, "demo") for name in ("source", "copy")]
    line = b"a line that will be damaged\n" * 99
    await pin(source, "a sound decision")
    await spill(source, line)
    with closing(collect([line])) as content:
        end = await copy.receive(LogPart(await source.logged(0), content))
    with closing(sqlite3.connect(tmp_path / "copy" / "log.db")) as db:
        assert db.execute("UPDATE chunk SET packed = x'00'").rowcount == 1
        db.commit()
    await source.forget(Forget(CLI, pointers=(Pointer(PointerKind.ARTIFACT, 1),)))
    blank = tuple(event.seq for event in await source.logged(0) if event.body is None)
    await copy.receive(LogPart(await source.logged(end.seq), blank=blank))
    assert await copy.logged(0) == await source.logged(0)
    assert (await copy.verify()).problems == ()
    assert [hit.pointer for hit in (await find(copy, "sound decision")).hits] == ["P1"]
    assert (await find(copy, "line that will be damaged")).hits == ()
    await source.close()
    await copy.close()
