"""What belongs to the chosen and goes with it, and the plan of all that goes. Reads only."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial

from pinfold.store.events import Body, Event, Kind, canonical
from pinfold.store.forgetting import UNNAMED, Doomed, Forget, ForgetPlan, Retention
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.choosing import (
    boundary,
    chosen,
    given_up,
    instant,
    session_number,
    spellings,
    summary_of,
)
from pinfold.store.sql.readable import readable
from pinfold.store.sql.rows import event_at
from pinfold.store.values import PointerKind

TITLE_CHARS = 100
ELSEWHERE = 20
"""How many other places of a text are named."""

_LETTERS = {
    Kind.MESSAGE_APPENDED: "H",
    Kind.ARTIFACT_SPILLED: "A",
    Kind.DECISION_PINNED: "P",
    Kind.STATE_CHECKPOINTED: "C",
    Kind.FOLD_RECORDED: "F",
    Kind.SEARCH_MISSED: "S",
}


def plan(
    db: Database,
    given: Forget | Retention,
    clean: Callable[[Forget | Retention], Forget | Retention],
) -> ForgetPlan:
    """Return what would go; the same as goes when nothing is written in between. `clean` redacts a command."""
    command = clean(given)
    texts = spellings(given, command)
    whys = _whys(db, command, texts)
    doomed = [_doomed(db, seq, whys[seq]) for seq in sorted(whys)]
    if isinstance(command, Forget) and command.keep_pins:
        doomed = [each for each in doomed if each.kind != Kind.DECISION_PINNED]
    is_named = isinstance(command, Forget) and bool(command.pointers)
    return ForgetPlan(
        doomed=tuple(doomed),
        searches=_count(db, *searches(db, command, texts)),
        cleaned=tuple(_cleaned(db, doomed)),
        elsewhere=tuple(_elsewhere(db, doomed)) if is_named else (),
    )


def _whys(db: Database, command: Forget | Retention, texts: tuple[str, ...]) -> dict[int, str]:
    """Return the seqs of all that goes, and how each belongs to what was asked for."""
    if isinstance(command, Retention):
        return dict.fromkeys(given_up(db, command), "")
    asked = chosen(db, command, texts)
    return dict.fromkeys(asked, "") | dict(_belonging(db, asked))


def searches(db: Database, command: Forget | Retention, texts: tuple[str, ...]) -> tuple[str, list[object]]:
    """Return the condition, with its values, for the recent searches that go; they are no part of the log."""
    if isinstance(command, Retention):
        return "at < ?", [instant(command.before)]
    if texts:
        return " OR ".join(["instr(query, ?) > 0"] * len(texts)), list(texts)
    if command.session:
        return "session = ?", [session_number(db, command.session)]
    column, value = boundary(command.before) if command.before else ("", "")
    if column == "at":
        return "at < ?", [value]
    numbers = [one.number for one in command.pointers if one.kind is PointerKind.SEARCH]
    return "number IN (SELECT value FROM json_each(?))", [json.dumps(numbers)]


def _count(db: Database, condition: str, values: list[object]) -> int:
    return int(db.execute(f"SELECT count(*) FROM search WHERE {condition}", values).fetchone()[0])  # noqa: S608


def _belonging(db: Database, asked: set[int]) -> Iterator[tuple[int, str]]:
    """Yield what was made from the chosen or holds the same bytes, and how it belongs to it."""
    known = set(asked)
    queue = deque(sorted(asked))
    shown_in = cache(
        partial(_messages_by_artifact, db)
    )  # one look at all messages, and none without an artifact
    while queue:
        for seq, why in _next_to(db, event_at(db, queue.popleft()), shown_in):
            if seq not in known:
                known.add(seq)
                queue.append(seq)
                yield seq, why


def _next_to(
    db: Database, one: Event, shown_in: Callable[[], dict[int, list[int]]]
) -> Iterator[tuple[int, str]]:
    body = one.body or {}
    if one.kind is Kind.MESSAGE_APPENDED:
        for number in body.get("artifacts", ()):
            yield from ((seq, f"came with H{one.seq}") for seq in _artifact(db, number))
    elif one.kind is Kind.ARTIFACT_SPILLED:
        same = "SELECT seq FROM artifact WHERE sha256 = ? AND number != ?"
        rows = db.execute(same, (bytes.fromhex(body["sha256"]), body["number"]))
        yield from ((row[0], f"has the bytes of A{body['number']}") for row in rows)
        yield from ((seq, f"shows A{body['number']}") for seq in shown_in().get(body["number"], ()))
        yield from ((seq, f"A{body['number']} is its summary") for seq in _folds_of(db, body["number"]))
    elif one.kind is Kind.FOLD_RECORDED and body.get("summary"):
        number = body["summary"]["artifact"]
        yield from ((seq, f"is the summary of F{body['number']}") for seq in _artifact(db, number))


def _artifact(db: Database, number: int) -> list[int]:
    return [row[0] for row in db.execute("SELECT seq FROM artifact WHERE number = ?", (number,))]


def _folds_of(db: Database, number: int) -> list[int]:
    query = (
        "SELECT entry.seq, body FROM fold JOIN entry ON entry.pointer = 'F' || fold.number AND chunk IS NULL"
    )
    return [row["seq"] for row in db.execute(query) if summary_of(row) == number]


def _messages_by_artifact(db: Database) -> dict[int, list[int]]:
    query = "SELECT seq, body FROM event WHERE kind = ? AND body IS NOT NULL AND instr(body, '\"artifacts\":[') > 0"
    rows = db.execute(query, (Kind.MESSAGE_APPENDED,))
    found: dict[int, list[int]] = {}
    for row in rows:
        for number in json.loads(row["body"]).get("artifacts", ()):
            found.setdefault(number, []).append(row["seq"])
    return found


def _doomed(db: Database, seq: int, why: str) -> Doomed:
    one = event_at(db, seq)
    body = one.body or {}
    number = body.get("search") if one.kind is Kind.SEARCH_MISSED else body.get("number", seq)
    live = one.kind is Kind.DECISION_PINNED and _is_live(db, body["number"])
    pointer = f"{_LETTERS[one.kind]}{number}" if number else ""
    return Doomed(seq, pointer, one.kind, _title(one, body), why, live)


def _is_live(db: Database, number: int) -> bool:
    row = db.execute("SELECT superseded_by FROM pin WHERE number = ?", (number,)).fetchone()
    return row is not None and row[0] is None  # a damaged view may lack it


def _title(one: Event, body: Body) -> str:
    names = {
        Kind.ARTIFACT_SPILLED: ("label", "source", "path"),
        Kind.STATE_CHECKPOINTED: ("goal", "next_step"),
        Kind.FOLD_RECORDED: ("trigger",),
        Kind.SEARCH_MISSED: ("query",),
    }.get(one.kind, ("text",))
    text = next((body[name] for name in names if body.get(name)), "")
    line = " ".join(str(text)[: TITLE_CHARS * 2].split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"


@readable("fold")
def _quotes(row: Row, gone: set[str]) -> bool:
    """Whether a fold's body quotes what goes: a sentence or string of it, or a pin's specifics."""
    body = json.loads(row["body"])
    pins = {pointer[1:] for pointer in gone if pointer.startswith("P")}
    quoted = {pointer for pointer, _ in body["offered"]} | {pointer for _, pointer in body["strings"]}
    return not (quoted.isdisjoint(gone) and pins.isdisjoint(body["lost"]))


def _cleaned(db: Database, doomed: list[Doomed]) -> Iterator[str]:
    gone = {each.pointer for each in doomed}
    for row in db.execute("SELECT number, body FROM fold").fetchall():
        if f"F{row['number']}" not in gone and _quotes(row, gone):
            yield f"F{row['number']}"


def _elsewhere(db: Database, doomed: list[Doomed]) -> Iterator[str]:
    """Name other places where a doomed pin's or message's very words stand: transcripts repeat what was said."""
    seqs = {each.seq for each in doomed}
    found = 0
    for each in doomed:
        words = (event_at(db, each.seq).body or {}).get("text", "")
        if not words:
            continue
        query = "SELECT * FROM event WHERE body IS NOT NULL AND instr(body, ?) > 0"
        for row in db.execute(query, (canonical(words)[1:-1],)):
            if row["seq"] not in seqs and row["kind"] in _LETTERS and found < ELSEWHERE:
                found += 1
                yield _doomed(db, row["seq"], "").pointer or UNNAMED
