"""The verb `forget`: bodies blanked in the log, and all that was derived from them taken out, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pinfold.store.errors import DamagedError
from pinfold.store.events import Body, Event, Kind
from pinfold.store.forgetting import Doomed, Forget, Forgotten, Retention
from pinfold.store.sql.answers import drop_answer
from pinfold.store.sql.forgetting.belonging import plan, searches
from pinfold.store.sql.forgetting.choosing import spellings
from pinfold.store.sql.forgetting.owing import owe
from pinfold.store.sql.lineage import current
from pinfold.store.sql.readable import readable
from pinfold.store.sql.rebuilding import count, empty, rebuild
from pinfold.store.sql.search.entries import COLUMNS, EntryRow
from pinfold.store.sql.texts import Texts
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of
from pinfold.store.views import PutEntry, changes

BATCH = 5_000
"""How many things one event tells of."""

_VIEWS = {
    Kind.DECISION_PINNED: "pin",
    Kind.ARTIFACT_SPILLED: "artifact",
    Kind.STATE_CHECKPOINTED: "checkpoint",
    Kind.FOLD_RECORDED: "fold",
}
_WITH_BYTES = (Kind.ARTIFACT_SPILLED, Kind.FOLD_RECORDED)
_WORTH_A_REBUILD = 4
"""When more than one entry in so many goes, deriving all anew is faster than taking them out one by one."""


def forget(tx: Transaction, command: Forget | Retention) -> Forgotten:
    """Forget what the command chooses and what belongs to it; see `Store.forget`."""
    planned = plan(tx.db, command, tx.clean)
    if planned.is_empty:
        return Forgotten(planned, None)
    owe(tx)
    gone = {each.pointer for each in planned.doomed}
    numbers = _forget_searches(tx, command, gone)
    folds = [_without(tx, pointer, gone) for pointer in planned.cleaned]
    events = [tx.event(each.seq) for each in planned.doomed]
    rebuilds = len(events) * _WORTH_A_REBUILD > count(tx.db, "entry") or not can_be_taken_out(tx, events)
    take_out(tx, [*events, *(old for old, _ in folds)], rebuilds=rebuilds)
    tombstones = [*_tombstones(planned.doomed), *(("S", number) for number in numbers)]
    last = _tell(tx, command, tombstones, list(_ids(events)))
    for old, body in folds:
        last = tx.append(Draft(Kind.FOLD_RECORDED, body, old.session, command.caller.actor))
    if rebuilds:
        rebuild(tx.db)
    return Forgotten(planned, receipt_of(last))


def _forget_searches(tx: Transaction, command: Forget | Retention, gone: set[str]) -> list[int]:
    """Take out recent searches, those of misses that go as well; return the numbers that are no miss's."""
    asked = tx.clean(command)
    condition, values = searches(tx.db, asked, spellings(command, asked))
    rows = tx.db.execute(f"SELECT number FROM search WHERE {condition}", values).fetchall()  # noqa: S608
    numbers = {row["number"] for row in rows}
    missed = {int(pointer[1:]) for pointer in gone if pointer.startswith("S")}
    tx.db.executemany("DELETE FROM search WHERE number = ?", [(number,) for number in numbers | missed])
    return sorted(numbers - missed)


@readable("fold")
def _without(tx: Transaction, pointer: str, gone: set[str]) -> tuple[Event, Body]:
    """Return the event that holds a fold's body, and that body without what it quotes of the gone."""
    holder = tx.db.execute("SELECT seq FROM entry WHERE pointer = ? AND chunk IS NULL", (pointer,)).fetchone()
    row = tx.db.execute("SELECT * FROM fold WHERE number = ?", (int(pointer[1:]),)).fetchone()
    if holder is None:
        raise DamagedError(f"The entry of {pointer}")
    body: Body = json.loads(row["body"])
    pins = {each[1:] for each in gone if each.startswith("P")}
    kept: Body = {
        "offered": [pair for pair in body["offered"] if pair[0] not in gone],
        "strings": [pair for pair in body["strings"] if pair[1] not in gone],
        "lost": {number: parts for number, parts in body["lost"].items() if number not in pins},
        "present": {number: found for number, found in body["present"].items() if number not in pins},
        "of": {"seq": row["seq"], "at": row["at"]},
    }
    return tx.event(holder["seq"]), body | kept


