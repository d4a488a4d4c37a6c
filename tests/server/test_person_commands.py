"""What a person reads in a pipe and as JSON, of a project with a past."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from pinfold.server.commands import asking
from pinfold.server.own_command import command_name
from pinfold.store.commands import StartSession
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.gate import Gate
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import COMMAND_LINE, Actor, Caller
from tests.contract.acts import pin
from tests.server.peer import PATIENCE_S, environment
from tests.server.person import BLOB, LOG, ODD, Project, with_a_past


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project that the tests only look at."""
    return with_a_past(tmp_path_factory.mktemp("person") / "app")


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    return Project(tmp_path / "app")


PINFOLD = command_name()
ALL = (
    ("status",),
    ("pins",),
    ("search", "redis"),
    ("show", "P1"),
    ("show", "pins"),
    ("show", "P1", "--match", "x"),
    ("folds",),
    ("misses",),
    ("recall", "redis"),
)


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_without_a_store_each_says_so_and_makes_none(empty: Project, command: tuple[str, ...]) -> None:
    plain, as_json = empty.run(*command), empty.run(*command, "--json")
    told = plain.stderr.removeprefix("pinfold: ").removesuffix("\n")
    assert (plain.exit_code, plain.stdout, as_json.exit_code) == (1, "", 1)
    assert told.startswith(f"project app ({empty.folder}): pinfold has kept nothing for it yet. ")
    assert all(f"{command_name()} {way}" in told for way in ("import", "doctor"))
    assert told.endswith("Codex asks in /hooks to trust it.")
    assert json.loads(as_json.stdout) == {"ok": False, "error": told}
    assert not empty.home.exists()


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_a_damaged_store_is_named_and_left_alone(empty: Project, command: tuple[str, ...]) -> None:
    folder = empty.settings.store_folder
    folder.mkdir(parents=True)
    (folder / "log.db").write_bytes(b"no database at all" * 300)
    (folder / "store-id").write_bytes(b"pinfold store\n")
    done = empty.run(*command)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "is damaged; nothing was changed" in done.stderr
    assert (folder / "log.db").read_bytes() == b"no database at all" * 300


def test_pins_are_one_line_each_pointer_first_and_nothing_is_cut(project: Project) -> None:
    rows = project.lines("pins")
    assert [row[0] for row in rows] == ["P4", "P2", "P1"]
    assert {len(row) for row in rows} == {7}
    assert rows[1][1:4] == [
        "constraint",
        "数据库最多 8 个连接 🎉\\x1b[31mred\\x1b[0m\\tand a tab\\nsecond line",
        "limit",
    ]
    assert [row[0] for row in project.lines("pins", "--superseded")] == ["P4", "P3", "P2", "P1"]
    assert project.lines("pins", "--superseded")[1][6] == "P4"


def test_json_holds_the_exact_text_and_every_field(project: Project) -> None:
    done = project.run("pins", "--json")
    assert done.stdout.isascii()
    found = json.loads(done.stdout)
    assert (found["project"], found["more"]) == ("app", 0)
    odd = found["pins"][1]
    assert (odd["pointer"], odd["text"], odd["kind"]) == ("P2", ODD, "constraint")
    assert {"why", "at", "session", "files", "specifics", "supersedes", "superseded_by"} <= set(odd)


def test_a_list_that_is_cut_says_how_many_more_there_are_beside_the_lines(project: Project) -> None:
    done = project.run("pins", "--limit", "1")
    assert (done.stdout.count("\n"), done.stderr) == (1, "2 more; --all shows them.\n")
    assert json.loads(project.run("pins", "--limit", "1", "--json").stdout)["more"] == 2
    assert project.run("pins", "--limit", "1", "--all").stdout.count("\n") == 3


def test_a_long_list_is_read_to_its_end(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "BATCH", 25)

    async def keep() -> None:
        store = await open_store(empty.settings.store_folder, "app")
        for number in range(76):
            await pin(store, f"decision {number}")
        await store.close()

    anyio.run(keep)
    assert len(empty.lines("pins", "--all")) == 76
    assert empty.run("pins").stderr == "26 more; --all shows them.\n"
    assert empty.run("folds").stderr.startswith("No folds yet: ")
    assert empty.run("misses").stderr == "No misses yet.\n"


