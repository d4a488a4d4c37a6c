"""A server over stdio whose store is a PostgreSQL database: the same turn, from several places."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main
from pinfold.server.commands import http_serving
from pinfold.server.http.serving import Plan
from pinfold.server.settings import read_settings
from tests.faults.lines import Call, Server
from tests.postgres.cluster import PASSWORD


@pytest.fixture
def places(tmp_path: Path) -> list[tuple[Path, Path]]:
    """Two machines: each with a data directory and a checkout of its own."""
    found = []
    for name in ("one", "two"):
        project = tmp_path / name / "shop"
        project.mkdir(parents=True)
        found.append((tmp_path / name / "home", project))
    return found


def test_what_one_machine_keeps_another_finds_fetches_and_goes_on_from(
    address: str, places: list[tuple[Path, Path]]
) -> None:
    settings = {"PINFOLD_STORE": address}
    with Server(*places[0], "one", settings) as one, Server(*places[1], "two", settings) as two:
        assert one.shake_hands()
        assert two.shake_hands()
        pinned = one.call("pin_decision", text="the retry budget is 7", why="measured under load").facts
        assert (pinned["pointer"], pinned["receipt"].partition(":")[0]) == ("P1", "2")
        spilled = one.call("spill_artifact", content="walrus line\n" * 3_000, label="build log").facts
        saved = one.call("checkpoint_state", goal="ship it", pending=["measure again"]).facts
        hits = two.call("search_history", query="retry budget").facts["hits"]
        assert [hit["pointer"] for hit in hits] == [pinned["pointer"]]
        assert "walrus line" in two.call("fetch_pointer", pointer=f"{spilled['pointer']}#L2990-2999").text
        assert "ship it" in two.call("fetch_pointer", pointer=saved["pointer"]).text
        assert "the retry budget is 7" in two.call("fetch_pointer", pointer="brief").text
        again = two.call("pin_decision", text="the retry budget is 9", why="again", supersedes=["P1"]).facts
        assert again["pointer"] == "P2"
        assert "P2" in one.call("fetch_pointer", pointer="P1").text
        assert (one.leave(), two.leave()) == (0, 0)
    assert [home.exists() for home, _ in places] == [False, False]  # nothing of it lies here


def test_a_database_out_of_reach_is_said_and_the_server_goes_on(
    address: str, places: list[tuple[Path, Path]], tmp_path: Path
) -> None:
    nowhere = address.rpartition("@")[0] + "@127.0.0.1:1/nowhere"
    with Server(*places[0], "alone", {"PINFOLD_STORE": nowhere}) as server:
        assert server.shake_hands()
        for _ in range(2):
            answer = server.together([Call("pin_decision", {"text": "lost", "why": "no database"})])[0]
            assert answer is not None
            assert answer.failed
            assert "at 127.0.0.1:1/nowhere is out of reach" in answer.text
            assert "nothing was written" in answer.text
            assert PASSWORD not in answer.text
        assert server.leave() == 0
    assert PASSWORD not in (places[0][0].parent / "alone.stderr").read_text()


def test_an_http_servers_projects_are_not_all_the_one_that_its_databases_address_names(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Plan] = []
    monkeypatch.setattr(http_serving, "serve_over_http", lambda plan, _say: plans.append(plan))
    ours = {"PINFOLD_HOME": str(tmp_path), "PINFOLD_PROJECT": str(tmp_path), "PINFOLD_STORE": address}
    http_serving.serve_http(read_settings(ours), "0", ())

    async def opened(name: str) -> str:
        store = await plans[0].opener(name)
        await store.close()
        return store.project

    named = address.partition("#")[2]
    names = [f"web-{named}", f"shop-{named}", plans[0].home]
    assert [anyio.run(opened, name) for name in names] == [f"web-{named}", f"shop-{named}", named]


def person(home: Path, project: Path, *command: str, **more: str) -> Result:
    """Run a command as if piped; the variable is put back afterwards."""
    ours = {"PINFOLD_HOME": str(home), "CLAUDE_CODE_SESSION_ID": None, "PINFOLD_STORE": None, **more}
    given = [command[0], "--project", str(project), *command[1:]]
    return CliRunner().invoke(main, given, env=ours, catch_exceptions=False)


READING = {
    ("status",): "PostgreSQL 1",
    ("pins",): "the retry budget is 7",
    ("search", "retry budget"): "P1",
    ("show", "P1"): "measured under load",
    ("brief",): "the retry budget is 7",
    ("verify",): "ok: 2 events",
    ("rebuild", "--dry-run"): "nothing differs",
    ("rebuild",): "rebuilt",
}


def test_the_commands_read_it_by_option_and_by_environment(
    address: str, places: list[tuple[Path, Path]]
) -> None:
    home, project = places[0]
    with Server(home, project, "one", {"PINFOLD_STORE": address}) as server:
        assert server.shake_hands()
        server.call("pin_decision", text="the retry budget is 7", why="measured under load")
        assert server.leave() == 0
    for command, told in READING.items():
        by_option = person(home, project, *command, "--store", address)
        assert told in by_option.stdout, (command, by_option)
        assert by_option.exit_code == 0, by_option
    by_environment = person(home, project, "pins", PINFOLD_STORE=address)
    assert "the retry budget is 7" in by_environment.stdout
    wrong = person(home, project, "pins", "--store", address.replace(PASSWORD, f"{PASSWORD}-wrong"))
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "out of reach" in wrong.stderr
    assert PASSWORD not in wrong.stderr
    unknown = person(home, project, "pins", "--store", "oracle://somewhere")
    assert "no way to open a store by oracle://" in unknown.stderr
    assert not home.exists()
