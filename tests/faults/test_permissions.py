"""Whose files they are: pinfold's are for one user alone, and what others could have put there is refused. P25."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from pinfold.store.errors import PinfoldError
from tests.faults.unprivileged import (
    IS_ROOT,
    OTHER,
    USER,
    in_python,
    own_folder,
    places,
    serving,
    told,
)
from tests.server.hooking import Client
from tests.server.peer import call, text_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")

_READ_ALL = """
import sys
opened = []
for name in sys.argv[1:]:
    for mode in ("rb", "r+b"):
        try:
            open(name, mode).close()
            opened.append(name)
        except PermissionError:
            pass
print(len(sys.argv) - 1, opened)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with own_folder() as made:
        for name in ("shop", "user"):
            (made / name).mkdir()
            os.chown(made / name, USER, -1)
        yield made


def _modes(folder: Path) -> dict[str, tuple[int, int]]:
    """Return owner and mode of everything below a folder, itself too."""
    found = {str(path.relative_to(folder.parent)): path.lstat() for path in (folder, *folder.rglob("*"))}
    return {name: (each.st_uid, stat.S_IMODE(each.st_mode)) for name, each in found.items()}


_EVERYTHING = """
import json
from pinfold.server.cli import main
from pinfold.server.hook import carry_out
carry_out(["session-start", "--client", "claude"], b'{"session_id": "s1", "source": "startup"}')
for arguments in json.loads(sys.argv[1]):
    main(arguments, standalone_mode=False)
"""


def _use_everything(folder: Path, mask: int) -> None:
    """Call a hook, install, back up and export."""
    config = folder / "user" / ".claude.json"
    config.write_text("{}")
    os.chown(config, USER, -1)
    commands = [["install", "claude"], ["backup"], ["export", "--output", str(folder / "home" / "all.jsonl")]]
    done = told(in_python(_EVERYTHING, json.dumps(commands), mask=mask), places(folder))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mask", [0, pytest.param(0o077, marks=pytest.mark.full)])
def test_every_file_is_its_users_alone_under_any_umask(folder: Path, mask: int) -> None:
    with serving(folder, mask) as peer:
        assert "P1" in text_of(peer.ask(call(1, "pin_decision", text="use Postgres 16", why="it is there")))
        _use_everything(folder, mask)
        modes = _modes(folder / "home")
    kinds = {Path(name).name for name in modes}
    assert {
        "log.db",
        "log.db-wal",
        "log.db-shm",
        "log.lock",
        "store-id",
        "installed",
        "backups",
        "all.jsonl",
    } <= kinds
    print(f"{len(modes)} files and folders of user {USER} under umask {mask:o}")
    folders = {name for name in modes if (folder / name).is_dir()}
    assert modes == {name: (USER, 0o700 if name in folders else 0o600) for name in modes}


@pytest.mark.skipif(not IS_ROOT, reason="only root can be another user")
def test_another_user_can_read_and_write_none_of_it(folder: Path) -> None:
    folder.chmod(0o755)
    with serving(folder, 0) as peer:
        assert "P1" in text_of(peer.ask(call(1, "pin_decision", text="use Postgres 16", why="it is there")))
        files = [str(path) for path in (folder / "home").rglob("*") if path.is_file()]
        assert len(files) >= 5
        (folder / "shop" / "open.txt").write_text("anybody's")
        control = told(in_python(_READ_ALL, str(folder / "shop" / "open.txt"), user=OTHER, load=False), {})
        assert control.stdout.decode().startswith("1 ['/")
        done = told(in_python(_READ_ALL, *files, user=OTHER, load=False), {})
    assert done.stdout.decode() == f"{len(files)} []\n", done.stderr


def _link(name: str) -> Callable[[Path], None]:
    def plant(store: Path) -> None:
        target = store.parent.parent.parent / "precious"
        target.write_text("do not touch\n")
        (store / name).unlink(missing_ok=True)
        (store / name).symlink_to(target)

    return plant


def _twin(name: str) -> Callable[[Path], None]:
    return lambda store: os.link(store / name, store.parent / f"twin of {name}")


def _open_to_all(store: Path) -> None:
    store.chmod(0o777)


def _of_another(name: str) -> Callable[[Path], None]:
    def plant(store: Path) -> None:
        path = store / name
        path.touch()
        os.chown(path, OTHER, OTHER)
        path.chmod(0o666 if path.is_file() else 0o777)

    return plant


_BY_ROOT = pytest.mark.skipif(not IS_ROOT, reason="only root gives files to others")
PLANTED: dict[str, tuple[Callable[[Path], None], str]] = {
    "log.db is a link": (_link("log.db"), "log.db is not a regular file with one name"),
    "log.lock is a link": (_link("log.lock"), "log.lock is not a regular file with one name"),
    "store-id is a link": (_link("store-id"), "store-id is not a regular file with one name"),
    "the WAL is a link": (_link("log.db-wal"), "log.db-wal is not a regular file with one name"),
    "the SHM is a link": (_link("log.db-shm"), "log.db-shm is not a regular file with one name"),
    "the journal is a link": (_link("log.db-journal"), "log.db-journal is not a regular file with one name"),
    "log.db has two names": (_twin("log.db"), "log.db is not a regular file with one name"),
    "log.lock has two names": (_twin("log.lock"), "log.lock is not a regular file with one name"),
    "anyone can write": (_open_to_all, "anyone can write into"),
    "another's log.db": (_of_another("log.db"), "log.db belongs to another user"),
    "another's WAL": (_of_another("log.db-wal"), "log.db-wal belongs to another user"),
    "another's lock": (_of_another("log.lock"), "log.lock belongs to another user"),
    "another's folder": (_of_another(""), "belongs to another user"),
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=_BY_ROOT) if "another" in kind else kind for kind in PLANTED]
)
def test_what_others_could_have_planted_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    plant, why = PLANTED[kind]
    client = Client(tmp_path, piped=False)
    client.hook("session-start", source="startup")
    plant(client.store_folder)
    before = _picture(tmp_path)
    with pytest.raises(PinfoldError, match=why) as refused:
        client.hook("session-start", source="resume")
    assert str(client.store_folder) in refused.value.message
    assert refused.value.hint
    shown = CliRunner().invoke(main, ["pins", "--project", str(client.project)], env=client.environment())
    assert shown.exit_code != 0
    assert why in shown.stderr
    assert _picture(tmp_path) == before


def _picture(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return everything below a folder: owner, mode, content."""
    found = {}
    for path in folder.rglob("*"):
        kind = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(kind.st_mode) else b""
        found[str(path)] = (kind.st_uid, kind.st_mode, content)
    return found


@pytest.mark.parametrize("place", ["home", "home/projects"])
def test_behind_a_link_to_a_folder_of_everybody_the_files_are_still_this_users_alone(
    tmp_path: Path, place: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    client = Client(tmp_path, piped=False)
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(elsewhere)
    client.hook("session-start", source="startup")
    made = _modes(elsewhere)
    del made["elsewhere"]
    assert len(made) >= 4
    assert {(owner, mode & 0o077) for owner, mode in made.values()} == {(os.getuid(), 0)}
