"""The views `answer` and `alias`: what finally answered a miss, and the words by which it is found from then on."""

from __future__ import annotations

import json

from pinfold.store.sql.database import Database
from pinfold.store.views import Answer


def put_answer(db: Database, answer: Answer) -> None:
    """Put an answer in the place of what was known before; a miss that was forgotten needs none."""
    from pinfold.store.aliases import phrasings  # what few writes need

    missed = db.execute("SELECT query FROM miss WHERE seq = ?", (answer.miss,)).fetchone()
    if missed is None:
        return
    drop_answer(db, answer.miss)
    if answer.pointer is None:
        return
    db.execute(
        "INSERT INTO answer (miss, seq, pointer, how, search) VALUES (?, ?, ?, ?, ?)",
        (answer.miss, answer.seq, answer.pointer, answer.how, answer.search),
    )
    words = sorted(frozenset[str]().union(*phrasings(missed[0])))
    db.executemany("INSERT INTO alias (word, miss) VALUES (?, ?)", [(word, answer.miss) for word in words])


def take_out_answers(db: Database, pointers: tuple[str, ...]) -> None:
    """Leave the misses that these entries answered without an answer."""
    query = "SELECT miss FROM answer WHERE pointer IN (SELECT atom FROM json_each(?))"
    for row in db.execute(query, (json.dumps(pointers),)).fetchall():
        drop_answer(db, row[0])


def drop_answer(db: Database, miss: int) -> None:
    """Take out what is known to have answered a miss."""
    db.execute("DELETE FROM answer WHERE miss = ?", (miss,))
    db.execute("DELETE FROM alias WHERE miss = ?", (miss,))
