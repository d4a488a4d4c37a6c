"""How PostgreSQL goes about a statement, in a table that it has no statistics of yet."""

from __future__ import annotations

import psycopg
import pytest

from pinfold.store.postgres.dialect import translated
from pinfold.store.postgres.store import open_store
from tests.contract.acts import say

pytestmark = pytest.mark.anyio


async def test_rows_that_are_asked_for_by_number_are_not_joined_to_the_numbers(address: str) -> None:
    """Joined, a search of 5,000 entries took a second: each entry was held against each number."""
    store = await open_store(address, "")
    await say(store, "one entry")
    await store.close()
    asked = translated("SELECT id FROM entry WHERE id IN (SELECT value FROM json_each(?)) AND kind IN (?, ?)")
    with psycopg.connect(address.split("#", maxsplit=1)[0]) as db:
        db.execute("SET search_path = pinfold")
        db.execute("SET pinfold.project = 1")
        plan = "\n".join(row[0] for row in db.execute(f"EXPLAIN {asked}", ("[1, 2]", "a", "b")).fetchall())
    assert "entry" in plan
    assert "Join" not in plan
    assert "Nested Loop" not in plan
