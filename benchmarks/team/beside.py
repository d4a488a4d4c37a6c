"""What one call costs, alone on a server: each way to a store in turn, and the least that each could cost."""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

from benchmarks.team.line import Line
from benchmarks.team.load import Times
from benchmarks.team.serving import Server, database, served, stdio
from benchmarks.text import Prose

Ask = Callable[..., object]
"""Calls a tool by its name and arguments."""

_SPILLED = Prose(7).words(50) + "\n"


class Calls:
    """The calls that are measured, each new text different from all before."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._prose = Prose(3)

    def of(self, ask: Ask) -> dict[str, Callable[[], object]]:
        """Return what is measured, asked in that way."""
        return {
            "pin": lambda: ask("pin_decision", text=self._text(), why="it was measured"),
            "fetch": lambda: ask("fetch_pointer", pointer="P1"),
            "brief": lambda: ask("fetch_pointer", pointer="brief"),
            "search": lambda: ask("search_history", query=self._prose.words(2)),
            "spill of 16 KB": lambda: ask(
                "spill_artifact", label="log", content=self._text() + _SPILLED * 40
            ),
        }

    def _text(self) -> str:
        return f"{next(self._numbers)} {self._prose.words(20)}"


def measure(repeat: int, store: str | None) -> dict[str, dict[str, Times]]:
    """Return the times of each call by the way that it took. `store`: see `serving.database`, None for SQLite alone."""
    with ExitStack() as stack:
        ways: dict[str, Mapping[str, Callable[[], object]]] = {}
        floors: dict[str, Callable[[], object]] = {
            "insert and fsync of SQLite": stack.enter_context(_insert())
        }
        calls = Calls()
        places: list[tuple[str, str | None]] = [("SQLite", None)]
        if store is not None:
            address = stack.enter_context(database(store))
            assert address is not None
            places.append(("PostgreSQL", address))
            floors |= stack.enter_context(_round_trips(address))
        for name, where in places:
            server = stack.enter_context(served(where))
            ways[f"{name} over stdio"] = calls.of(stack.enter_context(stdio(server)).call)
            ways[f"{name} over HTTP"] = calls.of(stack.enter_context(_over_http(server)).call)
            floors.setdefault("GET /health", _health(server))
        return _in_turn(ways | {"nothing but": floors}, repeat)


def _in_turn(
    ways: Mapping[str, Mapping[str, Callable[[], object]]], repeat: int
) -> dict[str, dict[str, Times]]:
    taken: dict[tuple[str, str], list[float]] = {}
    for turn in range(repeat + 5):
        for way, acts in ways.items():
            for act, do in acts.items():
                began = time.perf_counter()
                do()
                if turn >= 5:  # those before load what later ones need
                    taken.setdefault((way, act), []).append(time.perf_counter() - began)
    return {way: {act: Times.of(taken[way, act]) for act in acts} for way, acts in ways.items()}


@contextmanager
def _over_http(server: Server) -> Iterator[Line]:
    token = server.token("measured", ["over-http"])
    server.start()
    with closing(Line(server.port, "over-http", token, "measured")) as line:
        yield line


def _health(server: Server) -> Callable[[], object]:
    def ask() -> None:
        with urlopen(f"http://127.0.0.1:{server.port}/health", timeout=10) as answer:
            answer.read()

    return ask


@contextmanager
def _insert() -> Iterator[Callable[[], object]]:
    with (
        tempfile.TemporaryDirectory(prefix="pinfold-team-") as folder,
        closing(sqlite3.connect(Path(folder) / "one.db", isolation_level=None)) as db,
    ):
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE one (text)")
        yield lambda: db.execute("INSERT INTO one VALUES (?)", ("x" * 200,))


@contextmanager
def _round_trips(address: str) -> Iterator[dict[str, Callable[[], object]]]:
    import psycopg

    with psycopg.connect(address, autocommit=True) as db:
        db.execute("CREATE TABLE one (text text)")
        yield {
            "a round trip to PostgreSQL": lambda: db.execute("SELECT 1").fetchone(),
            "insert and commit of PostgreSQL": lambda: db.execute(
                "INSERT INTO one VALUES (%s)", ("x" * 200,)
            ),
        }
        db.execute("DROP TABLE one")
