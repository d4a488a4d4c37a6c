"""What `pinfold import` prints: what would be read, a bar while it is, what came of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pinfold.server.settings import Settings
from pinfold.server.transcripts.finding import Found, found_at, of_project
from pinfold.server.transcripts.importing import Imported, import_transcripts
from pinfold.store.errors import InvalidInputError
from pinfold.store.sqlite.direct import open_direct

_CLIENTS = {"claude": "claude-code"}
_NONE = "no transcripts of this project were found; give their paths, or --project"
_NONE_THERE = "no transcripts were found there"


def import_report(
    settings: Settings, paths: Sequence[Path], client: str | None, *, dry_run: bool, as_json: bool
) -> tuple[str, bool]:
    """Read the transcripts; return what came of it, as text or JSON, and whether all could be read.

    With `dry_run` only what would be read. Raises `InvalidInputError` for a file that no client has written, and what
    the store raises.
    """
    name = _CLIENTS.get(client or "", client)
    found = _given(paths, name) if paths else _all(settings, name)
    if not found and not as_json:
        return _NONE_THERE if paths else _NONE, True
    if dry_run:
        return _planned(found, as_json=as_json), True
    outcome = _imported(settings, found) if found else Imported()
    return json.dumps(asdict(outcome), ensure_ascii=False) if as_json else _told(outcome), not outcome.failed


def _imported(settings: Settings, found: Sequence[Found]) -> Imported:
    store = open_direct(settings.store_folder, settings.project.name)
    try:
        with _bar(found) as progress:
            return import_transcripts(store, found, progress)
    finally:
        store.close()


def _all(settings: Settings, client: str | None) -> list[Found]:
    return [each for each in of_project(settings.project, os.environ) if client in (None, each.client)]


def _given(paths: Sequence[Path], client: str | None) -> list[Found]:
    """Return the transcripts that were named, and those in the folders that were."""
    found = []
    for path in paths:
        if path.is_dir():
            files = sorted([*path.rglob("*.jsonl"), *path.rglob("*.jsonl.zst")])
            found += [each for file in files if file.is_file() and (each := _recognized(file, client))]
        elif each := _recognized(path, client):
            found.append(each)
        else:
            raise InvalidInputError(
                f"{path} is no transcript of Claude Code or Codex.", "Say what wrote it: --client jsonl."
            )
    return found


def _recognized(path: Path, client: str | None) -> Found | None:
    if not path.is_file():  # a pipe can be read once only, and looking at its beginning does so
        raise InvalidInputError(f"{path} is no file.", "Write it to one first.")
    try:
        return found_at(path.absolute(), client)
    except OSError as error:
        raise InvalidInputError(
            f"{path} cannot be read ({error.strerror or error}).", "Leave it out."
        ) from None


def _planned(found: Sequence[Found], *, as_json: bool) -> str:
    if as_json:
        files = [{"path": str(each.path), "client": each.client, "bytes": _size(each)} for each in found]
        return json.dumps({"files": files})
    rows = [f"{each.client}\t{_size(each)}\t{each.path}" for each in found]
    return "\n".join(
        [*rows, f"would read {_many(len(found), 'transcript')}, {sum(map(_size, found)):,} bytes"]
    )


def _told(outcome: Imported) -> str:
    counts = {"message": outcome.messages, "fold": outcome.folds, "pin": outcome.pins}
    parts = ", ".join(_many(count, name) for name, count in counts.items())
    known = f"; known already: {_many(outcome.repeated, 'message')}" if outcome.repeated else ""
    odd = f"; not understood: {_many(outcome.unknown, 'line')}" if outcome.unknown else ""
    first = f"read {_many(outcome.files, 'transcript')}: {parts} new{known}{odd}"
    return "\n".join([first, *(f"not read: {failure}" for failure in outcome.failed)])


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}" if count == 1 else f"{count:,} {name}s"


@contextmanager
def _bar(found: Sequence[Found]) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    import click

    with click.progressbar(length=sum(map(_size, found)), label="import", file=sys.stderr) as bar:
        yield bar.update


def _size(found: Found) -> int:
    try:
        return found.path.stat().st_size
    except OSError:
        return 0
