"""Looking for a secret in every byte that pinfold wrote: in its files as they lie, and in what they hold packed."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import re2

from pinfold.store.sql.chunks import chunk_of

_HALF_CHARS = 12


def traces(secret: str) -> set[bytes]:
    """Return what would give a secret away: itself, as it is escaped, and the end of each long run of it.

    A run's end is what is left of one that was cut in front, and of a term in an index, which is folded.
    """
    whole = {secret, json.dumps(secret)[1:-1], quote(secret)}
    runs = [run for run in re.findall(r"[A-Za-z0-9]+", secret) if len(run) >= _HALF_CHARS + 4]
    halves = {run[-_HALF_CHARS:] for run in runs} | {run[4 : 4 + _HALF_CHARS] for run in runs}
    return {form.encode() for each in whole | halves for form in (each, each.lower())}


def everything(home: Path) -> dict[str, bytes]:
    """Return all that lies below a folder by its path: names, bytes, and the bytes of chunks unpacked."""
    found = {"the names of files": "\n".join(map(str, home.rglob("*"))).encode()}
    for path in home.rglob("*"):
        if path.is_file():
            found[str(path)] = path.read_bytes()
        if path.name == "log.db":
            found[f"{path}, unpacked"] = _unpacked(path)
    return found


def _unpacked(database: Path) -> bytes:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        return b"".join(chunk_of(row).unpack("a chunk") for row in db.execute("SELECT * FROM chunk"))


def leaks(where: dict[str, bytes], secrets: Iterable[str]) -> list[tuple[str, str]]:
    """Return each place with a secret that it gives away, and which."""
    known = {trace: secret for secret in secrets for trace in traces(secret)}
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    any_trace = re2.compile(b"|".join(map(re2.escape, known)), options)
    return [(place, known[hit[0]]) for place, found in where.items() if (hit := any_trace.search(found))]
