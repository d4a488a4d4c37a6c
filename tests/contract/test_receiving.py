"""A log that goes on in another store exactly as it is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinfold.store import Store
from pinfold.store.content import collect
from pinfold.store.errors import ConflictError, DamagedError, InvalidInputError, NotFoundError, ReadOnlyError
from pinfold.store.events import Kind
from pinfold.store.forgetting import Forget
from pinfold.store.logged import LogEnd, LoggedEvent, LogPart
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.contract.acts import BEN, checkpoint, find, pin, say, spill
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P9", "P10", "P38", "P43")]

PERSON = Caller("command-line", "command-line", "cli")
LOG = b"ERROR connection to db-7.internal lost\n" * 4_000


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Store]:
    """Another store with something of each kind, whose events go into `store`."""
    opened = await open_store(tmp_path / "source", "demo")
    await pin(opened, "Retries use full jitter")
    await pin(opened, "Retries use half jitter", BEN, supersedes=(1,))
    await spill(opened, LOG, label="make test")
    await say(opened, "why is getUserById slow?", "since it asks db-7 twice")
    await checkpoint(opened, goal="mend retries", pending=("the jitter",))
    await find(opened, "zebra nowhere")
    yield opened
    await opened.close()


async def _events(source: Store) -> tuple[LoggedEvent, ...]:
    return await source.logged(0)


async def _send(source: Store, store: Store, *, after: int = 0, **more: Any) -> LogEnd:
    """Let `store` receive what stands behind an event, with the bytes of the only artifact."""
    content = collect([LOG])
    try:
        return await store.receive(LogPart(await source.logged(after), content, **more))
    finally:
        content.close()


async def test_events_are_received_exactly_as_they_are_and_give_the_same_views(
    store: Store, source: Store
) -> None:
    end = await _send(source, store)
    assert (end.seq, end.digest) == ((await source.log_end()).seq, (await source.log_end()).digest)
    assert await store.logged(0) == await _events(source)
    assert await store.pins(None, 9) == await source.pins(None, 9)
    assert await store.checkpoints(None, 9) == await source.checkpoints(None, 9)
    assert await store.misses(None, 9) == await source.misses(None, 9)
    assert (await store.artifact_bytes(1, 0, len(LOG))).content == LOG
    assert [hit.pointer for hit in (await find(store, "getUserById")).hits] == [
        hit.pointer for hit in (await find(source, "getUserById")).hits
    ]
    assert (await store.verify()).problems == ()
    assert await store.stale_views() == ()


async def test_a_part_that_was_received_already_is_passed_over(store: Store, source: Store) -> None:
    first = await _send(source, store)
    assert await _send(source, store) == first
    await pin(source, "later")
    again = await _send(source, store, after=2)
    assert again.digest == (await source.log_end()).digest
    assert (await store.verify()).problems == ()


async def test_a_log_that_goes_on_otherwise_is_refused_and_stays(store: Store, source: Store) -> None:
    await pin(store, "another beginning")
    before = await store.log_end()
    with pytest.raises(ConflictError, match="Another event 1 stands"):
        await _send(source, store)
    assert await store.log_end() == before


async def test_events_behind_a_gap_are_refused(store: Store, source: Store) -> None:
    with pytest.raises(ConflictError, match="ends with event 0"):
        await _send(source, store, after=1)
    assert (await store.log_end()).seq == 0


async def test_an_event_that_is_not_what_it_was_is_refused_with_its_whole_part(
    store: Store, source: Store
) -> None:
    first, second, *_ = await _events(source)
    other = (second.body or "").replace("jitter", "jotter")
    for change in ({"body": other}, {"at": "2026-01-01"}, {"actor": "user"}, {"digest": bytes(32)}):
        bad = replace(second, **change)
        assert bad != second
        with pytest.raises(DamagedError, match="Event 2 "):
            await store.receive(LogPart((first, bad)))
    assert (await store.log_end()).seq == 0


async def test_an_artifact_without_its_bytes_is_refused(store: Store, source: Store) -> None:
    other = collect([b"others"])
    with pytest.raises(InvalidInputError, match="bytes of an artifact"):
        await store.receive(LogPart(await _events(source)))
    with pytest.raises(InvalidInputError, match="bytes of an artifact"):
        await store.receive(LogPart(await _events(source), other))
    other.close()
    assert (await store.log_end()).seq == 0


async def test_an_event_that_only_a_newer_pinfold_knows_is_refused(store: Store, source: Store) -> None:
    first = (await _events(source))[0]
    for newer in (_chained(first, version=99), _chained(first, kind="session.dreamt")):
        with pytest.raises(ReadOnlyError, match="newer pinfold"):
            await store.receive(LogPart((newer,)))
    assert (await store.log_end()).seq == 0


def _chained(event: LoggedEvent, **other: object) -> LoggedEvent:
    """Return a first event with other fields, and the digest that belongs to them."""
    from pinfold.store.events import GENESIS, link

    new = replace(event, **other)  # type: ignore[arg-type]
    envelope = (new.seq, new.at, new.session, new.actor, new.kind, new.key, new.parent, new.version)
    return replace(new, digest=link(GENESIS, envelope, new.body_digest))


async def test_an_empty_log_takes_over_the_projects_key_and_another_does_not(
    store: Store, source: Store, open_again: Open
) -> None:
    own = store.fence("text")
    assert own != source.fence("text")
    await _send(source, store, secret=source.redactor.key)
    assert store.fence("text") == source.fence("text")
    assert (await open_again()).fence("text") == source.fence("text")
    secret = "password = 'kJ8s-dh2J-aaQp-3'"
    assert (await pin(store, secret)).pin.text == (await pin(source, secret)).pin.text
    await store.receive(LogPart((), secret=bytes(32)))
    assert store.fence("text") == source.fence("text")


async def test_what_was_forgotten_since_is_forgotten_with_the_event_that_tells_it(
    store: Store, source: Store
) -> None:
    await _send(source, store)
    reached = (await store.log_end()).seq
    await source.forget(
        Forget(PERSON, pointers=(Pointer(PointerKind.PIN, 2), Pointer(PointerKind.ARTIFACT, 1)))
    )
    blank = tuple(event.seq for event in await _events(source) if event.body is None)
    assert len(blank) == 2
    told = await source.logged(reached)
    assert Kind.ENTRY_FORGOTTEN in {event.kind for event in told}
    await store.receive(LogPart(told, blank=blank))
    assert await store.logged(0) == await _events(source)
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.pin(2)
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.artifact_bytes(1, 0, 10)
    assert [hit.pointer for hit in (await find(store, "half jitter", kinds=("pins",))).hits] == ["P1"]
    assert (await store.verify()).problems == ()
    assert await store.stale_views() == ()


async def test_nothing_is_blanked_without_the_event_that_tells_it(store: Store, source: Store) -> None:
    await _send(source, store)
    with pytest.raises(InvalidInputError, match="were forgotten"):
        await store.receive(LogPart((), blank=(2,)))
    assert json.loads((await store.logged(1))[0].body or "")["text"] == "Retries use full jitter"
