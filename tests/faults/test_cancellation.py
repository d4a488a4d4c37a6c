"""Every verb of the store, cancelled at each of its turns: whole or absent, and the next caller is served (P3, F10)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import anyio
import pytest

from pinfold.store import Store
from pinfold.store.commands import (
    CommitProjection,
    Message,
    PinDecision,
    RecordFold,
    SpillArtifact,
    StartSession,
)
from pinfold.store.content import collect
from pinfold.store.events import BODY_VERSION, Kind, canonical, digest_of, link
from pinfold.store.forgetting import Forget
from pinfold.store.logged import LoggedEvent, LogPart
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.store import SqliteStore, open_store
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import ANNA, OUTLINE, checkpoint, find, pin, spill
from tests.faults.leaks import PATIENCE_S, nothing_left
from tests.faults.turns import Canceller, Cut, by_scope, by_task, turns_of

Verb = Callable[[Store, str], Awaitable[object]]
"""Something asked of a store under a name; asked again, it is a repeat."""

MESSAGE = 6
"""The seq of the first message."""

CLI = Caller("command-line", "command-line", actor="cli")
either_way = pytest.mark.parametrize("cut", [by_scope, by_task], ids=["by scope", "by task"])


async def _append(store: Store, name: str) -> object:
    """A message with an artifact and a pin: three events at once."""
    with closing(collect([name.encode()])) as content:
        beside = (SpillArtifact(ANNA, content, OUTLINE, label=name),)
        said = (PinDecision(ANNA, name, "said", said_at=""),)
        return await store.append_messages(ANNA, [Message("user", name, name, artifacts=beside, pins=said)])


async def _record_fold(store: Store, name: str) -> object:
    with closing(collect([name.encode()])) as content:
        summary = SpillArtifact(ANNA, content, OUTLINE, label=name, aside=True)
        return await store.record_fold(RecordFold(ANNA, name, "auto", summary=summary))


async def _receive(store: Store, name: str) -> object:
    """An event of another log that this one is the beginning of; the same one again."""
    assert isinstance(store, SqliteStore)
    with closing(sqlite3.connect(store._place.database)) as link_past_it:
        query = "SELECT seq, digest FROM event WHERE key IS NOT ? ORDER BY seq DESC LIMIT 1"
        seq, digest = link_past_it.execute(query, (name,)).fetchone()
    body = canonical({"gone": [], "ids": [], "reason": "asked"})
    place = (seq + 1, "2026-11-30T10:00:00Z", 0, "cli", Kind.ENTRY_FORGOTTEN, name, 0, BODY_VERSION)
    event = LoggedEvent(*place, body, digest_of(body), link(digest, place, digest_of(body)))
    return await store.receive(LogPart((event,)))


WRITES: dict[str, tuple[int, Verb]] = {
    "commit_projection": (
        1,
        lambda store, name: store.commit_projection(CommitProjection(ANNA, hidden=(MESSAGE,), key=name)),
    ),
    "pin_decision": (1, lambda store, name: pin(store, name, key=name)),
    "spill_artifact": (1, lambda store, name: spill(store, name.encode(), label=name, key=name)),
    "checkpoint_state": (2, lambda store, name: checkpoint(store, goal=name, fork_of=1, key=name)),
    "start_session": (1, lambda store, name: store.start_session(StartSession(Caller("codex", name), name))),
    "append_messages": (3, _append),
    "record_fold": (2, _record_fold),
    "receive": (1, _receive),
    "forget": (1, lambda store, name: store.forget(Forget(CLI, match=f"doomed {name}."))),
    "scrub": (0, lambda store, _: store.scrub()),
    "rebuild": (0, lambda store, _: store.rebuild()),
    "search_history": (0, lambda store, _: find(store, "first")),
    "note_opened": (1, lambda store, _: store.note_opened(ANNA, Pointer(PointerKind.PIN, 1))),
}
"""How many events each appends, and how it is asked."""

READS: dict[str, Verb] = {
    "brief_state": lambda store, _: store.brief_state(ANNA),
    "folded_part": lambda store, _: store.folded_part(ANNA, "another fold"),
    "transcript_mark": lambda store, _: store.transcript_mark("/t.jsonl"),
    "transcripts": lambda store, _: store.transcripts(ANNA),
    "pin": lambda store, _: store.pin(1),
    "artifact": lambda store, _: store.artifact(1),
    "artifact_bytes": lambda store, _: store.artifact_bytes(1, 0, 99),
    "artifact_lines": lambda store, _: store.artifact_lines(1, 1, 1, 99),
    "scan_artifact": lambda store, _: store.scan_artifact(1, 0, lambda _: True),
    "checkpoint": lambda store, _: store.checkpoint(1),
    "entry": lambda store, _: store.entry(MESSAGE),
    "fold": lambda store, _: store.fold(1),
    "search_record": lambda store, _: store.search_record(1),
    "pins": lambda store, _: store.pins(None, 9),
    "artifacts": lambda store, _: store.artifacts(None, 9),
    "checkpoints": lambda store, _: store.checkpoints(None, 9),
    "folds": lambda store, _: store.folds(None, 9),
    "misses": lambda store, _: store.misses(None, 9),
    "sessions": lambda store, _: store.sessions(None, 9),
    "status": lambda store, _: store.status(),
    "verify": lambda store, _: store.verify(),
    "log_end": lambda store, _: store.log_end(),
    "logged": lambda store, _: store.logged(0, 9),
    "stale_views": lambda store, _: store.stale_views(),
    "forget_plan": lambda store, _: store.forget_plan(Forget(CLI, match="first")),
}


def test_each_verb_of_the_store_is_cancelled_somewhere_here() -> None:
    assert {*WRITES, *READS, "fence", "close"} == Store.__abstractmethods__


@asynccontextmanager
async def _filled(folder: Path) -> AsyncIterator[SqliteStore]:
    store = await open_store(folder, "demo")
    try:
        with anyio.fail_after(PATIENCE_S):
            await pin(store, "the first pin")
            await spill(store, b"the first artifact")
            await checkpoint(store, goal="the first goal")
            await _append(store, "the first message")
            await _record_fold(store, "the first fold")
            await find(store, "nothing of that name")
            yield store
            assert (await store.verify()).problems == ()
    finally:
        await store.close()


def _events(folder: Path) -> int:
    """How many events there are, read past the store."""
    with closing(sqlite3.connect(folder / "log.db")) as link:
        return int(link.execute("SELECT count(*) FROM event").fetchone()[0])


async def _check_settled(store: SqliteStore) -> None:
    """Wait until all that was handed over is done; nothing that is begun is left open."""
    for lane in (store._writer._lane, store._reader._lane):
        assert lane is not None
        assert await lane.run(lambda db: db.in_transaction) is False


@contextmanager
def _held(folder: Path) -> Iterator[Callable[[], None]]:
    """Hold the store's lock, as another process would, until the act that is handed out is called."""
    gate = Gate(folder / "log.lock")
    with closing(gate), ExitStack() as lock:
        lock.enter_context(gate.hold())
        yield lock.close