def take_out(tx: Transaction, events: Sequence[Event], *, rebuilds: bool) -> None:
    """Blank the events' bodies; take what they put into views, index and bytes out of there."""
    orphans = _orphans(tx, events)
    if rebuilds:
        empty(tx.db)
    else:
        for one in events:
            _take_out_entries(tx, one)
            _take_out_rows(tx, one)
    for digest in orphans:
        query = "DELETE FROM chunk WHERE content = (SELECT id FROM content WHERE sha256 = ?)"
        tx.db.execute(query, (digest,))
        tx.db.execute("DELETE FROM content WHERE sha256 = ?", (digest,))
    tx.db.executemany("UPDATE event SET body = NULL WHERE seq = ?", [(one.seq,) for one in events])


def _orphans(tx: Transaction, events: Sequence[Event]) -> set[bytes]:
    """Return the digests of the bytes that no artifact has any more, once these events are gone."""
    seqs = {one.seq for one in events}
    digests = {
        bytes.fromhex(one.body["sha256"]) for one in events if one.kind is Kind.ARTIFACT_SPILLED and one.body
    }
    query = "SELECT seq FROM artifact WHERE sha256 = ?"
    return {digest for digest in digests if all(row[0] in seqs for row in tx.db.execute(query, (digest,)))}


def can_be_taken_out(tx: Transaction, events: Sequence[Event]) -> bool:
    """Whether the bytes that were put into the index can be read: else it can only be made anew without them."""
    try:
        for one in events:
            for entry in _entries_of(tx, one) if one.kind in _WITH_BYTES else ():
                Texts(tx.db)(entry)
    except DamagedError:
        return False
    return True


def _entries_of(tx: Transaction, one: Event) -> Iterator[EntryRow]:
    pointers = {change.pointer for change in changes(one) if isinstance(change, PutEntry)}
    for pointer in pointers:
        query = f"SELECT {COLUMNS} FROM entry WHERE pointer = ? AND seq = ?"  # noqa: S608
        yield from (EntryRow(*row) for row in tx.db.execute(query, (pointer, one.seq)).fetchall())


def _take_out_entries(tx: Transaction, one: Event) -> None:
    for entry in _entries_of(tx, one):
        text = Texts(tx.db)(entry)
        if text:
            tx.db.take_out_words(entry.id, text)
        tx.db.execute("DELETE FROM entry_path WHERE entry = ?", (entry.id,))
        tx.db.execute("DELETE FROM entry WHERE id = ?", (entry.id,))


def _take_out_rows(tx: Transaction, one: Event) -> None:
    body = one.body or {}
    if one.kind is Kind.SEARCH_MISSED:
        tx.db.execute("DELETE FROM miss WHERE seq = ?", (one.seq,))
        drop_answer(tx.db, one.seq)
    elif one.kind in _VIEWS:
        tx.db.execute(f"DELETE FROM {_VIEWS[one.kind]} WHERE number = ?", (body["number"],))  # noqa: S608
    elif body.get("external_id"):
        query = "DELETE FROM external WHERE session = ? AND external_id = ?"
        tx.db.execute(query, (one.session, body["external_id"]))


def _tombstones(doomed: Sequence[Doomed]) -> list[tuple[str, int]]:
    """Return letter and number of each; a miss that was no numbered search has none."""
    return list(dict.fromkeys((each.pointer[0], int(each.pointer[1:])) for each in doomed if each.pointer))


def _ids(events: Sequence[Event]) -> Iterator[tuple[int, str, int]]:
    for one in events:
        if one.kind is Kind.MESSAGE_APPENDED and one.body and one.body.get("external_id"):
            yield one.session, one.body["external_id"], one.seq


def _tell(
    tx: Transaction,
    command: Forget | Retention,
    gone: Sequence[tuple[str, int]],
    ids: Sequence[tuple[int, str, int]],
) -> Event:
    """Append what says that these are gone, in events of a bearable size; return the last."""
    reason = "retention" if isinstance(command, Retention) else "asked"
    session = current(tx.db, command.caller) or 0
    last = None
    for start in range(0, max(len(gone), len(ids), 1), BATCH):
        body: Body = {
            "reason": reason,
            "gone": gone[start : start + BATCH],
            "ids": ids[start : start + BATCH],
        }
        last = tx.append(Draft(Kind.ENTRY_FORGOTTEN, body, session, command.caller.actor))
    assert last is not None
    return last
