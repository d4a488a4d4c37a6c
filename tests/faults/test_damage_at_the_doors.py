"""A damaged or strange store through a server, a hook and a command: told, left alone, never an empty one. P11."""

from __future__ import annotations

import os
import random
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from pinfold.store.errors import PinfoldError
from tests.server.hooking import Client
from tests.server.peer import Peer, call, serving, text_of
from tests.store.test_opening import ZOO, _picture

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")


def _socket(database: Path) -> None:
    database.unlink()
    here = os.getcwd()
    os.chdir(database.parent)  # a socket's path may not be long
    with closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(database.name)
    os.chdir(here)


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    kind: found for kind, found in ZOO.items() if kind != "another program without an id"
} | {"a socket": (_socket, "not a regular file")}


def served(client: Client) -> AbstractContextManager[Peer]:
    return serving(PINFOLD_HOME=str(client.home), PINFOLD_PROJECT=str(client.project))


def begun(folder: Path, pins: int = 3) -> Client:
    """Return a client with a store that holds some pins and is closed."""
    client = Client(folder, piped=False)
    client.hook("session-start", source="startup")
    client.pin(*(f"decision {number}: {'because ' * 40}" for number in range(pins)))
    return client


@pytest.mark.parametrize("kind", STRANGE)
def test_a_hook_and_a_command_say_what_is_wrong_and_leave_the_store_alone(tmp_path: Path, kind: str) -> None:
    damage, cause = STRANGE[kind]
    client = begun(tmp_path)
    damage(client.store_folder / "log.db")
    before = _picture(client.store_folder)
    for _ in range(2):
        with pytest.raises(PinfoldError, match=cause) as refused:
            client.hook("session-start", source="resume")
        assert refused.value.hint
        done = CliRunner().invoke(main, ["pins", "--project", str(client.project)], env=client.environment())
        assert done.exit_code != 0
        assert cause in done.stderr
        assert done.stdout == ""
        assert _picture(client.store_folder) == before


def _files(client: Client) -> dict[str, str]:
    """Picture the store; its lock names whoever took it last."""
    return {name: what for name, what in _picture(client.store_folder).items() if name != "log.lock"}


_LONG = [pytest.param(kind, marks=pytest.mark.full) for kind in STRANGE if kind != "empty"]


@pytest.mark.parametrize("kind", ["empty", *_LONG])
def test_a_server_goes_on_telling_what_is_wrong_and_leaves_the_store_alone(tmp_path: Path, kind: str) -> None:
    damage, cause = STRANGE[kind]
    client = begun(tmp_path)
    damage(client.store_folder / "log.db")
    before = _files(client)
    with served(client) as peer:
        for number, tool in enumerate(("pin_decision", "fetch_pointer", "search_history")):
            arguments = {
                "pin_decision": {"text": "new", "why": "it is"},
                "fetch_pointer": {"pointer": "pins"},
            }
            told = peer.ask(call(number, tool, **arguments.get(tool, {"query": "decision"})))
            assert told["result"]["isError"] is True
            assert cause in text_of(told)
        assert _files(client) == before
        peer.stdin.close()
        assert peer.server.wait(10) == 0
    assert _files(client) == before


@pytest.mark.parametrize(
    "names",
    [
        ("log.db-wal", "log.db-shm"),
        *(pytest.param((name,), marks=pytest.mark.full) for name in ("log.db-wal", "log.db-shm")),
    ],
)
def test_nothing_is_acknowledged_into_a_log_ahead_that_was_removed(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    client = begun(tmp_path, pins=1)
    with served(client) as peer:
        assert "P2" in text_of(peer.ask(call(1, "pin_decision", text="the second", why="it is so")))
        for name in names:
            (client.store_folder / name).unlink()
        told = peer.ask(call(2, "pin_decision", text="into the void", why="it is so"))
        assert told["result"]["isError"] is True
        assert f"{names[0]} (it was replaced or removed while open)" in text_of(told)
        assert "P2" in text_of(peer.ask(call(3, "fetch_pointer", pointer="pins")))
        peer.stdin.close()
        assert peer.server.wait(10) == 0
    assert [pin.number for pin in client.pins()] == [1, 2]


def test_damage_in_the_middle_of_a_session_is_told_and_every_row_is_still_there(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    client = begun(tmp_path, pins=40)
    database = client.store_folder / "log.db"
    whole = database.read_bytes()
    with served(client) as peer:
        assert "P40" in text_of(peer.ask(call(1, "fetch_pointer", pointer="P40")))
        rubbish = random.Random(seed).randbytes(len(whole) - 4096)
        with database.open("r+b") as file:
            file.seek(4096)
            file.write(rubbish)
        identity = database.stat().st_ino
        told = [peer.ask(call(2 + each, "search_history", query=f"decision {each}")) for each in range(3)]
        told.append(peer.ask(call(9, "pin_decision", text="into the damage", why="it is so")))
        assert any(each["result"]["isError"] and "damaged" in text_of(each) for each in told), told
        peer.server.kill()
        peer.server.wait(10)
    print(f"seed {seed}: {len(rubbish):,} bytes of rubbish")
    assert database.stat().st_ino == identity
    assert database.stat().st_size >= len(whole)
    assert {path.name for path in client.store_folder.iterdir()} <= _NAMES
    for name in ("log.db-wal", "log.db-shm"):
        (client.store_folder / name).unlink(missing_ok=True)
    database.write_bytes(whole)
    assert len(client.pins()) == 40


_NAMES = {"log.db", "log.db-wal", "log.db-shm", "log.lock", "store-id"}
