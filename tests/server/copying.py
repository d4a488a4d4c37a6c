"""Stores to be copied: one that holds something of every kind, one that holds a log of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import anyio
import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main
from pinfold.server.commands.copy_report import Wish, copy_report
from pinfold.server.commands.tables import Report
from pinfold.server.stores import open_by_address
from pinfold.store import Store
from pinfold.store.commands import Message, Outline, RecordFold, SpillArtifact
from pinfold.store.content import collect
from pinfold.store.forgetting import Forget
from pinfold.store.logged import LoggedEvent
from pinfold.store.values import Caller, PinKind, Pointer, PointerKind
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin, spill
from tests.http.serving import served
from tests.postgres import shared

T = TypeVar("T")

LOG = b"ERROR connection to db-7.internal lost\n" * 3_000
NOISE = bytes(range(256)) * 300
PERSON = Caller("command-line", "command-line", "cli")
FORK = Caller("codex", "ben-goes-on")
TEXT = Outline("text/plain", "Tokens", 9)


def at(address: str | Path, ask: Callable[[Store], Awaitable[T]]) -> T:
    """Open a store, ask it, and close it."""

    async def asked() -> T:
        store = await open_by_address(str(address), "demo")
        try:
            return await ask(store)
        finally:
            await store.close()

    return anyio.run(asked)


def a_project(places: pytest.TempPathFactory) -> str:
    """Return the address of a project in a database, which nobody has opened yet; skips where there is no server."""
    return f"{shared.database(shared.run_folder(places))}#{uuid4().hex}"


@contextmanager
def a_team(places: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a project on a team's server, which nobody has opened yet; its token is in PINFOLD_TOKEN."""
    with served(places.mktemp("team")) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("PINFOLD_TOKEN", server.token("copy", "demo"))
        yield f"http://127.0.0.1:{server.port}/p/demo"


def copied(source: str | Path, destination: str | Path, *, join: bool = False) -> Report:
    """Copy without verifying; see `copy_report`."""
    return copy_report(str(source), str(destination), Wish(join, looks=False, verifies=False))[0]


def run(*arguments: str | Path) -> Result:
    """Run the command as if piped; a bug of ours fails the test at once."""
    return CliRunner().invoke(main, ["copy", *map(str, arguments)], catch_exceptions=False)


def damage(folder: Path, statement: str) -> None:
    """Change one row of a store's file behind its back."""
    with closing(sqlite3.connect(folder / "log.db")) as db:
        assert db.execute(statement).rowcount == 1
        db.commit()


async def every_kind(store: Store) -> None:
    """Live a past with each kind of event in it, something that was forgotten among them."""
    await pin(store, "Retries use full jitter")
    await pin(store, "Retries use half jitter", BEN, supersedes=(1,), files=("src/retry.py",))
    await pin(store, "Only here: the port is 5544", session_only=True, kind=PinKind.FACT)
    await spill(store, LOG, label="make test")
    await spill(store, NOISE, label="noise")
    await spill(store, LOG, BEN, label="the same bytes")
    await _talk(store)
    await checkpoint(store, BEN, goal="mend retries", pending=("the jitter",))
    await checkpoint(store, FORK, goal="go on with it", fork_of=1)
    await pin(store, "Said in the fork", FORK)
    await find(store, "zebra nowhere")
    await _fold(store)
    await pin(store, "To be forgotten: the code word is heliotrope")
    gone = Forget(PERSON, pointers=(Pointer(PointerKind.PIN, 5),))
    await store.forget(gone)


async def _talk(store: Store) -> None:
    held = collect([b"a very long answer\n" * 500])
    brought = SpillArtifact(ANNA, held, TEXT, label="answer", source="transcript", aside=True)
    said = Message("user", "why is getUserById slow?", "m1", "2026-03-01T10:00:00Z")
    answer = Message("assistant", "it asks db-7 twice", "m2", artifacts=(brought,))
    await store.append_messages(ANNA, [said, answer, Message("user", "without an id of its own")])
    held.close()


async def _fold(store: Store) -> None:
    asked = next(event.seq for event in await store.logged(0) if "getUserById" in (event.body or ""))
    held = collect([b"Retries were talked about."])
    summary = SpillArtifact(ANNA, held, TEXT, label="summary", aside=True)
    fold = RecordFold(
        ANNA,
        "boundary-1",
        "auto",
        at="2026-03-01T11:00:00Z",
        tokens_before=164_000,
        tokens_after=12_000,
        summary=summary,
        present={2: 2},
        lost={2: ("half jitter",)},
        offered=((f"H{asked}", "why is getUserById slow?"),),
        strings=(("db-7.internal", "A1"),),
    )
    await store.record_fold(fold)
    held.close()


async def another_log(store: Store) -> None:
    """Live another past, so that no pointer of the first one fits."""
    await pin(store, "Use Postgres 17", Caller("codex", "carla"))
    await spill(store, b"of another store", Caller("codex", "carla"))
    await checkpoint(store, Caller("codex", "carla"), goal="another goal")


async def log_of(store: Store) -> list[LoggedEvent]:
    """Return the whole log."""
    found: list[LoggedEvent] = []
    while batch := await store.logged(found[-1].seq if found else 0):
        found += batch
    return found


async def bytes_of(store: Store) -> dict[int, bytes]:
    """Return the bytes of every artifact, by number."""
    listed = await store.artifacts(None, 500)
    return {
        each.number: (await store.artifact_bytes(each.number, 0, each.size_bytes)).content for each in listed
    }
