from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pinfold.store.errors import DamagedError, ReadOnlyError
from pinfold.store.sqlite.store import open_store
from tests.contract.conftest import Open

pytestmark = pytest.mark.anyio


async def _made(open_again: Open, tmp_path: Path) -> Path:
    await (await open_again()).close()
    return tmp_path / "store" / "log.db"


async def test_a_file_that_is_no_database_is_named_as_damage_and_left_as_it_is(
    open_again: Open, tmp_path: Path
) -> None:
    database = await _made(open_again, tmp_path)
    database.write_bytes(b"no database " * 1_000)
    with pytest.raises(DamagedError, match="pinfold verify"):
        await open_again()
    assert database.read_bytes() == b"no database " * 1_000


async def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    open_again: Open, tmp_path: Path
) -> None:
    database = await _made(open_again, tmp_path)
    database.unlink()
    other = sqlite3.connect(database)
    other.execute("CREATE TABLE theirs (text)")
    other.commit()
    other.close()
    before = database.read_bytes()
    with pytest.raises(DamagedError, match="not a pinfold store"):
        await open_again()
    assert database.read_bytes() == before


async def test_a_store_that_lost_its_tables_is_damaged(open_again: Open, tmp_path: Path) -> None:
    database = await _made(open_again, tmp_path)
    content = database.read_bytes()
    database.write_bytes(content[:4096] + b"\xaa" * (len(content) - 4096))
    with pytest.raises(DamagedError):
        await open_again()


async def test_a_folder_that_cannot_be_made_is_said_to_be_unusable(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ReadOnlyError, match=r"cannot be made .*PINFOLD_HOME"):
        await open_store(tmp_path / "taken" / "store", "demo")