async def _cut_write(store: SqliteStore, cut: Canceller, verb: str, *, held: bool) -> list[Cut]:
    """Cancel a verb at each of its turns; return what happened."""
    events, ask = WRITES[verb]
    folder = store._place.folder
    cuts: list[Cut] = []
    for turn in range(1, 1 + await turns_of(partial(ask, store, f"{verb} calm"))):
        name = f"{verb} {turn} {held}"
        await pin(store, f"doomed {name}.")
        if verb == "note_opened":
            await find(store, f"nowhere{turn}{held}")
            await find(store, "the first pin")  # what that missed
        before = _events(folder)
        with _held(folder) if held else nullcontext(_nothing) as let_go:
            cuts.append(await cut(partial(ask, store, name), turn, let_go))
            await _check_settled(store)
        assert _events(folder) - before in {0, events}
        await ask(store, name)
        assert _events(folder) - before == events
    return cuts


def _nothing() -> None:
    pass


@either_way
@pytest.mark.parametrize("held", [False, True], ids=["lock free", "lock held elsewhere"])
def test_a_write_cancelled_at_any_turn_is_whole_or_absent_and_its_retry_is_one(
    home: Path, cut: Canceller, *, held: bool
) -> None:
    cuts: list[Cut] = []

    async def all_writes() -> None:
        async with _filled(home) as store:
            for verb in WRITES:
                cuts.extend(await _cut_write(store, cut, verb, held=held))

    with nothing_left():
        anyio.run(all_writes)
    print(f"{len(cuts)} cancels in {len(WRITES)} verbs, {sum(each.stopped for each in cuts)} callers stopped")
    assert len(cuts) > len(WRITES)
    assert all(each.happened for each in cuts)
    assert any(each.stopped for each in cuts)


