"""The stateful test against a plain model, on PostgreSQL: its rules are those of `tests/faults/test_model.py`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import uuid4

import psycopg
import pytest
from hypothesis.stateful import rule, run_state_machine_as_test

from pinfold.store.postgres.store import open_store
from pinfold.store.sql.store import SqlStore
from tests.faults import test_model
from tests.faults.test_model import StoreMachine, machine_settings


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from anyio.from_thread import start_blocking_portal

    from pinfold.store.sql import transaction

    monkeypatch.setattr(transaction, "datetime", test_model.Clock)
    with start_blocking_portal() as portal:
        monkeypatch.setattr(test_model, "_portal", portal)
        yield


class PostgresMachine(StoreMachine):
    """Several handles on one project of a database; a crash ends every connection that they have."""

    address: ClassVar[str]
    superuser: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.name = uuid4().hex

    async def open_project(self, name: str) -> SqlStore:
        address = f"{self.address}?application_name={self.name}"
        return await open_store(address, f"{self.name}-{name}")

    def committing(self, handle: Any) -> Any:
        return handle._writer._link

    def scrub(self, handle: Any) -> None:
        """A scrub writes the tables of all projects anew: tested by itself."""

    @rule()
    def crash(self) -> None:
        self.crashes += 1
        with psycopg.connect(self.superuser, autocommit=True) as db:
            query = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s"
            assert all(row[0] for row in db.execute(query, (self.name,)).fetchall())


@pytest.mark.full
@pytest.mark.timeout(300)
def test_whatever_happens_the_database_is_as_the_model_says(owner: str, superuser: str) -> None:
    PostgresMachine.address, PostgresMachine.superuser = owner, superuser
    threads = threading.active_count()
    run_state_machine_as_test(PostgresMachine, settings=machine_settings(10, 25))
    assert threading.active_count() <= threads + 8