def test_folds_say_what_was_lost_and_what_the_brief_gives_back(project: Project) -> None:
    (row,) = project.lines("folds")
    assert row[:1] + row[2:] == [
        "F1",
        "s1",
        "164,000 -> 12,000",
        "93%",
        "1 of 4",
        "P1: redis-main; P2: 8 个; P3: Postgres 16",
        "P1 1 of 1; P2 1 of 1; P3 superseded by P4",
        "H9",
    ]
    (fold,) = json.loads(project.run("folds", "--json").stdout)["folds"]
    assert (fold["present"], fold["kept"], fold["reduction"], fold["summary"]) == (4, 1, 0.9268, "A4")
    assert [lost["in_brief"] for lost in fold["lost"]] == [["redis-main"], ["8 个"], []]


def test_recall_compares_the_brief_with_the_last_summary(project: Project) -> None:
    done = project.run("recall", "refresh", "tokens")
    assert done.stdout == (
        "P1\tRefresh tokens live in `redis-main` for 15 minutes.\t2 of 2\t1 of 2\t\tredis-main\n"
    )
    assert done.stderr == "The brief shows 2 of 2 specifics; the summary of F1 shows 1.\n"
    (found,) = json.loads(project.run("recall", "refresh", "tokens", "--json").stdout)["pins"]
    assert (found["not_in_brief"], found["not_in_summary"]) == ([], ["redis-main"])


def test_status_shows_the_store_and_adds_the_window_up(project: Project) -> None:
    found = json.loads(project.run("status", "--json").stdout)
    assert found["location"] == str(project.settings.store_folder)
    counts = ("live_pins", "artifacts", "checkpoints", "sessions", "folds")
    assert [found[name] for name in counts] == [3, 4, 1, 1, 1]
    assert (found["last_fold"]["pointer"], found["client"]) == ("F1", "claude-code")
    assert found["hooks"]["claude-code"].startswith("20")
    budget = found["budget"]
    assert (budget["client"], budget["window"], budget["assumed"]) == ("claude-code", 200_000, True)
    taken = ("output_reserve", "client_prompt_and_tools", "safety_margin", "pinfold_tools", "history")
    assert sum(budget[name] for name in taken) == 200_000
    assert 0 < budget["pins"] < budget["brief"] < 2_000
    rows = dict(project.lines("status", "--client", "codex", "--model", "gpt-6.2-sol"))
    assert rows["window"] == "500,000 tokens (codex, gpt-6.2-sol)"
    assert rows["last fold"].startswith("F1, ")
    assert rows["hooks"].startswith("claude-code last heard 20")
    assert rows["artifacts"] == "4 (1 of them from transcripts, which no brief lists)"


