"""Tokens as an operator handles them: made once, kept as digests, listed, ended. P27."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pinfold.server.http.tokens import Token, TokenFile
from pinfold.store.errors import ConflictError, DamagedError, NotFoundError, ReadOnlyError
from tests.http.serving import run


def _token(name: str, *projects: str, expires: str | None = None) -> Token:
    return Token(
        name, "", projects or ("shop",), may_write=True, created="2026-11-30T00:00:00Z", expires=expires
    )


def test_a_token_is_256_bits_and_only_its_digest_is_kept(tmp_path: Path) -> None:
    made = TokenFile(tmp_path).add(_token("anna"))
    assert made.startswith("pinfold_")
    assert len(made.removeprefix("pinfold_")) == 43
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert made.encode() not in kept
    assert made.removeprefix("pinfold_").encode() not in kept
    assert hashlib.sha256(made.encode()).hexdigest().encode() in kept
    assert TokenFile(tmp_path).add(_token("bert")) != made


def test_a_token_is_found_by_itself_alone_and_in_its_time(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    soon, over = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, -1))
    anna, bert = tokens.add(_token("anna")), tokens.add(_token("bert", expires=soon.isoformat()))
    late = tokens.add(_token("late", expires=over.isoformat()))
    found = [tokens.find(given) for given in (anna, bert, late, anna[:-1], anna.upper(), "", "\udc80")]
    assert [token and token.name for token in found] == ["anna", "bert", None, None, None, None, None]


def test_what_one_changes_another_sees_at_once(tmp_path: Path) -> None:
    here, there = TokenFile(tmp_path), TokenFile(tmp_path)
    assert not there.exists()
    made = here.add(_token("anna"))
    assert there.find(made) is not None
    there.revoke("anna")
    assert here.find(made) is None
    assert here.exists()


def test_tokens_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as many:
        made = list(many.map(lambda n: TokenFile(tmp_path).add(_token(f"t{n}")), range(16)))
    assert {token.name for token in map(TokenFile(tmp_path).find, made) if token} == {
        f"t{n}" for n in range(16)
    }


def test_a_name_in_use_and_a_name_that_never_was_are_errors(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    tokens.add(_token("anna"))
    with pytest.raises(ConflictError, match="There is a token anna already"):
        tokens.add(_token("anna"))
    with pytest.raises(NotFoundError, match="token bert: there is none of that name"):
        tokens.revoke("bert")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("in the way")
    with pytest.raises(ReadOnlyError, match=r"tokens cannot be written \(.+\); nothing was written"):
        TokenFile(tmp_path).add(_token("anna"))


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_others_could_read_is_refused(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "home")
    made = tokens.add(_token("anna"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tokens.folder.iterdir()}
    assert set(modes.values()) == {0o600}
    folders = (tokens.folder, tokens.folder.parent)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]
    (tokens.folder / "tokens.json").chmod(0o644)
    with pytest.raises(ReadOnlyError, match="chmod 600"):
        tokens.find(made)


WRONG = {"name": "a", "digest": "x", "projects": ["shop"], "may_write": True, "created": "", "expires": None}


RIGHT = WRONG | {"digest": "0" * 64}


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "{}", "[1]", "null", '[{"name": "anna"}]', '{"a": 1}', "[" * 100_000, json.dumps([WRONG])),
        *(json.dumps([RIGHT | changed]) for changed in ({"projects": ["../.."]}, {"projects": "shop"})),
        json.dumps([RIGHT | {"name": "../../a"}]),
    ],
    ids=lambda content: content[:40],
)
def test_a_file_that_cannot_be_read_opens_nothing_and_is_not_written_over(
    tmp_path: Path, content: str
) -> None:
    tokens = TokenFile(tmp_path)
    made = tokens.add(_token("anna"))
    (tokens.folder / "tokens.json").write_text(content)
    with pytest.raises(DamagedError, match=r"tokens\.json is damaged"):
        tokens.find(made)
    with pytest.raises(DamagedError):
        tokens.add(_token("bert"))
    assert (tokens.folder / "tokens.json").read_text() == content


def test_the_file_of_a_test_of_damage_would_open_something_were_it_sound(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    tokens.add(_token("anna"))
    (tokens.folder / "tokens.json").write_text(json.dumps([RIGHT]))
    assert [token.name for token in tokens.tokens()] == ["a"]


def test_the_last_use_is_known_to_the_hour_and_written_once_in_it(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    tokens.add(_token("anna"))
    assert tokens.last_used("anna") is None
    tokens.note_use("anna")
    mark = tokens.folder / "used" / "anna"
    long_ago = mark.stat().st_mtime - 1_800
    os.utime(mark, (long_ago, long_ago))
    tokens.note_use("anna")
    assert mark.stat().st_mtime == long_ago
    os.utime(mark, (long_ago - 3_600, long_ago - 3_600))
    tokens.note_use("anna")
    assert mark.stat().st_mtime > long_ago


def test_an_operator_adds_lists_and_revokes(tmp_path: Path) -> None:
    added = run(tmp_path, "token", "add", "anna", "--project", "shop", "--project", "web", "--expires", "90d")
    assert added.returncode == 0, added.stderr
    assert TokenFile(tmp_path / "home").find(added.stdout.strip()) is not None
    assert "not shown again" in added.stderr
    assert run(tmp_path, "token", "add", "ci", "--project", "shop", "--read-only", "--json").returncode == 0
    listed = json.loads(run(tmp_path, "token", "list", "--json").stdout)["tokens"]
    ends = datetime.fromisoformat(listed[0].pop("expires")) - datetime.now(UTC)
    assert timedelta(days=89) < ends < timedelta(days=91)
    assert [(t["name"], t["projects"], t["may_write"], t["last_used"], t["expired"]) for t in listed] == [
        ("anna", ["shop", "web"], True, None, False),
        ("ci", ["shop"], False, None, False),
    ]
    plain = run(tmp_path, "token", "list").stdout.splitlines()
    assert [line.split("\t")[:3] for line in plain] == [
        ["anna", "shop, web", "read and write"],
        ["ci", "shop", "read"],
    ]
    assert run(tmp_path, "token", "revoke", "anna").stdout == "anna is revoked.\n"
    assert TokenFile(tmp_path / "home").find(added.stdout.strip()) is None


def test_who_adds_a_token_is_told_which_projects_hold_nothing_yet(tmp_path: Path) -> None:
    for there in ("web", f"shop-{'0a' * 8}", "shop-window"):
        (tmp_path / "home" / "projects" / there).mkdir(parents=True)
    added = run(tmp_path, "token", "add", "anna", "--project", "shop", "--project", "web", "--project", "lab")
    assert added.stderr.splitlines()[1:] == [
        "There is nothing in shop yet; its first caller makes it."
        " This machine's own stores of that name are called shop-0a0a0a0a0a0a0a0a here.",
        "There is nothing in lab yet; its first caller makes it.",
    ]
    assert len(run(tmp_path, "token", "add", "ben", "--project", "shop", "--json").stderr) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "Anna", "--project", "shop"), "This cannot be the name of a token."),
        (("add", "anna", "--project", "../shop"), "This cannot be the name of a project on a server."),
        (("add", "anna"), "Missing option '--project'"),
        (("add", "anna", "--project", "shop", "--expires", "soon"), "This is no time."),
        (("add", "anna", "--project", "shop", "--expires", "2020-01-01"), "That time is over."),
        (("revoke", "anna"), "token anna: there is none of that name."),
    ],
)
def test_a_mistake_is_told_and_changes_nothing(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run(tmp_path, "token", *arguments)
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert not (tmp_path / "home" / "tokens" / "tokens.json").exists()
