"""What a person's words choose: the seqs of events whose bodies are to go. Reads only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from pinfold.store.errors import InvalidInputError, NotFoundError
from pinfold.store.events import Kind, canonical
from pinfold.store.forgetting import Forget, Retention
from pinfold.store.sql.chunks import chunk_of
from pinfold.store.sql.database import Database, Row
from pinfold.store.sql.forgetting.tombstones import refuse_forgotten
from pinfold.store.sql.readable import readable
from pinfold.store.sql.sessions import there_are
from pinfold.store.values import Pointer, PointerKind, stamp

CONTENT_KINDS = (
    Kind.MESSAGE_APPENDED,
    Kind.ARTIFACT_SPILLED,
    Kind.DECISION_PINNED,
    Kind.STATE_CHECKPOINTED,
    Kind.FOLD_RECORDED,
    Kind.SEARCH_MISSED,
)
"""What has content; the other kinds say who was there and what replaced what, in numbers."""

_GIVEN_UP = (Kind.MESSAGE_APPENDED, Kind.ARTIFACT_SPILLED, Kind.SEARCH_MISSED)
_POINTER = re.compile(r"\b([AH])([1-9][0-9]{0,17})\b")


def _kinds(kinds: Iterable[Kind]) -> str:
    return json.dumps(list(kinds))


_STANDS = (
    "body IS NOT NULL AND kind IN (SELECT atom FROM json_each(?))"
    " AND NOT (kind = 'fold.recorded' AND instr(body, '\"amends\":true') > 0)"
)
"""Has content that can go; what amends a fold has figures only."""


_SEQ_DIGITS = 18
"""What an INTEGER of SQLite holds in any case."""


def spellings(given: Forget | Retention, asked: Forget | Retention) -> tuple[str, ...]:
    """Return the texts that `match` is looked for by: as it was given, and as it was cleaned.

    What looks like a secret by itself need not have where it stands, or when it was stored. Source: P38.
    """
    pair = (each.match for each in (given, asked) if isinstance(each, Forget) and each.match)
    return tuple(dict.fromkeys(pair))


def chosen(db: Database, command: Forget, texts: tuple[str, ...]) -> set[int]:
    """Return the seqs that a command names itself; `texts` are the spellings of its `match`.

    Raises `InvalidInputError` unless it names in exactly one way and in Unicode, and for a session that is not there;
    `NotFoundError` for a pointer to nothing.
    """
    ways = [command.pointers, command.session, command.before, command.match]
    if sum(bool(way) for way in ways) != 1:
        raise InvalidInputError(
            "It is not clear what to forget.", "Give pointers, or one of --session, --before and --match."
        )
    _refuse_no_text(command.session or command.before or command.match or "")
    if command.pointers:
        return {seq for pointer in command.pointers for seq in _pointed(db, pointer)}
    if command.session:
        return _select(db, "session = ?", session_number(db, command.session))
    if command.before:
        column, value = boundary(command.before)
        return _select(db, f"{column} < ?", value)
    return {seq for text in texts for seq in _matching(db, text)}


def _refuse_no_text(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidInputError(f"{name!r} is no valid Unicode, as all that is stored is.", "") from None


def _select(db: Database, condition: str, value: object) -> set[int]:
    query = f"SELECT seq FROM event WHERE {_STANDS} AND {condition}"  # noqa: S608 - conditions are ours
    return {row[0] for row in db.execute(query, (_kinds(CONTENT_KINDS), value))}


def _pointed(db: Database, pointer: Pointer) -> list[int]:
    if pointer.kind is PointerKind.SEARCH:
        rows = db.execute("SELECT seq FROM miss WHERE search = ?", (pointer.number,)).fetchall()
        if not rows and db.execute("SELECT 1 FROM search WHERE number = ?", (pointer.number,)).fetchone():
            return []
    else:
        rows = db.execute("SELECT DISTINCT seq FROM entry WHERE pointer = ?", (str(pointer),)).fetchall()
    if not rows:
        refuse_forgotten(db, pointer.kind, pointer.number)
        raise NotFoundError(
            str(pointer), "there is nothing of that name", "`pinfold search` finds what there is."
        )
    return [row[0] for row in rows]


def session_number(db: Database, name: str) -> int:
    """Return the session of that number, or that continues the conversation of that name.

    Raises `InvalidInputError` where there is none.
    """
    number = int(name) if _is_seq(name) and len(name) <= _SEQ_DIGITS else -1
    row = db.execute(
        "SELECT number FROM session WHERE number = ? UNION SELECT session FROM conversation WHERE conversation = ?",
        (number, name),
    ).fetchone()
    if row is None:
        raise InvalidInputError(f"There is no session {name}.", there_are(db))
    return int(row[0])


def instant(text: str) -> str:
    """Return an ISO 8601 instant or day as the log spells it; raises `InvalidInputError`."""
    try:
        found = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        forms = "A date looks like 2026-11-30, a seq of the log like 4812."
        raise InvalidInputError(f"{text!r} is no date.", forms) from None
    return stamp(found)


def boundary(before: str) -> tuple[str, str | int]:
    """Return the column that `Forget.before` is about, `seq` or `at`, and its value; raises as `instant`."""
    if not _is_seq(before):
        return "at", instant(before)
    if len(before) > _SEQ_DIGITS:
        raise InvalidInputError(f"{before} is no seq of a log.", "`pinfold status` shows the newest.")
    if day := _day(before):
        ways = f"Say {day} for the day, 0{before} for the seq."
        raise InvalidInputError(f"{before} may be a day or a seq.", ways)
    return "seq", int(before)


def _is_seq(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _day(digits: str) -> str | None:
    """Return the day that digits without hyphens spell, too."""
    try:
        return datetime.strptime(digits, "%Y%m%d").date().isoformat() if len(digits) == 8 else None
    except ValueError:
        return None


def _matching(db: Database, text: str) -> set[int]:
    spelled = canonical(text)[1:-1]
    candidates = _select(db, "instr(body, ?) > 0", spelled)
    found = {seq for seq in candidates if _says(_body(db, seq), text)}
    for digest in _contents_with(db, text.encode()):
        found |= {row[0] for row in db.execute("SELECT seq FROM artifact WHERE sha256 = ?", (digest,))}
    return found


def _body(db: Database, seq: int) -> object:
    return json.loads(db.execute("SELECT body FROM event WHERE seq = ?", (seq,)).fetchone()[0])


def _says(value: object, text: str) -> bool:
    """Whether a text stands in a value of a body, and not only in the names of its fields."""
    if isinstance(value, str):
        return text in value
    if isinstance(value, dict):
        return any(_says(each, text) for each in value.values())
    return isinstance(value, list) and any(_says(each, text) for each in value)


def _contents_with(db: Database, needle: bytes) -> Iterator[bytes]:
    """Yield the digests of contents that hold the bytes anywhere, also across two chunks."""
    for content in db.execute("SELECT id, sha256 FROM content").fetchall():
        tail = b""
        for row in db.stream("SELECT * FROM chunk WHERE content = ? ORDER BY start", (content["id"],)):
            piece = tail + chunk_of(row).unpack(f"A chunk of {content['sha256'].hex()[:12]}")
            if needle in piece:
                yield content["sha256"]
                break
            tail = piece[-(len(needle) - 1) :] if len(needle) > 1 else b""


def given_up(db: Database, command: Retention) -> set[int]:
    """Return the seqs that a retention policy gives up."""
    query = (
        f"SELECT seq FROM event WHERE {_STANDS} AND at < ? AND session NOT IN"  # noqa: S608
        " (SELECT session FROM event WHERE session > 0 GROUP BY session ORDER BY max(seq) DESC LIMIT ?)"
    )
    kept = min(command.sessions, 10**_SEQ_DIGITS)
    found = db.execute(query, (_kinds(_GIVEN_UP), instant(command.before), kept))
    return {row[0] for row in found} - _named(db)


def _named(db: Database) -> set[int]:
    """Return the seqs of what a pin, a checkpoint or a fold names by its pointer."""
    rows = db.execute(
        "SELECT text || ' ' || why FROM pin UNION ALL SELECT state FROM checkpoint UNION ALL SELECT body FROM fold"
    )
    pointers = {found for row in rows for found in _POINTER.findall(str(row[0]))}
    entries = {int(number) for letter, number in pointers if letter == "H"}
    numbers = [int(number) for letter, number in pointers if letter == "A"]
    numbers += [number for row in db.execute("SELECT body FROM fold") if (number := summary_of(row))]
    query = "SELECT seq FROM artifact WHERE number IN (SELECT value FROM json_each(?))"
    return entries | {row[0] for row in db.execute(query, (json.dumps(numbers),))}


@readable("fold")
def summary_of(row: Row) -> int | None:
    """Return the number of the artifact that a fold's summary is in, if it has one."""
    summary = json.loads(row["body"])["summary"]
    return None if summary is None else int(summary["artifact"])
