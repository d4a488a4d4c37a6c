"""How appended history reaches the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from pinfold.store.commands import Message
from pinfold.store.sqlite.direct import open_direct
from pinfold.store.values import Caller


def test_the_index_of_one_transaction_is_written_in_one_piece(tmp_path: Path) -> None:
    """Found by measuring: a savepoint, such as RETURNING makes, lets FTS5 write out each entry by itself."""
    store = open_direct(tmp_path / "store", "shop")
    messages = [
        Message("user", f"getUser{at} in src/part_{at}.py", external_id=f"m{at}") for at in range(200)
    ]
    store.append_messages(Caller("claude-code", "a", "import"), messages)
    store.close()
    with closing(sqlite3.connect(tmp_path / "store" / "log.db")) as db:
        pieces = db.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()[0]
        found = db.execute("SELECT count(*) FROM words WHERE words MATCH 'user'").fetchone()[0]
    assert (pieces, found) == (1, 200)
