"""Transcripts on their way into a real log, and what the log holds afterwards, read past the store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from pinfold.server.cli import main
from pinfold.server.settings import read_settings
from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.follow import Followed, Source, follow
from pinfold.store.sqlite.direct import DirectStore, open_direct
from pinfold.store.values import Caller
from tests.server.peer import PATIENCE_S, environment

PINFOLD = [sys.executable, "-m", "pinfold"]
Event = dict[str, Any]
Done = subprocess.CompletedProcess[str]


class Place:
    """A project, its data folder beside it, and the folders of its clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "shop"
        self.project.mkdir(parents=True)
        self.home = folder / "home"
        self.variables = {
            "PINFOLD_HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
            "CODEX_HOME": str(folder / "codex"),
            "HOME": str(folder / "nobody"),
        }

    @property
    def database(self) -> Path:
        return read_settings(self.variables, self.project).store_folder / "log.db"

    def store(self) -> DirectStore:
        return open_direct(self.database.parent, "shop")

    def follow(self, path: Path, conversation: str | None = None) -> Followed:
        """Read what is new in a transcript; a file that says nothing yet has nothing new."""
        found = found_at(path)
        if found is None:
            return Followed()
        whose = conversation or found.heading.conversation or path.stem
        with closing(self.store()) as store:
            return follow(store, Source(found, Caller(found.client, whose, "import")))

    def command(self, *arguments: str | Path) -> list[str]:
        return [*PINFOLD, *map(str, arguments), "--project", str(self.project)]

    def run(self, *arguments: str | Path, **more: str) -> Result:
        """Run a command of pinfold's inside of the test, as if piped; a bug of ours fails the test at once."""
        alone = dict.fromkeys(("CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "PINFOLD_PROJECT"))
        ours = {**alone, **self.variables, **more}
        given = self.command(*arguments)[len(PINFOLD) :]
        return CliRunner().invoke(main, given, env=ours, catch_exceptions=False)

    def run_hook(self, event: str, payload: object, client: str = "claude", **more: str) -> Done:
        """Tell of an event as a client does."""
        return subprocess.run(
            [*PINFOLD, "hook", event, "--client", client],
            env=environment(**self.variables, **more),
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    def events(self) -> list[Event]:
        """Return the log but for what the clock says: two logs of equal events were told the same."""
        with closing(sqlite3.connect(self.database)) as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT seq, session, actor, kind, key, parent, body FROM event ORDER BY seq")
            return [{**row, "body": json.loads(row["body"])} for row in rows]

    def forget_marks(self) -> None:
        """Lose how far transcripts were read, which is no part of the log."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as db:
            db.execute("DELETE FROM transcript")


def bodies(events: Iterable[Event], kind: str = "message.appended") -> list[Any]:
    return [event["body"] for event in events if event["kind"] == kind]


def texts(events: Iterable[Event]) -> list[str]:
    return [body["text"] for body in bodies(events)]
