"""What finally answered a search that missed: when an answer is known, and how it gets into the log.

A miss is open for its session until that has searched `FOLLOWED` times more. Meanwhile the session answers it

- by opening an entry that one of those later searches showed, and the missed one had not;
- by the search that says `missed`, where its first hit holds all of its words and the missed one had not shown it;
- by a pin that holds at least a third of the missed query's words.

What is opened or pinned takes the place of what was only shown, and a search that missed as well answered nothing.
A decision against a pinned dead end is answered by that dead end at once. Source: design 2, search_history.
"""

from __future__ import annotations

import json

from pinfold.store.aliases import phrasings
from pinfold.store.events import Body, Event, Kind
from pinfold.store.search_results import COMPLETE_TIERS, SearchPage
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.lineage import current
from pinfold.store.sql.readable import readable
from pinfold.store.sql.transaction import Draft, Transaction
from pinfold.store.values import Actor, Caller
from pinfold.store.words import folded_words

FOLLOWED = 5
_PINNED_SHARE = 1 / 3
_LOOKED_AT = 10

_OPEN = f"""
    SELECT miss.* FROM miss LEFT JOIN answer ON answer.miss = miss.seq
    WHERE miss.session = :session AND miss.search IS NOT NULL AND coalesce(answer.how, 'shown') = 'shown'
    AND (SELECT count(*) FROM search WHERE number > miss.search AND session = :session) <= {FOLLOWED}
    ORDER BY miss.seq DESC LIMIT {_LOOKED_AT}
"""  # noqa: S608 - the numbers are ours
_LATER = "SELECT number, hits FROM search WHERE session = ? AND number > ? ORDER BY number DESC"


def answered_by(db: Database, session: int | None, pointer: str) -> list[Body]:
    """Return what is known once a session opens an entry: one body for each open miss that it answers."""
    found = []
    for miss in _open(db, session):
        later = db.execute(_LATER, (session, miss["search"])) if pointer not in _shown_by(miss) else ()
        search = next((int(row["number"]) for row in later if pointer in _shown_by(row)), None)
        if search is not None:
            found.append(_answer(miss["seq"], pointer, "opened", search))
    return found


def note_opened(tx: Transaction, caller: Caller, pointer: str) -> None:
    """Record what the caller answers by opening an entry."""
    session = current(tx.db, tx.clean(caller))
    for body in answered_by(tx.db, session, pointer):
        tx.append(Draft(Kind.SEARCH_ANSWERED, body, session or 0, caller.actor))


def note_shown(tx: Transaction, caller: Caller, missed: int, page: SearchPage, number: int) -> None:
    """Record what the first hit of a search, its page and number, says of the earlier one that it calls a miss."""
    if page.tier not in COMPLETE_TIERS:
        return
    session, pointer = current(tx.db, caller), _base(page.hits[0].pointer)
    for miss in _open(tx.db, session):
        if miss["search"] == missed and pointer not in _shown_by(miss):
            body = _answer(miss["seq"], pointer, "shown", number)
            tx.append(Draft(Kind.SEARCH_ANSWERED, body, session or 0, caller.actor))


def withdraw(tx: Transaction, caller: Caller, search: int) -> None:
    """Record that what a search showed answered nothing, since it missed as well."""
    for row in tx.db.execute("SELECT miss FROM answer WHERE search = ?", (search,)).fetchall():
        body = _answer(row["miss"], None, "withdrawn", search)
        tx.append(Draft(Kind.SEARCH_ANSWERED, body, current(tx.db, caller) or 0, caller.actor))


def note_pinned(tx: Transaction, pin: Event, actor: Actor) -> None:
    """Record which open misses of its session a pin answers."""
    assert pin.body is not None
    held = folded_words(f"{pin.body['text']}\n{pin.body['why']}")
    for miss in _open(tx.db, pin.session):
        if any(len(words & held) >= _PINNED_SHARE * len(words) for words in phrasings(miss["query"])):
            body = _answer(miss["seq"], f"P{pin.body['number']}", "pinned")
            tx.append(Draft(Kind.SEARCH_ANSWERED, body, pin.session, actor))


def note_dead_end(tx: Transaction, miss: Event, pointer: str, actor: Actor) -> None:
    """Record that a dead end answers the attempt at it, which is a miss by itself."""
    tx.append(Draft(Kind.SEARCH_ANSWERED, _answer(miss.seq, pointer, "dead end"), miss.session, actor))


def _answer(miss: int, pointer: str | None, how: str, search: int | None = None) -> Body:
    return {"miss": miss, "pointer": pointer, "how": how, "search": search}


def _open(db: Database, session: int | None) -> list[Row]:
    return db.execute(_OPEN, {"session": session}).fetchall()


@readable("search or miss")
def _shown_by(search: Row) -> set[str]:
    """Return what a search or a miss showed, without the lines in it."""
    return set(map(_base, json.loads(search["hits"])))


def _base(pointer: str) -> str:
    return pointer.partition("#")[0]
