"""One connection to the database: whole transactions of one project, each to its end or not at all.

It knows nothing of event loops or threads. Each begins with one round trip that sets its limits and its project, and,
to write, locks the project's row: so `seq` is gapless in the order of commits, whichever process writes. Sources:
design 1; P1 to P5, P16.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from pinfold.store.errors import ReadOnlyError
from pinfold.store.postgres.address import Address
from pinfold.store.postgres.database import PostgresDatabase
from pinfold.store.postgres.dialect import speak
from pinfold.store.postgres.failures import is_lost, translate
from pinfold.store.redaction import Redactor
from pinfold.store.sql.database import Database
from pinfold.store.sql.transaction import Transaction
from pinfold.store.sqlite.connection import newer_schema
from pinfold.store.sqlite.lexemes import Lexer

T = TypeVar("T")
Connection = psycopg.Connection[Any]

WAIT_S = 10.0
"""How long a write waits for another one of its project."""

_WRITE_LIMIT_S = 120.0
"""How long one statement of a write may take."""

_STANDSTILL_S = 60
"""How long a process that stopped in mid-write keeps the others out."""

_OPTIONS: dict[str, Any] = {
    "autocommit": True,  # transactions are begun by hand, in one round trip with what belongs to them
    "application_name": "pinfold",
    "connect_timeout": 5,
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "client_encoding": "UTF8",
}
_DURABLY = (
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local')"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a write waits for its turn, and whether its commit waits for the disk."""

    wait_s: float = WAIT_S
    durably: bool = True


class Link:
    """A connection that is made when it is needed, and anew when it was lost; for one thread at a time."""

    def __init__(self, address: Address, project: int = 0) -> None:
        self.project = project
        self._address = address
        self._db: Connection | None = None
        self._lexer = Lexer()

    @property
    def where(self) -> str:
        """The database as a person knows it, without a password."""
        return self._address.shown

    def read(self, look: Callable[[Database], T], limit_s: float | None = None) -> T:
        """Run `look` in one snapshot; raises `InvalidInputError` for a statement that takes longer than the limit."""
        limit_ms = int((limit_s or 0) * 1000)
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._set('statement_timeout', limit_ms)}"
        db, _ = self._begin(begin)
        try:
            return look(PostgresDatabase(db, self._lexer))
        except psycopg.Error as error:
            translate(error, self.where)
        finally:
            self._roll_back(db)

    def write(self, verb: Callable[[Transaction], T], redactor: Redactor, limits: Limits, asked: float) -> T:
        """Run a verb as one transaction and return its outcome; waiting counts from `asked`."""
        wait_ms = max(100, int((limits.wait_s - (time.monotonic() - asked)) * 1000))
        lock = f"SELECT version FROM schema_version, project WHERE id = {self.project} FOR UPDATE OF project"  # noqa: S608
        begin = (
            f"BEGIN; {self._set('lock_timeout', wait_ms)}"
            f" SET LOCAL statement_timeout = {int(_WRITE_LIMIT_S * 1000)};"
            f" SET LOCAL idle_in_transaction_session_timeout = {_STANDSTILL_S * 1000};"
            f"{'' if limits.durably else ' SET LOCAL synchronous_commit = off;'} {lock}"
        )
        db, row = self._begin(begin, asked)
        try:
            self._check(row)
            database = PostgresDatabase(db, self._lexer)
            outcome = verb(Transaction(database, redactor))
            database.flush()
        except psycopg.Error as error:
            self._roll_back(db)
            translate(error, self.where, waited_s=time.monotonic() - asked)
        except BaseException:
            self._roll_back(db)
            raise
        self._commit(db)
        return outcome

    def _check(self, row: Any) -> None:
        """Refuse to write where the project is gone, or what a newer pinfold has brought up to date meanwhile (P15)."""
        newer = "the project is not there any more" if row is None else newer_schema(row[0])
        if newer is not None:
            raise ReadOnlyError(newer)

    def _commit(self, db: Connection) -> None:
        try:
            done = db.execute("COMMIT", prepare=False).statusmessage
        except psycopg.Error as error:
            self._roll_back(db)
            translate(error, self.where, committing=True)
        if done != "COMMIT":  # what PostgreSQL says where a statement had failed and nobody heeded it
            raise RuntimeError("The transaction was rolled back, since a statement of it had failed.")

    def alone(self, work: Callable[[Connection], T]) -> T:
        """Run what is no transaction of a verb."""
        try:
            return work(self._connected())
        except psycopg.Error as error:
            translate(error, self.where)

    def _set(self, name: str, value: int) -> str:
        return f"SET LOCAL {name} = {value}; {for_project(self.project)}"

    def _begin(self, script: str, asked: float | None = None) -> tuple[Connection, Any]:
        """Begin a transaction; where the connection was lost meanwhile, on a new one, since nothing had begun."""
        for is_last in (self._db is None, True):
            db = self._connected()
            try:
                row = _last_row(db.execute(script))
            except psycopg.Error as error:
                self._roll_back(db)
                if is_last or not is_lost(error):
                    translate(error, self.where, waited_s=0 if asked is None else time.monotonic() - asked)
            else:
                return db, row
        raise AssertionError("the last attempt returns or raises")

    def _connected(self) -> Connection:
        """Return the connection; raises `UnreachableError`."""
        if self._db is None or self._db.closed:
            self._drop()
            try:
                self._db = psycopg.connect(self._address.connection, **_OPTIONS)
                speak(self._db)
                self._db.execute(_DURABLY)
            except psycopg.Error as error:
                translate(error, self.where)
        return self._db

    def _roll_back(self, db: Connection) -> None:
        """Undo what is open; a rollback that fails, too, must not hide why there is one."""
        with suppress(psycopg.Error):
            db.execute("ROLLBACK", prepare=False)
        if db.closed:
            self._drop()

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def close(self) -> None:
        """Let go of the connection, for good. Idempotent."""
        self._drop()
        self._lexer.close()


def _last_row(answer: psycopg.Cursor[Any]) -> Any:
    """Return the row that the last of several statements gave, None where it gave none."""
    while answer.nextset():
        pass
    return answer.fetchone() if answer.description else None


def for_project(project: int) -> str:
    """Return the statements that let a transaction see this project's rows, and no other's."""
    return f"SET LOCAL search_path = pinfold; SET LOCAL pinfold.project = {project};"


def apart(address: Address, project: int, work: Callable[[Connection], T]) -> T:
    """Run long work on a connection of its own."""
    link = Link(address, project)
    try:
        return link.alone(work)
    finally:
        link.close()
