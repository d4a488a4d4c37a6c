"""A program that knows the verbs and none of their limits: what it sends past every tool is refused, and said how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinfold.server.http.verbs import MAX_TEXT_BYTES
from pinfold.store.commands import CheckpointState, PinDecision, SearchHistory
from pinfold.store.errors import InvalidInputError, PinfoldError, TooLargeError
from pinfold.store.remote.address import read_address
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.values import MAX_PIN_CHARS, Caller
from tests.http.changed import short_of_room
from tests.http.serving import Reply, Served, bearer, served

ANNA = Caller("claude-code", "anna")
PIN = PinDecision(ANNA, "rule 1", "said")


@pytest.fixture
def token(team: Served, tmp_path: Path) -> str:
    return team.token(tmp_path.name, tmp_path.name)


@pytest.fixture
def store(team: Served, tmp_path: Path, token: str) -> Iterator[RemoteSyncStore]:
    address = read_address(f"http://127.0.0.1:{team.port}/p/{tmp_path.name}", token)
    with closing(open_remote_direct(address, "here")) as found:
        yield found


def posted(team: Served, tmp_path: Path, token: str, verb: str, body: bytes) -> Reply:
    return team.ask("POST", f"/p/{tmp_path.name}/store/{verb}", body, bearer(token))


def told(reply: Reply) -> dict[str, Any]:
    word, _, rest = reply.body.strip().partition(b" ")
    assert (reply.status, word) == (200, b"error")
    found = json.loads(rest)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (replace(PIN, text="x" * (2 * MAX_PIN_CHARS + 1)), TooLargeError),
        (replace(PIN, why="a\0b"), InvalidInputError),
        (replace(PIN, files=("a",) * 5_001), TooLargeError),
        (replace(PIN, caller=replace(ANNA, conversation="c" * 2_000)), TooLargeError),
    ],
    ids=["long", "nul", "many", "caller"],
)
def test_a_pin_beyond_the_limits_is_refused(
    store: RemoteSyncStore, command: PinDecision, kind: type[PinfoldError]
) -> None:
    with pytest.raises(kind):
        store.pin_decision(command)
    assert store.brief_state(None).pins == ()


def test_what_a_redactor_made_longer_is_within_the_limits(store: RemoteSyncStore) -> None:
    assert store.pin_decision(replace(PIN, text="x" * (MAX_PIN_CHARS + 100))).pin.number == 1


def test_other_commands_are_bounded_as_well(team: Served, tmp_path: Path, token: str) -> None:
    from pinfold.store.remote.contract import verb

    state = CheckpointState(ANNA, goal="g", pending=("x" * 10_000,))
    for name, command in (
        ("checkpoint_state", state),
        ("search_history", SearchHistory(ANNA, "x", limit=51)),
    ):
        body = verb(name).arguments.dump_json((command,)) + b"\n"
        assert told(posted(team, tmp_path, token, name, body))["code"] in ("too_large", "invalid")


@pytest.mark.parametrize(
    "body", [b"", b"\n", b"{}\n", b"[]\n", b"[1]\n", b"[{}]\n", b"\xff\n", b"[" * 9_000 + b"\n"]
)
def test_a_request_that_is_none_is_refused_in_words(
    team: Served, tmp_path: Path, token: str, body: bytes
) -> None:
    error = told(posted(team, tmp_path, token, "pin_decision", body))
    assert (error["code"], "does not understand" in error["message"]) == ("invalid", True)


def test_a_text_without_end_is_refused_by_its_size(team: Served, tmp_path: Path, token: str) -> None:
    error = told(posted(team, tmp_path, token, "pin_decision", b" " * (MAX_TEXT_BYTES + 9)))
    assert error["code"] == "too_large"


@pytest.mark.parametrize("verb", ["close", "fence", "__init__", "pin_decision/x", "nothing"])
def test_what_is_no_verb_is_not_there(team: Served, tmp_path: Path, token: str, verb: str) -> None:
    assert posted(team, tmp_path, token, verb, b"[]\n").status == 404


def test_a_request_that_names_bytes_it_does_not_bring_is_refused(
    team: Served, tmp_path: Path, token: str
) -> None:
    outline = {"media_type": "text/plain", "preview": "p", "tokens": 1}
    for place in ({"start": 0, "size_bytes": 9}, {"start": -1, "size_bytes": 1}, {"start": 0}, "text"):
        spill = {"caller": {"client": "c", "conversation": "d"}, "content": place, "outline": outline}
        error = told(posted(team, tmp_path, token, "spill_artifact", json.dumps([spill]).encode() + b"\n12"))
        assert error["code"] == "invalid"


def test_a_body_that_finds_no_room_on_the_server_is_refused_as_that_and_nothing_was_done(
    tmp_path: Path,
) -> None:
    with served(tmp_path, first=short_of_room) as server:
        token = server.token("anna", tmp_path.name)
        refused = told(posted(server, tmp_path, token, "spill_artifact", b"[]\n" + b"x" * (8 << 20)))
        assert (refused["code"], "nothing was written" in refused["message"]) == ("no_space", True)
        assert "failed with" not in server.noted()
        assert posted(server, tmp_path, token, "log_end", b"[]\n").body.startswith(b"result ")
