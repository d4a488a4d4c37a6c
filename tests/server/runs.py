"""`pinfold run` as a shell or an agent starts it: a real process, a real command, a store of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from pinfold.server.settings import read_settings
from pinfold.store import Store
from pinfold.store.results import Artifact
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.server.peer import PATIENCE_S, environment

RUN = [sys.executable, "-m", "pinfold", "run"]
Done = subprocess.CompletedProcess[bytes]


def in_python(script: str, *arguments: str) -> list[str]:
    """Return a command that runs a script in another Python."""
    return ["--", sys.executable, "-c", script, *arguments]


class Workplace:
    """A project in which commands run, and the store that takes their long output."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "app"
        self.project.mkdir()
        self.home = folder / "home"

    def environment(self, **more: str) -> dict[str, str]:
        return environment(PINFOLD_HOME=str(self.home), **more)

    def run(self, *arguments: str, given: bytes = b"", together: bool = False, **variables: str) -> Done:
        """Run to the end; with `together` stdout and stderr are one pipe, as after `2>&1`."""
        return subprocess.run(
            [*RUN, *arguments],
            cwd=self.project,
            env=self.environment(**variables),
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if together else subprocess.PIPE,
            timeout=PATIENCE_S,
        )

    @contextmanager
    def running(
        self, *arguments: str, before: Sequence[str] = (), **options: Any
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start, with `before` in front of the command line, and kill at the end if it still runs."""
        pipe = subprocess.PIPE
        usual: dict[str, Any] = {"env": self.environment(), "stdin": pipe, "stdout": pipe, "stderr": pipe}
        started = subprocess.Popen([*before, *RUN, *arguments], cwd=self.project, **(usual | options))
        with started:
            try:
                yield started
            finally:
                started.kill()

    def artifacts(self) -> list[tuple[Artifact, bytes]]:
        """Return what was stored, oldest first, with its bytes."""
        return anyio.run(self._artifacts)

    async def _artifacts(self) -> list[tuple[Artifact, bytes]]:
        store = await self.store()
        try:
            found = reversed(await store.artifacts(None, 50))
            return [
                (each, (await store.artifact_bytes(each.number, 0, each.size_bytes)).content)
                for each in found
            ]
        finally:
            await store.close()

    def session_of(self, caller: Caller) -> int | None:
        async def ask() -> int | None:
            store = await self.store()
            try:
                return (await store.brief_state(caller)).session
            finally:
                await store.close()

        return anyio.run(ask)

    async def store(self) -> Store:
        settings = read_settings({"PINFOLD_HOME": str(self.home)}, self.project)
        return await open_store(settings.store_folder, settings.project.name)