@pytest.mark.parametrize(
    ("pointer", "content"),
    [
        (("A1",), LOG),
        (("A2",), BLOB),
        (("A1#L10-12",), b"row 10 of the log\nrow 11 of the log\nrow 12 of the log\n"),
        (("A1", "--lines", "-1"), b"row 20000 of the log\n"),
        (("A1", "--lines", "19999-"), b"row 19999 of the log\nrow 20000 of the log\n"),
        (("A2#B255-257",), b"\xff\x00\x01"),
        (("C1", "--raw"), b"Goal: Ship timeouts\nPending:\n- tests"),
        (("P2#L2",), b"second line\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_into_a_pipe_go_the_exact_bytes(project: Project, pointer: tuple[str, ...], content: bytes) -> None:
    done = project.run("show", *pointer)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout_bytes == content


def test_a_shell_restores_a_file_byte_for_byte(project: Project, tmp_path: Path) -> None:
    restored = tmp_path / "restored"
    with restored.open("wb") as file:
        subprocess.run(
            [sys.executable, "-m", "pinfold", "show", "A2"],
            cwd=project.folder,
            env=environment(PINFOLD_HOME=str(project.home)),
            stdout=file,
            timeout=PATIENCE_S,
            check=True,
        )
    assert restored.read_bytes() == BLOB


def test_show_tells_a_record_in_words_with_what_is_hidden_spelled_out(project: Project) -> None:
    shown = project.run("show", "p2").stdout
    assert shown.startswith("P2 constraint, 20")
    assert "red\\x1b[0m\tand a tab\nsecond line\nWhy: limit\n" in shown
    assert json.loads(project.run("show", "P2", "--json").stdout)["text"] == ODD
    assert project.run("show", "C1").stdout.endswith("Goal: Ship timeouts\nPending:\n- tests\n")
    assert "Said before it, not in the summary: H9" in project.run("show", "F1").stdout


def test_show_finds_matches_and_json_paths_in_all_of_an_artifact(project: Project) -> None:
    assert project.run("show", "A3", "--json-path", "$.items[*].id").stdout == (
        "$['items'][0]['id']: 7\n$['items'][1]['id']: 1.10\n"
    )
    found = project.run("show", "A1", "--match", "row 1.*99 of").stdout.splitlines()
    assert sum(": row 1" in line for line in found) == 1 + 10 + 100
    assert project.run("show", "A1", "--match", "no such row").stderr == "No match.\n"


def test_show_accepts_listings_and_the_brief(project: Project) -> None:
    assert [row[0] for row in project.lines("show", "artifacts")] == ["A4", "A3", "A2", "A1"]
    assert [row[0] for row in project.lines("show", "pins")] == ["P4", "P3", "P2", "P1"]
    assert [row[:2] for row in project.lines("show", "checkpoints")] == [["C1", "Ship timeouts"]]
    assert project.run("show", "brief").stdout == project.run("brief").stdout
    parts = json.loads(project.run("show", "A2#B255-257", "--json").stdout)
    assert (parts["pointer"], parts["base64"], parts["size_bytes"]) == ("A2#B255-257", "/wAB", len(BLOB))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nonsense"), '"nonsense" is no pointer.'),
        (("show", "A99"), "A99: there is no such artifact."),
        (("show", "A1#L20001"), "A1#L20001: out of range. A1 has 20,000 lines."),
        (("show", "A1#L1", "--lines", "2"), "A1#L1 already names a part."),
        (("show", "A1#L1", "--match", "row"), "--match and --json-path look through everything."),
        (("show", "brief", "--lines", "2"), "brief has no parts."),
        (("search", "redis", "--session", "99"), "There is no session 99."),
        (("search", "redis", "--since", "yesterday"), '--since cannot be "yesterday".'),
        (("search", "***"), ""),
        (("search", ""), "The query is empty. "),
        (("search", "redis", "--cursor", "x"), f"The cursor is not one that {PINFOLD} search gave. "),
        (("show", "P99"), f"P99: there is no such pin in this project. {PINFOLD} pins lists them.\n"),
        (
            ("show", "C99"),
            f"C99: there is no such checkpoint in this project. {PINFOLD} show checkpoints lists",
        ),
        (("show", "H99"), f"H99: there is no such entry in this project. {PINFOLD} search finds entries.\n"),
        (
            ("show", "H1"),
            f"H1: it is no message, tool call or tool result. {PINFOLD} search finds entries.\n",
        ),
        (
            ("show", "S99"),
            f"S99: there is no such search in this project. Search again with {PINFOLD} search.\n",
        ),
        (
            ("show", "A1", "--json-path", "$.a"),
            f"A1 is not JSON that can be read. Read it as text: {PINFOLD} show A1.",
        ),
        (("show", "A3", "--json-path", "a"), "--json-path cannot be read."),
        (("show", "A1", "--match", "("), "--match is no regular expression ("),
        (
            ("brief", "--as-of", "99"),
            f"brief@99: the log has 13 events. {PINFOLD} brief shows it as it is now.\n",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_shown_is_one_line_on_stderr(
    project: Project, arguments: tuple[str, ...], said: str
) -> None:
    done = project.run(*arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"pinfold: {said}")
    assert not re.search("fetch_pointer|search_history|`", done.stderr)
    as_json = project.run(*arguments, "--json")
    assert json.loads(as_json.stdout) == {"ok": False, "error": done.stderr[len("pinfold: ") : -1]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "--kind", "foo", "x"), "Invalid value for '--kind': 'foo' is not one of 'pins', "),
        (("pins", "--limit", "0"), "Invalid value for '--limit': 0 is not in the range x>=1."),
        (("verify", "--receipt", "1:abc"), "Invalid value for '--receipt': This is not a receipt. "),
        (
            ("status", "--project", "/nonexist"),
            "Invalid value for '--project': Directory '/nonexist' does not exist.",
        ),
        (("install", "foo"), "Invalid value for "),
        (("search",), "Missing argument 'WORDS...'."),
        (("brief", "--bogus"), "No such option '--bogus'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_usage_error_is_an_object_too_where_json_is_asked_for(
    project: Project, arguments: tuple[str, ...], said: str
) -> None:
    done = project.run(*arguments, "--json")
    assert (done.exit_code, done.stderr) == (2, "")
    found = json.loads(done.stdout)
    assert (found["ok"], found["error"][: len(said)]) == (False, said)
    plain = project.run(*arguments)
    assert (plain.exit_code, plain.stdout) == (2, "")
    assert plain.stderr.endswith(f"Error: {found['error']}\n")


def test_search_has_the_filters_of_the_tool(project: Project) -> None:
    assert [row[:2] for row in project.lines("search", "tokens", "minutes")] == [
        ["P1", "pins"],
        ["F1", "folds"],
    ]
    assert [row[0] for row in project.lines("search", "tokens", "--kind", "pins", "--session", "s1")] == [
        "P1"
    ]
    assert project.lines("search", "tokens", "--path", "nowhere.py") == []
    assert project.lines("search", "tokens", "--since", "2026-01-01", "--limit", "1")[0][0] == "P1"
    found = json.loads(project.run("search", "Postgres", "--json").stdout)
    assert found["hits"][0]["note"] == "replaces P3: Use Postgres 16"


def test_searches_of_a_person_miss_in_one_session_of_their_own(tmp_path: Path) -> None:
    project = with_a_past(tmp_path / "app")
    for word in ("zyzzyva", "quixotry"):
        done = project.run("search", word)
        assert (done.stdout, done.stderr.splitlines()[1:]) == (
            "",
            ["Try other words, fewer filters, or the exact identifier."],
        )
    rows = project.lines("misses")
    assert [(row[1], row[2], *row[6:]) for row in rows] == [
        ("quixotry", "nothing found", "s2", "a person"),
        ("zyzzyva", "nothing found", "s2", "a person"),
    ]
    assert f"{rows[0][0]} search by a person, 20" in project.run("show", rows[0][0]).stdout
    assert "quixotry (nothing found, by a person)\n" in anyio.run(project.fetched, "misses")
    missed = json.loads(project.run("misses", "--json").stdout)["misses"]
    assert [miss["pointer"] for miss in missed] == [row[0] for row in rows]
    status = json.loads(project.run("status", "--json").stdout)
    assert (status["sessions"], status["client"]) == (2, "claude-code")
    assert COMMAND_LINE not in project.run("status").stdout
    project.run("search", "xylograph", CLAUDE_CODE_SESSION_ID="anna")
    assert project.lines("misses")[0][6:] == ["s1", ""]


def test_what_a_search_belongs_to_is_left_out_while_it_belongs_to_no_session(tmp_path: Path) -> None:
    project = with_a_past(tmp_path / "app")
    search = project.run("search", "redis").stderr.split()[0]
    head = project.run("show", search).stdout.splitlines()[0]
    assert re.fullmatch(rf"{search} search, \d{{4}}-\d\d-\d\d", head)
    assert json.loads(project.run("show", search, "--json").stdout)["session"] is None


def test_reading_goes_on_while_another_process_holds_the_lock(project: Project) -> None:
    gate = Gate(Place(project.settings.store_folder).lock)
    with gate.hold():
        assert [row[0] for row in project.lines("pins")] == ["P4", "P2", "P1"]
        done = project.run("search", "Postgres")
        assert done.stdout.startswith("P4\tpins\t")
        assert done.stderr == "1 found by exact phrase\n"  # without the number that it could not be given
    gate.close()


def test_a_listing_in_a_pipe_loads_nothing_that_it_does_not_need(project: Project) -> None:
    program = (
        "import sys; from pinfold.server.cli import main; main(['pins'], standalone_mode=False);"
        "print(sorted({'rich', 'mcp', 'tiktoken', 'pydantic', 're2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project.folder,
        env=environment(PINFOLD_HOME=str(project.home)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout.startswith("P4\t")
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_status_has_heard_of_each_clients_hooks_once_one_began_a_session(empty: Project) -> None:
    async def begin(client: str, actor: Actor) -> None:
        store = await open_store(empty.settings.store_folder, "app")
        await store.start_session(StartSession(Caller(client, actor, actor)))
        await store.close()

    anyio.run(begin, "codex", "agent")
    assert "none heard yet" in empty.run("status").stdout
    for client in ("codex", "claude-code"):
        anyio.run(begin, client, "hook")
    heard = re.compile(r"claude-code last heard 20.{14} UTC; codex last heard 20.{14} UTC")
    assert heard.fullmatch(dict(empty.lines("status"))["hooks"])
