"""What the groups share during one run: a folder, servers in it, and histories that are made once."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import anyio

import pinfold
from benchmarks.client import Peer
from benchmarks.scale import Scale
from benchmarks.text import Prose
from pinfold.server.settings import read_settings
from pinfold.store.commands import Message
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

FLOOR = Path(__file__).parent / "floors" / "one_tool.py"
BATCH = 500
PINS = 20
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Place:
    """A project folder with a private home of pinfold beside it; `store` is the address of one that lies elsewhere."""

    project: Path
    home: Path
    store: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every measured process: byte code may be kept, nothing else leaks in."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        source = str(Path(pinfold.__file__).parents[1])
        return {
            **kept,
            "PYTHONPATH": source,
            "PINFOLD_HOME": str(self.home),
            "PINFOLD_PROJECT": str(self.project),
            **({"PINFOLD_STORE": self.store} if self.store else {}),
        }

    @property
    def store_folder(self) -> Path:
        """Where the project's store lies."""
        return read_settings(self.environment).store_folder


@dataclass(frozen=True, slots=True)
class History:
    """A store with pins, a checkpoint and `entries` messages of `text_bytes` in all."""

    place: Place
    entries: int
    text_bytes: int


@dataclass
class Bench:
    """One run. Close `stack` at its end; it ends the servers."""

    scale: Scale
    folder: Path
    seed: int
    stack: ExitStack = field(default_factory=ExitStack)
    _histories: dict[int, History] = field(default_factory=dict)
    _places: int = 0

    def place(self) -> Place:
        """Make a new, empty project."""
        self._places += 1
        project = self.folder / f"project-{self._places}"
        project.mkdir()
        return Place(project, self.folder / f"home-{self._places}")

    def server(self, place: Place) -> Peer:
        """Start pinfold's server; the caller greets it."""
        return self._started([sys.executable, "-m", "pinfold", "serve"], place)

    def floor(self, place: Place, tool: str) -> Peer:
        """Start the one-tool server; the caller greets it."""
        return self._started([sys.executable, str(FLOOR), tool], place)

    def _started(self, command: list[str], place: Place) -> Peer:
        return self.stack.enter_context(Peer(command, place.environment, place.project))

    def history(self, entries: int) -> History:
        """Return the history of that length; the first call makes it, through server and store."""
        if entries not in self._histories:
            print(f"  (making a history of {entries:,} entries)", file=sys.stderr, flush=True)
            self._histories[entries] = self._make_history(entries)
        return self._histories[entries]

    def _make_history(self, entries: int) -> History:
        place = self.place()
        with self.server(place) as server:
            server.greet()
            keep(server, PINS, Prose(self.seed))
        prose = Prose(self.seed)
        texts = (prose.entry(number, entries) for number in range(entries))
        return History(place, entries, anyio.run(append, place.store_folder, texts))


def keep(server: Peer, pins: int, prose: Prose) -> None:
    """Pin `pins` ordinary decisions and save a checkpoint."""
    for number in range(1, pins + 1):
        server.call(
            "pin_decision", text=decision(number, prose), why=f"measured {number * 7} ms, {prose.words(5)}"
        )
    server.call("checkpoint_state", goal=prose.words(8), pending=[prose.words(6)], next_step=prose.words(6))


def decision(number: int, prose: Prose) -> str:
    """Return a decision of ordinary length with its specifics, another one for each number."""
    return (
        f"Use {prose.words(3)} with a limit of {number * 13} in `src/part_{number}.py`, not {prose.words(4)}"
    )


async def append(folder: Path, texts: Iterator[str]) -> int:
    """Append messages to a store, each batch as a conversation; return the bytes of their text."""
    text_bytes = 0
    store = await open_store(folder, "benchmark")
    try:
        batch = 0
        while held := list(itertools.islice(texts, BATCH)):
            batch += 1
            text_bytes += sum(len(text.encode()) for text in held)
            messages = [Message("assistant", text, tokens=len(text) // 4) for text in held]
            await store.append_messages(Caller("benchmark", f"conversation-{batch}", "import"), messages)
    finally:
        await store.close()
    return text_bytes