@either_way
def test_a_read_cancelled_at_any_turn_stops_and_the_next_one_is_answered(home: Path, cut: Canceller) -> None:
    cuts: list[Cut] = []

    async def all_reads() -> None:
        async with _filled(home) as store:
            for ask in READS.values():
                calm = await ask(store, "")
                for turn in range(1, 1 + await turns_of(partial(ask, store, ""))):
                    cuts.append(await cut(partial(ask, store, ""), turn, _nothing))
                    assert await ask(store, "") == calm
                    await _check_settled(store)

    with nothing_left():
        anyio.run(all_reads)
    print(f"{len(cuts)} cancels in {len(READS)} verbs, {sum(each.stopped for each in cuts)} callers stopped")
    assert len(cuts) >= len(READS)
    assert all(each.happened for each in cuts)
    assert sum(each.stopped for each in cuts) >= len(READS) - 1  # what is on a worker thread is waited for


@pytest.mark.parametrize("made", [False, True], ids=["a new store", "an old one"])
def test_an_opening_cancelled_at_any_turn_leaves_nothing_open_and_the_next_one_succeeds(
    home: Path, *, made: bool
) -> None:
    async def open_and_close(folder: Path) -> None:
        await (await open_store(folder, "demo")).close()

    async def all_turns() -> int:
        if made:
            await open_and_close(home)
        turns = await turns_of(partial(open_and_close, home.with_name("calm")))
        for turn in range(1, 1 + turns):
            folder = home if made else home.with_name(str(turn))
            assert (await by_scope(partial(open_and_close, folder), turn, _nothing)).happened
            async with _filled(folder):
                pass
        return turns

    with nothing_left():
        turns = anyio.run(all_turns)
    print(f"{turns} cancels")
    assert turns > 3


@either_way
def test_a_close_cancelled_at_any_turn_finishes_what_was_begun(home: Path, cut: Canceller) -> None:
    async def all_turns() -> int:
        calm = await open_store(home, "demo")
        turns = await turns_of(calm.close)
        for turn in range(1, 1 + turns):
            store = await open_store(home, "demo")

            async def write_and_close(store: SqliteStore = store, turn: int = turn) -> None:
                async with anyio.create_task_group() as group:
                    group.start_soon(partial(pin, store, f"begun {turn}", key=f"{turn}"))
                    await anyio.lowlevel.checkpoint()
                    await store.close()

            await cut(write_and_close, turn + 1, _nothing)
            await store.close()
        return turns

    with nothing_left():
        turns = anyio.run(all_turns)
        assert turns > 1
        assert anyio.run(_texts, home) == [f"begun {turn}" for turn in range(turns, 0, -1)]


async def _texts(folder: Path) -> list[str]:
    store = await open_store(folder, "demo")
    texts = [each.text for each in await store.pins(None, 99)]
    await store.close()
    return texts
