"""Silent damage, made from outside with another program: `verify` names it, and changes nothing."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from pinfold.store.commands import Message, RecordFold
from pinfold.store.errors import DamagedError
from pinfold.store.forgetting import Forget
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Pointer, PointerKind
from tests.contract.acts import ANNA, checkpoint, find, pin, say, spill

pytestmark = pytest.mark.anyio

LINES = b"".join(b"%05d the build goes on\n" % n for n in range(9_000))
Damage = Callable[[sqlite3.Connection], object]


def _sql(*statements: str) -> Damage:
    def run(link: sqlite3.Connection) -> None:
        for statement in statements:
            assert link.execute(statement).rowcount != 0, statement

    return run


def _swap(columns: str) -> Damage:
    """Exchange these columns of the events 3 and 4."""

    def swap(link: sqlite3.Connection) -> None:
        rows = [
            link.execute(f"SELECT {columns} FROM event WHERE seq = ?", (seq,)).fetchone() for seq in (3, 4)
        ]
        assert rows[0] != rows[1]
        marks = ", ".join(f"{name} = ?" for name in columns.split(", "))
        for seq, row in ((4, rows[0]), (3, rows[1])):
            link.execute(f"UPDATE event SET {marks} WHERE seq = ?", (*row, seq))

    return swap


def _flip_a_bit(link: sqlite3.Connection) -> None:
    number, packed = link.execute("SELECT id, packed FROM chunk ORDER BY id LIMIT 1 OFFSET 1").fetchone()
    middle = len(packed) // 2
    flipped = packed[:middle] + bytes([packed[middle] ^ 1]) + packed[middle + 1 :]
    link.execute("UPDATE chunk SET packed = ? WHERE id = ?", (flipped, number))


def _forge_a_body(link: sqlite3.Connection) -> None:
    """Change a body together with the digest beside it: only the chain can tell."""
    (body,) = link.execute("SELECT body FROM event WHERE seq = 3").fetchone()
    forged = body.replace("Redis", "Mongo")
    assert forged != body
    digest = hashlib.sha256(forged.encode()).digest()
    link.execute("UPDATE event SET body = ?, body_digest = ? WHERE seq = 3", (forged, digest))


def _stray_bytes(link: sqlite3.Connection) -> None:
    digest = hashlib.sha256(b"").digest()
    link.execute("INSERT INTO content (sha256, size_bytes, lines, is_text) VALUES (?, 0, 0, 1)", (digest,))


def _retell_in_the_index(link: sqlite3.Connection) -> None:
    """Let the index say of a pin what the pin does not say."""
    (entry,) = link.execute("SELECT id FROM entry WHERE pointer = 'P1'").fetchone()
    columns = "INSERT INTO words (words, rowid, body, parts, tags) VALUES ('delete', ?, 'redis', '', '')"
    link.execute(columns, (entry,))
    link.execute("INSERT INTO words (rowid, body, parts, tags) VALUES (?, 'mongo', '', '')", (entry,))


BODIES = "body, body_digest"
WHOLE = "at, session, actor, kind, key, parent, version, body, body_digest, digest"
INDEX = "search index: it differs from the log"

KINDS: dict[str, tuple[Damage, str]] = {
    "body changed": (
        _sql("UPDATE event SET body = replace(body, 'Redis', 'Mongo') WHERE seq = 3"),
        "event 3: its body was changed",
    ),
    "body forged with its digest": (_forge_a_body, "event 3: it does not follow"),
    "time changed": (_sql("UPDATE event SET at = '2001' WHERE seq = 3"), "event 3: it does not follow"),
    "actor changed": (_sql("UPDATE event SET actor = 'user' WHERE seq = 3"), "event 3: it does not follow"),
    "key changed": (_sql("UPDATE event SET key = 'forged' WHERE seq = 3"), "event 3: it does not follow"),
    "event deleted": (_sql("DELETE FROM event WHERE seq = 3"), "event 3: missing"),
    "first event deleted": (_sql("DELETE FROM event WHERE seq = 1"), "event 1: missing"),
    "newest event deleted": (_sql("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)"), "differs"),
    "bodies of two events swapped": (_swap(BODIES), "event 3: it does not follow"),
    "two events swapped": (_swap(WHOLE), "event 3: it does not follow"),
    "chunk: a bit flipped": (_flip_a_bit, "bytes "),
    "chunk deleted": (_sql("DELETE FROM chunk WHERE id = 2"), "chunks do not add up"),
    "content deleted": (_sql("DELETE FROM chunk", "DELETE FROM content"), "A1: its bytes are missing"),
    "chunk moved in its lines": (
        _sql("UPDATE chunk SET lines_before = lines_before + 1 WHERE id = 2"),
        "its chunks do not add up at byte",
    ),
    "content called longer": (_sql("UPDATE content SET lines = lines + 1"), "its chunks do not add up to"),
    "content called binary": (_sql("UPDATE content SET is_text = 0"), "its chunks do not add up to"),
    "bytes that nothing refers to": (_stray_bytes, "bytes e3b0c44298fc: nothing refers to them"),
    "chunks that belong to nothing": (
        _sql("UPDATE chunk SET content = 99 WHERE id = 1"),
        "bytes: 1 chunks belong to nothing",
    ),
    "fold changed": (_sql("UPDATE fold SET body = replace(body, 'auto', 'manual')"), "view fold: it differs"),
    "fold deleted": (_sql("DELETE FROM fold"), "view fold: it differs"),
    "omission made up": (_sql("INSERT INTO omission VALUES (1, 2, 3, 'old')"), "view omission: it differs"),
    "message's id changed": (_sql("UPDATE external SET external_id = 'm2'"), "view external: it differs"),
    "message's id deleted": (_sql("DELETE FROM external"), "view external: it differs"),
    "pin called forgotten": (
        _sql("INSERT INTO forgotten (letter, number, at) VALUES ('P', 1, '2026')"),
        "view forgotten: it differs",
    ),
    "two pins swapped": (
        _sql(
            "UPDATE pin SET number = 99 WHERE number = 1",
            "UPDATE pin SET number = 1 WHERE number = 2",
            "UPDATE pin SET number = 2 WHERE number = 99",
        ),
        "view pin: it differs",
    ),
    "text that is no text": (
        _sql("UPDATE event SET body = CAST(x'7b22ff227d' AS TEXT) WHERE seq = 3"),
        "event 3: its body was changed",
    ),
    "index of keys dropped": (_sql("DROP INDEX event_key"), "file: the index event_key is missing"),
    "trigger planted": (
        _sql("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM pin; END"),
        "file: the trigger t is not ours",
    ),
    "pin changed": (_sql("UPDATE pin SET text = 'use Mongo' WHERE number = 1"), "view pin: it differs"),
    "pin deleted": (_sql("DELETE FROM pin WHERE number = 1"), "view pin: it differs"),
    "pin retired": (_sql("UPDATE pin SET superseded_by = 2 WHERE number = 1"), "view pin: it differs"),
    "checkpoint changed": (_sql("UPDATE checkpoint SET head = 'f00'"), "view checkpoint: it differs"),
    "artifact renamed": (_sql("UPDATE artifact SET label = 'other'"), "view artifact: it differs"),
    "session moved": (_sql("UPDATE conversation SET session = 9"), "view conversation: it differs"),
    "miss deleted": (_sql("DELETE FROM miss"), "view miss: it differs"),
    "entry deleted": (_sql("DELETE FROM entry WHERE pointer = 'P1'"), INDEX),
    "entry moved": (_sql("UPDATE entry SET pointer = 'P2' WHERE pointer = 'P1'"), INDEX),
    "entry led to other bytes": (_sql("UPDATE entry SET chunk = 2 WHERE chunk = 1"), INDEX),
    "a word more in the index": (
        _sql("INSERT INTO words (rowid, body, parts, tags) VALUES (1, 'smuggled', '', '')"),
        INDEX,
    ),
    "an entry's words exchanged": (_retell_in_the_index, INDEX),
    "path deleted": (_sql("DELETE FROM entry_path"), INDEX),
    "words of an entry dropped": (_sql("DELETE FROM words_data WHERE id > 100"), "search index: "),
    "index emptied": (_sql("INSERT INTO words (words) VALUES ('delete-all')"), INDEX),
}


async def history(place: Place) -> None:
    """Make a store with something in every table; the events 3 and 4 are pins."""
    store = await open_store(place.folder, "demo")
    await say(store, "shall we?")
    await pin(store, "use Redis for sessions", files=("src/session.py",))
    await pin(store, "keep logs for 30 days")
    await spill(store, LINES, label="build")
    await checkpoint(store, goal="ship it", pending=("write the changelog",))
    await find(store, "kangaroo")
    await store.append_messages(ANNA, [Message("user", "go on", "m1")])
    await store.record_fold(RecordFold(ANNA, "boundary-1", "auto"))
    await store.close()


def _digest(database: Path) -> str:
    return hashlib.sha256(database.read_bytes()).hexdigest()


def damage(database: Path, wreak: Damage) -> None:
    before = _digest(database)
    with closing(sqlite3.connect(database)) as link:
        wreak(link)
        link.commit()
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert _digest(database) != before


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("lived-in") / "store")
    anyio.run(history, made)
    return made


@pytest.fixture
def place(lived_in: Place, tmp_path: Path) -> Place:
    """Return a copy of a store with something in every table."""
    return Place(shutil.copytree(lived_in.folder, tmp_path / "store"))


async def test_a_sound_store_has_no_problems(place: Place) -> None:
    before = _digest(place.database)
    store = await open_store(place.folder, "demo")
    report = await store.verify()
    await store.close()
    assert (report.problems, report.events, report.artifacts, report.ok) == ((), 9, 1, True)
    assert _digest(place.database) == before


@pytest.mark.parametrize("kind", KINDS)
async def test_damage_is_named_and_left_as_it_is(place: Place, kind: str) -> None:
    wreak, said = KINDS[kind]
    damage(place.database, wreak)
    before = _digest(place.database)
    store = await open_store(place.folder, "demo")
    report = await store.verify()
    await store.close()
    assert any(said in problem for problem in report.problems), report.problems
    assert _digest(place.database) == before


async def test_a_page_of_rubbish_anywhere_is_named(place: Place) -> None:
    sound = place.database.read_bytes()
    for at in range(4_096, len(sound), 12_288):
        place.database.write_bytes(sound[:at] + b"\xa5" * 4_096 + sound[at + 4_096 :])
        assert await _problems(place), f"at {at}"
    place.database.write_bytes(sound)
    assert await _problems(place) == ()


async def _problems(place: Place) -> tuple[str, ...]:
    try:
        store = await open_store(place.folder, "demo")
    except DamagedError as error:  # what every start has to read is among the rubbish
        return (str(error),)
    try:
        return (await store.verify()).problems
    finally:
        await store.close()


async def test_damaged_bytes_are_never_handed_out_and_sound_ones_still_are(place: Place) -> None:
    damage(place.database, _flip_a_bit)
    store = await open_store(place.folder, "demo")
    with pytest.raises(DamagedError, match="A1"):
        await store.artifact_bytes(1, 0, len(LINES))
    assert (await store.artifact_bytes(1, 0, 1_000)).content == LINES[:1_000]
    assert (await pin(store, "still served")).pin.number == 3
    await store.close()


@pytest.mark.parametrize(
    "kind", ["pin changed", "words of an entry dropped", "index emptied", "entry deleted", "fold deleted"]
)
async def test_a_rebuild_mends_what_is_derived(place: Place, kind: str) -> None:
    damage(place.database, KINDS[kind][0])
    store = await open_store(place.folder, "demo")
    assert await store.rebuild() == 9
    assert (await store.verify()).problems == ()
    assert [hit.pointer for hit in (await find(store, "redis sessions")).hits] == ["P1"]
    await store.close()


UNREADABLE = {
    "event": ("UPDATE event SET kind = 'ariifact.spilled' WHERE kind = 'artifact.spilled'", "A1"),
    "pin": ("UPDATE pin SET files = '{'", "P1"),
    "artifact": ("UPDATE artifact SET outline = '{\"Lrror_lines\": 1}'", "A1"),
    "checkpoint": ("UPDATE checkpoint SET state = '[]'", "C1"),
    "fold": ("UPDATE fold SET body = '[]'", "F1"),
}


@pytest.mark.parametrize("table", UNREADABLE)
async def test_a_row_that_cannot_be_what_it_stands_for_is_damage_and_no_bug(place: Place, table: str) -> None:
    sql, pointer = UNREADABLE[table]
    with closing(sqlite3.connect(place.database)) as link:
        assert link.execute(sql).rowcount > 0
        link.commit()
    store = await open_store(place.folder, "demo")
    number = int(pointer[1:])
    reads: dict[str, Callable[[], Awaitable[object]]] = {
        "event": lambda: store.forget_plan(Forget(ANNA, (Pointer(PointerKind.ARTIFACT, number),))),
        "pin": lambda: store.pin(number),
        "artifact": lambda: store.artifact(number),
        "checkpoint": lambda: store.checkpoint(number),
        "fold": lambda: store.fold(number),
    }
    with pytest.raises(DamagedError, match=f"A row of the table {table} is damaged"):
        await reads[table]()
    await store.close()


@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        ("UPDATE pin SET number = 77 WHERE number = 1", False),
        ("UPDATE entry SET pointer = 'F77' WHERE pointer = 'F1'", True),
    ],
)
async def test_what_a_view_lost_stops_no_forgetting_by_a_bug(place: Place, sql: str, refused: bool) -> None:
    with closing(sqlite3.connect(place.database)) as link:
        link.execute("UPDATE fold SET body = json_set(body, '$.lost', json('{\"1\": [\"Redis\"]}'))")
        assert link.execute(sql).rowcount > 0
        link.commit()
    store = await open_store(place.folder, "demo")
    asked = Forget(ANNA, (Pointer(PointerKind.PIN, 1),))
    assert [each.pointer for each in (await store.forget_plan(asked)).doomed] == ["P1"]
    if refused:
        with pytest.raises(DamagedError, match="The entry of F1 is damaged; nothing was changed"):
            await store.forget(asked)
    else:
        assert (await store.forget(asked)).receipt is not None
    await store.close()


@pytest.mark.parametrize("body", ["[5]", "{}", "not JSON"])
async def test_a_fold_that_cannot_be_read_is_damage_to_forget_and_no_bug(place: Place, body: str) -> None:
    with closing(sqlite3.connect(place.database)) as link:
        assert link.execute("UPDATE fold SET body = ?", (body,)).rowcount > 0
        link.commit()
    store = await open_store(place.folder, "demo")
    with pytest.raises(DamagedError, match="table fold"):
        await store.forget_plan(Forget(ANNA, (Pointer(PointerKind.PIN, 1),)))
    await store.close()


async def test_a_schema_that_is_no_text_is_damage_and_no_bug(place: Place) -> None:
    """SQLite repeats it in its own words, which the driver then cannot read."""
    with closing(sqlite3.connect(place.database)) as link:
        link.execute("PRAGMA writable_schema = ON")
        nonsense = "name = CAST(x'ff41' AS TEXT), sql = 'CREATE TABLE !'"
        assert link.execute(f"UPDATE sqlite_schema SET {nonsense} WHERE name = 'miss'").rowcount == 1
        link.commit()
    with pytest.raises(DamagedError, match="its schema cannot be read"):
        await open_store(place.folder, "demo")
