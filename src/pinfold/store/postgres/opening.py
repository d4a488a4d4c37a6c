"""Opening a project in a database: whose role it is, which schema is there, and the project's own row.

What is missing is made in one transaction under an advisory lock, so that many processes may begin at once. A database
of a newer pinfold may be read. Source: P11, P15.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import psycopg

from pinfold.store.errors import InvalidInputError, ReadOnlyError
from pinfold.store.postgres.address import Address
from pinfold.store.postgres.link import Connection, apart
from pinfold.store.postgres.schema import spelled, whole_schema
from pinfold.store.sqlite.connection import SCHEMA_VERSION, newer_schema
from pinfold.store.sqlite.upgrading import STEPS

_LOCK = 0x50696E66
_PASSES_BY = "SELECT rolsuper OR rolbypassrls, rolname FROM pg_roles WHERE rolname = current_user"
_IS_THERE = "SELECT to_regclass('pinfold.schema_version') IS NOT NULL"
_HOW = (
    "Make one that is no superuser: CREATE ROLE pinfold LOGIN PASSWORD '…';"
    " GRANT CREATE ON DATABASE … TO pinfold;"
)


@dataclass(frozen=True, slots=True)
class Opened:
    """One project of a database. `secret` is the key of its fences and redaction."""

    project: int
    name: str
    secret: bytes
    read_only: str | None


def open_project(address: Address) -> Opened:
    """Open the project that an address means, making schema and project where there are none.

    Raises `InvalidInputError` for a role that row-level security does not bind, `ReadOnlyError` where something is to
    be made and may not be, `UnreachableError`.
    """
    return apart(address, 0, lambda db: _opened(db, address))


def _opened(db: Connection, address: Address) -> Opened:
    _check_role(db)
    _bring_up(db)
    with db.transaction():
        db.execute("SET LOCAL search_path = pinfold")
        read_only = newer_schema(_version(db))
        number = _number(db, address.project, may_make=read_only is None)
        meta = dict(db.execute("SELECT name, value FROM meta").fetchall())
        return Opened(number, meta["project"].decode(), meta["secret"], read_only)


def _check_role(db: Connection) -> None:
    passes_by, name = _one(db, _PASSES_BY)
    if passes_by:
        raise InvalidInputError(
            f"The role {name} sees the rows of every project, whatever the tables' policies say.", _HOW
        )


def _version(db: Connection) -> int:
    return int(_one(db, "SELECT version FROM pinfold.schema_version")[0])


def _one(db: Connection, query: str, *values: object) -> Any:
    return db.execute(query, values or None).fetchone()


def _bring_up(db: Connection) -> None:
    """Make the schema, or take every step that is missing, in one transaction; another process may have been first."""
    if _one(db, _IS_THERE)[0] and _version(db) >= SCHEMA_VERSION:
        return
    try:
        with db.transaction():
            db.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
            db.execute("SET LOCAL search_path = pinfold")
            if not _one(db, _IS_THERE)[0]:
                _make(db)
            elif (version := _version(db)) < SCHEMA_VERSION:
                _upgrade(db, version)
    except psycopg.errors.InsufficientPrivilege as error:
        why = "its tables are to be made or brought up to date, which this role may not do"
        raise ReadOnlyError(why, "Open it once as their owner, or GRANT CREATE ON DATABASE to it.") from error


def _make(db: Connection) -> None:
    for statement in whole_schema():
        db.execute(statement)
    db.execute("INSERT INTO schema_version (version) VALUES (%s)", (SCHEMA_VERSION,))


def _upgrade(db: Connection, version: int) -> None:
    for step in range(version + 1, SCHEMA_VERSION + 1):
        for statement in STEPS[step]:
            for each in spelled(statement):
                db.execute(each)
    db.execute("UPDATE schema_version SET version = %s", (SCHEMA_VERSION,))


def _number(db: Connection, name: str, *, may_make: bool) -> int:
    """Return the number of the project of that name, for which the transaction is from now on; make it if need be."""
    db.execute("SELECT set_config('pinfold.project_name', %s, true)", (name,))
    found = _one(db, "SELECT id FROM project WHERE name = %s", name)
    if found is None and may_make:
        db.execute("INSERT INTO project (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
        found = _one(db, "SELECT id FROM project WHERE name = %s FOR UPDATE", name)
    if found is None:
        raise ReadOnlyError(
            "there is no such project in it yet, and a newer pinfold wrote it: update pinfold"
        )
    db.execute("SELECT set_config('pinfold.project', %s, true)", (str(found[0]),))
    if may_make:
        meta = [("project", name.encode()), ("secret", secrets.token_bytes(32))]
        db.cursor().executemany("INSERT INTO meta (name, value) VALUES (%s, %s) ON CONFLICT DO NOTHING", meta)
    return int(found[0])
