"""A project with a past, and the commands that a person reads it with, run inside of the test."""

from __future__ import annotations

from pathlib import Path

import anyio
from click.testing import CliRunner, Result

from pinfold.server.cli import main
from pinfold.server.settings import Settings, read_settings
from pinfold.store import Store
from pinfold.store.commands import Message, Outline, RecordFold, SpillArtifact, StartSession
from pinfold.store.content import collect
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from pinfold.tools import Desk, call
from pinfold.tools.files import Roots

ANNA = Caller("claude-code", "anna")
ODD = "数据库最多 8 个连接 🎉\x1b[31mred\x1b[0m\tand a tab\nsecond line"
LOG = b"".join(b"row %d of the log\n" % number for number in range(1, 20_001))
BLOB = bytes(range(256)) * 40


class Project:
    """A folder, its data folder beside it, and the commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder.parent / "home"
        folder.mkdir()

    @property
    def settings(self) -> Settings:
        return read_settings({"PINFOLD_HOME": str(self.home)}, self.folder)

    def run(self, *arguments: str, **more: str) -> Result:
        """Run a command as if piped; a bug of ours fails the test at once."""
        ours = {"PINFOLD_HOME": str(self.home), "CLAUDE_CODE_SESSION_ID": None, **more}
        given = [arguments[0], "--project", str(self.folder), *arguments[1:]]
        return CliRunner().invoke(main, given, env=ours, catch_exceptions=False)

    async def fetched(self, pointer: str) -> str:
        """Return what an agent is shown for a pointer."""
        store = await open_store(self.settings.store_folder, self.settings.project.name)
        try:
            return (await call(Desk(store, ANNA, Roots([])), "fetch_pointer", {"pointer": pointer})).text
        finally:
            await store.close()

    def lines(self, *arguments: str) -> list[list[str]]:
        """Return the cells of what a command prints into a pipe."""
        done = self.run(*arguments)
        assert done.exit_code == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]


def with_a_past(folder: Path) -> Project:
    """Return a project with four pins, a log, a blob, a checkpoint, a message and a fold."""
    project = Project(folder)
    anyio.run(_live, project)
    return project


async def _live(project: Project) -> None:
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    try:
        await store.start_session(StartSession(ANNA, run="1"))
        await _work(Desk(store, ANNA, Roots([])))
        await _fold(store)
    finally:
        await store.close()


async def _work(desk: Desk) -> None:
    why = "the mobile client cannot persist them"
    await call(
        desk, "pin_decision", {"text": "Refresh tokens live in `redis-main` for 15 minutes.", "why": why}
    )
    await call(desk, "pin_decision", {"text": ODD, "why": "limit", "kind": "constraint"})
    await call(desk, "pin_decision", {"text": "Use Postgres 16", "why": "old"})
    await call(desk, "pin_decision", {"text": "Use Postgres 17", "why": "16 lacks X", "supersedes": ["P3"]})
    await call(desk, "spill_artifact", {"content": LOG.decode(), "label": "the log"})
    blob = collect([BLOB])
    outline = Outline("application/octet-stream", "", 0)
    await desk.store.spill_artifact(SpillArtifact(ANNA, blob, outline, label="the blob"))
    blob.close()
    await call(desk, "spill_artifact", {"content": '{"items": [{"id": 7}, {"id": 1.10}]}', "label": "json"})
    await call(desk, "checkpoint_state", {"goal": "Ship timeouts", "pending": ["tests"]})
    await desk.store.append_messages(ANNA, [Message("user", "Never use port 3000, because of the proxy.")])


async def _fold(store: Store) -> None:
    held = collect([b"Tokens are kept for 15 minutes; the pool was reviewed."])
    summary = SpillArtifact(ANNA, held, Outline("text/plain", "Tokens", 9), label="summary", aside=True)
    fold = RecordFold(
        ANNA,
        "boundary-1",
        "auto",
        tokens_before=164_000,
        tokens_after=12_000,
        summary=summary,
        present={1: 2, 2: 1, 3: 1},
        lost={1: ("redis-main",), 2: ("8 个",), 3: ("Postgres 16",)},
        offered=(("H9", "Never use port 3000, because of the proxy."),),
    )
    await store.record_fold(fold)
    held.close()
