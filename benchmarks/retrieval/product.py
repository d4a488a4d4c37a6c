"""The real server at the other end of its pipes, after a bulk import by the command that a person would use."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.bench import Place
from benchmarks.client import Peer, PeerError
from benchmarks.retrieval.task import Text

_PAGE = 50
_IMPORT_S = 600


class Pinfold:
    """pinfold as it is: `pinfold import --client jsonl`, then `search_history`; each page is one call."""

    name = "pinfold"

    def __init__(self) -> None:
        self._stack = ExitStack()

    def hold(self, texts: Iterable[Text]) -> None:
        """Import the texts into a store of their own; raises `PeerError` when the import fails."""
        self.close()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pinfold-retrieval-")))
        (folder / "project").mkdir()
        self._place = Place(folder / "project", folder / "home")
        _import(self._place, _written(texts, folder / "history.jsonl"))
        self._server = self._stack.enter_context(
            Peer([sys.executable, "-m", "pinfold", "serve"], self._place.environment, self._place.project)
        )
        self._server.greet()

    def find(self, question: str, limit: int) -> list[str]:
        """Return the names of the best, page after page."""
        names: list[str] = []
        cursor: dict[str, str] = {}
        while len(names) < limit:
            page = self._server.call(
                "search_history", query=question, limit=min(_PAGE, limit - len(names)), **cursor
            )["structuredContent"]
            names += [hit["ref"] for hit in page["hits"]]
            if "next" not in page:
                break
            cursor = {"cursor": page["next"]}
        return names

    def index_bytes(self) -> int:
        """Return the size of the index of words."""
        with sqlite3.connect(f"file:{self._place.store_folder / 'log.db'}?mode=ro", uri=True) as db:
            found = db.execute("SELECT sum(length(block)) FROM words_data").fetchone()[0]
        db.close()
        return int(found)

    def close(self) -> None:
        """End the server and take its store away."""
        self._stack.close()


def _written(texts: Iterable[Text], file: Path) -> Path:
    with file.open("w", encoding="utf-8") as lines:
        for text in texts:
            session = {"session": text.said_in} if text.said_in else {}
            line = {"external_id": text.name, "kind": text.kind, "text": text.text, **session}
            lines.write(json.dumps(line) + "\n")
    return file


def _import(place: Place, file: Path) -> None:
    command = [sys.executable, "-m", "pinfold", "import", "--client", "jsonl", str(file)]
    done = subprocess.run(
        command, env=place.environment, cwd=place.project, capture_output=True, text=True, timeout=_IMPORT_S
    )
    if done.returncode:
        raise PeerError(f"the import failed: {done.stderr.strip()}")
