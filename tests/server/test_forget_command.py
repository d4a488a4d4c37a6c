"""`pinfold forget` and `pinfold gc` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from pinfold.store.sqlite.store import open_store
from pinfold.store.values import PinKind
from tests.contract.acts import pin
from tests.server.person import Project, with_a_past


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return with_a_past(tmp_path / "app")


def test_nothing_goes_without_a_word(project: Project) -> None:
    before = project.lines("pins")
    looked = project.run("forget", "P1", "--dry-run")
    assert looked.exit_code == 0
    assert looked.stdout.startswith("P1\t")
    piped = project.run("forget", "P1")
    assert (piped.exit_code, "say --yes" in piped.stderr) == (1, True)
    assert project.run("forget", "P1", "--json").exit_code == 1
    assert project.run("gc", "--older-than", "0d", "--keep-sessions", "0").exit_code == 1
    assert project.lines("pins") == before


@pytest.mark.parametrize("both", [["--dry-run", "--yes"], ["--yes", "--dry-run"]])
@pytest.mark.parametrize("command", [["forget", "P1"], ["gc", "--older-than", "0d"], ["restore", "a-backup"]])
def test_to_look_and_to_do_at_once_is_refused_in_either_order(
    project: Project, command: list[str], both: list[str]
) -> None:
    before = project.lines("pins")
    refused = project.run(*command, *both)
    assert (refused.exit_code, "give one of them" in refused.stderr) == (2, True)
    assert json.loads(project.run(*command, *both, "--json").stdout)["ok"] is False
    assert project.lines("pins") == before


@pytest.mark.parametrize("more", [["P1"], ["--match", "Postgres"], ["--keep-pins"], ["--dry-run"]])
def test_to_finish_a_scrub_forgets_nothing_and_is_no_dry_run(project: Project, more: list[str]) -> None:
    size = (project.settings.store_folder / "log.db").stat().st_size
    refused = project.run("forget", "--finish", *more, "--json")
    assert (refused.exit_code, json.loads(refused.stdout)["ok"]) == (2, False)
    assert (project.settings.store_folder / "log.db").stat().st_size == size
    assert project.run("forget", "--finish", "--yes").exit_code == 0


def test_what_went_is_told_and_gone(project: Project) -> None:
    [newest, *rest] = project.lines("pins")
    done = project.run("forget", newest[0], "--yes")
    assert done.exit_code == 0, done.stderr
    assert "forgotten: 1 pin (receipt " in done.stdout
    assert "the files are scrubbed" in done.stdout
    assert "transcripts" in done.stderr
    assert project.lines("pins") == rest
    shown = project.run("show", newest[0])
    assert (shown.exit_code, "it was forgotten on request on 20" in shown.stderr) == (1, True)
    assert project.run("verify").exit_code == 0


@pytest.mark.parametrize("spelled", ["s1", "S1", "1"])
def test_a_session_is_spelled_as_listings_do(project: Project, spelled: str) -> None:
    looked = project.run("forget", "--session", spelled, "--dry-run")
    assert looked.exit_code == 0, looked.stderr
    assert looked.stdout == project.run("forget", "--session", "1", "--dry-run").stdout != ""


@pytest.mark.parametrize("spelled", ["99", "s99"])
def test_a_session_that_is_not_there_is_told_as_search_tells_it(project: Project, spelled: str) -> None:
    searched = project.run("search", "redis", "--session", spelled)
    refused = project.run("forget", "--session", spelled, "--dry-run")
    assert refused.stderr.startswith("pinfold: There is no session 99. There is only session 1.")
    assert searched.stderr.startswith(refused.stderr.rstrip())
    named = project.run("forget", "--session", "no-such-conversation", "--dry-run")
    assert named.stderr.startswith("pinfold: There is no session no-such-conversation. There is ")


@pytest.mark.parametrize("command", [["forget", "--dry-run"], ["show"]], ids=["forget", "show"])
def test_a_session_is_not_taken_for_the_search_of_its_number(project: Project, command: list[str]) -> None:
    search = json.loads(project.run("search", "redis", "--json").stdout)["search"]
    assert project.run(*command, search).exit_code == 0
    refused = project.run(*command, search.lower())
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"{search.lower()} is a session: " in refused.stderr
    assert f"--session {search.lower()}; a search is {search}" in refused.stderr


def test_the_whole_plan_is_told_as_an_object(project: Project) -> None:
    facts = json.loads(project.run("forget", "--before", "9999", "--dry-run", "--json").stdout)
    assert (facts["ok"], facts["done"], facts["receipt"], facts["scrub"]) == (True, False, None, None)
    assert {thing["kind"] for thing in facts["things"]} >= {"pin", "artifact", "checkpoint", "entry", "fold"}
    done = json.loads(project.run("forget", "--before", "9999", "--yes", "--json").stdout)
    assert done["things"] == facts["things"]
    assert done["scrub"]["after_bytes"] < done["scrub"]["before_bytes"]
    assert project.run("forget", "--before", "9999", "--dry-run").stdout == ""


def test_retention_leaves_pins_checkpoints_and_folds(project: Project) -> None:
    done = project.run("gc", "--older-than", "0d", "--keep-sessions", "0", "--yes")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(project.run("status", "--json").stdout)
    assert facts["live_pins"] > 0
    assert facts["checkpoints"] > 0
    assert project.lines("folds")
    assert project.run("verify").exit_code == 0


def test_a_decision_against_a_dead_end_is_named_in_words(project: Project) -> None:
    async def decide() -> None:
        store = await open_store(project.settings.store_folder, project.settings.project.name)
        await pin(store, "caching parsed configuration on disk", kind=PinKind.DEAD_END)
        await pin(store, "cache parsed configuration on disk for 20 minutes")
        await store.close()

    anyio.run(decide)
    rows = project.lines("forget", "--match", "cache parsed configuration", "--dry-run")
    assert rows[1][:2] == ["a decision against a dead end", "miss"]
    named = project.run("forget", "--match", "cache parsed configuration", "--dry-run", "--json")
    assert [each["pointer"] for each in json.loads(named.stdout)["things"]] == [rows[0][0], None]


def test_a_copy_in_a_backup_is_named(project: Project) -> None:
    backups = project.settings.store_folder / "backups"
    backups.mkdir()
    (backups / "one.db").write_bytes(b"")
    done = project.run("forget", "P1", "--yes")
    assert f"still in the backup {backups / 'one.db'}" in done.stderr


@pytest.mark.parametrize(
    "wrong", [["A12#L1-4"], ["P0"], ["everything"], ["--before", "yesterday"], [], ["P1", "--session", "1"]]
)
def test_what_cannot_be_meant_is_refused_with_the_accepted_form(project: Project, wrong: list[str]) -> None:
    refused = project.run("forget", *wrong)
    assert refused.exit_code in (1, 2)
    assert any(form in refused.stderr for form in ("P7", "2026-11-30", "--match")), refused.stderr


@pytest.mark.parametrize("text", ["", "soon", "-1d", "99999y", "5", "0"])
def test_a_time_that_is_none_or_has_no_unit_is_refused(project: Project, text: str) -> None:
    refused = project.run("gc", "--older-than", text, "--dry-run")
    assert (refused.exit_code, "90d" in refused.stderr) == (2, True)


def test_before_takes_an_age_as_gc_does_and_its_error_names_every_form(project: Project) -> None:
    everything = project.run("forget", "--before", "9999", "--dry-run").stdout
    assert project.run("forget", "--before", "0d", "--dry-run").stdout == everything != ""
    wrong = project.run("forget", "--before", "yesterday")
    assert (wrong.exit_code, "2026-11-30" in wrong.stderr, "4812" in wrong.stderr) == (1, True, True)


@pytest.mark.parametrize(
    ("command", "time"),
    [
        (("forget", "--before", "1"), "event 1;"),
        (("forget", "--before", "2001-01-01"), "2001-01-01;"),
        (("forget", "--before", "20y"), " UTC;"),
        (("gc", "--older-than", "20y"), " UTC;"),
    ],
)
def test_where_nothing_is_so_old_it_is_said_what_counts(
    project: Project, command: tuple[str, ...], time: str
) -> None:
    told = project.run(*command, "--dry-run")
    assert (told.exit_code, told.stdout) == (0, "")
    assert told.stderr.startswith("There is nothing to forget that was stored before ")
    assert time in told.stderr
    assert told.stderr.endswith("imported later counts from its import.\n")
