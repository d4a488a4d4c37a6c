"""`pinfold backup` and `pinfold restore` as a person and a script meet them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from pinfold.server.own_command import command_name
from pinfold.store.sqlite.connection import SCHEMA_VERSION, Place
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin, say
from tests.server.peer import PATIENCE_S, environment
from tests.server.person import Project
from tests.server.terminals import all_of

PINFOLD = command_name()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "app")
    anyio.run(_write, made, "use uuid7")
    return made


async def _write(project: Project, text: str) -> None:
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    await pin(store, text)
    await say(store, f"we decided: {text}")
    await store.close()


def _pins(project: Project) -> list[str]:
    return [row[2] for row in project.lines("pins")]


def _backup(project: Project) -> str:
    path: str = json.loads(project.run("backup", "--json").stdout)["path"]
    return path


def test_a_backup_is_told_listed_and_put_back(project: Project) -> None:
    done = project.run("backup")
    path, seq, size, schema, _ = done.stdout.rstrip("\n").split("\t")
    assert (seq, size, schema) == ("3", project.lines("backup", "--list")[0][2], str(SCHEMA_VERSION))
    assert done.stderr == f"Verified. {PINFOLD} restore {path} puts it back.\n"
    anyio.run(_write, project, "no uuid at all")
    plan = project.lines("restore", path, "--yes")
    names = ["backup", "now", "lost", "comes with it", "what is there"]
    assert [row[0] for row in plan] == [*names, plan[5][0], plan[6][0]]
    assert plan[2][1].startswith("2 events behind event 3 (since 20")
    assert plan[2][1].endswith(": 1 pin, 1 message")
    assert plan[5][0].startswith("Restored: event 3, 20")
    undo = plan[6][0].removeprefix(f"To undo it: {PINFOLD} restore ")
    assert _pins(project) == ["use uuid7"]
    assert [row[0] for row in project.lines("backup", "--list")] == [undo, path]
    project.lines("restore", undo, "--yes")
    assert _pins(project) == ["no uuid at all", "use uuid7"]


def test_a_dry_run_and_a_pipe_without_a_word_change_nothing(project: Project) -> None:
    path = _backup(project)
    anyio.run(_write, project, "no uuid at all")
    dry = json.loads(project.run("restore", path, "--dry-run", "--json").stdout)
    assert (dry["done"], dry["common"], dry["lost"]) == (
        False,
        3,
        {"decision.pinned": 1, "message.appended": 1},
    )
    for asked in ((), ("--json",)):
        done = project.run("restore", path, *asked)
        assert done.exit_code == 1
        assert "there is nobody to ask. Look with --dry-run, then say --yes." in done.stdout + done.stderr
    assert len(_pins(project)) == 2
    assert len(project.lines("backup", "--list")) == 1


def test_what_was_forgotten_since_is_said_to_come_back(project: Project) -> None:
    path = _backup(project)
    assert project.run("forget", "P1", "--yes").exit_code == 0
    done = project.run("restore", path, "--dry-run")
    assert "What was forgotten since comes back; forget it again." in done.stderr
    assert "1 forgetting" in done.stdout


def test_a_backup_of_another_project_is_refused_unless_it_is_wanted_anyway(
    project: Project, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    other = Project(tmp_path / "there" / "shop")
    anyio.run(_write, other, "use Redis")
    path = _backup(other)
    done = project.run("restore", path, "--yes")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"pinfold: {path} is a backup of the project shop, and this is app."
        " To put it here all the same, add --anyway.\n"
    )
    assert _pins(project) == ["use uuid7"]
    assert project.run("restore", path, "--yes", "--anyway").exit_code == 0
    assert _pins(project) == ["use Redis"]


def test_a_damaged_store_leads_to_its_backup_which_serves_again(project: Project) -> None:
    path = _backup(project)
    os.truncate(Place(project.settings.store_folder).database, 0)
    done = project.run("pins")
    assert done.exit_code == 1
    assert f"`pinfold restore {path}` puts back the newest backup" in done.stderr
    assert project.run("backup").exit_code == 1
    told = json.loads(project.run("restore", path, "--yes", "--json").stdout)
    assert (told["now"], told["undo"], told["ok"]) == (None, None, True)
    assert "missing or empty" in told["trouble"]
    assert (Path(told["set_aside"]) / "log.db").stat().st_size == 0
    assert _pins(project) == ["use uuid7"]
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("restore", "nowhere.db", "--yes"), "nowhere.db is no file. `pinfold backup --list` shows what"),
        (("backup", "/nowhere/at/all.db"), "There is no folder /nowhere/at. Make it first."),
        (("backup", "--list", "/nowhere"), "/nowhere is no folder. Name the folder that the backups lie in."),
    ],
)
def test_what_cannot_be_done_is_one_line_on_stderr(
    project: Project, arguments: tuple[str, ...], said: str
) -> None:
    done = project.run(*arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert said in done.stderr


@pytest.mark.promise("P30")
def test_no_backup_goes_among_the_stores_but_into_its_own_folder(project: Project, tmp_path: Path) -> None:
    own = project.settings.store_folder
    other = own.parent / "other-0123456789ab"
    (other / "backups").mkdir(parents=True)
    (tmp_path / "link").symlink_to(other)
    before = sorted(own.parent.rglob("*"))
    for place in (
        own.parent,
        own,
        own / "one.db",
        other,
        other / "backups",
        other / "one.db",
        tmp_path / "link",
    ):
        refused = project.run("backup", str(place))
        assert (refused.exit_code, "among the stores" in refused.stderr) == (1, True), refused.stderr
    assert sorted(own.parent.rglob("*")) == before
    (own / "backups").mkdir()
    for place in (own / "backups", own / "backups" / "mine.db", tmp_path / "elsewhere.db"):
        assert project.run("backup", str(place)).exit_code == 0
    assert len(list((own / "backups").iterdir())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize(("word", "left"), [("n", 2), ("y", 1)])
def test_a_person_at_a_terminal_is_asked(project: Project, word: str, left: int) -> None:
    path = _backup(project)
    anyio.run(_write, project, "no uuid at all")
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "pinfold", "restore", path],
        cwd=project.folder,
        env=environment(PINFOLD_HOME=str(project.home), TERM="dumb"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{word}\n".encode())
    shown = all_of(ours).decode()
    running.wait(PATIENCE_S)
    assert "Put the backup in the place of what is there now? [y/N]" in shown
    assert "2 events behind event 3" in shown
    assert len(_pins(project)) == left


def test_opening_a_present_store_loads_nothing_that_backs_up(project: Project) -> None:
    program = (
        "import sys; from pathlib import Path; from pinfold.store.sqlite.direct import open_direct;"
        f"open_direct(Path({str(project.settings.store_folder)!r}), 'app').close();"
        "print(sorted(name for name in sys.modules if name.rpartition('.')[2] in"
        " ('backing_up', 'backups', 'copying', 'verifying', 'shutil', 'tempfile')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_a_store_that_is_named_by_its_folder_is_cared_for_like_the_projects_own(
    project: Project, tmp_path: Path
) -> None:
    """So it is done on a team's server, whose stores are no folder's project there."""
    elsewhere = Project(tmp_path / "elsewhere")
    named = {"PINFOLD_STORE": str(project.settings.store_folder)}
    path = elsewhere.run("backup", **named).stdout.split("\t")[0]
    assert Path(path).parent == project.settings.store_folder / "backups"
    anyio.run(_write, project, "no uuid at all")
    assert elsewhere.run("restore", path, "--yes", **named).exit_code == 0
    assert _pins(project) == ["use uuid7"]
    assert (
        "has kept nothing for it yet" in elsewhere.run("pins", PINFOLD_STORE=str(tmp_path / "missing")).stderr
    )
    assert not (tmp_path / "missing").exists()
