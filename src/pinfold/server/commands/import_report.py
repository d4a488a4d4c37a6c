"""What `pinfold import` prints: what would be read, a bar while it is, what came of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from pinfold.context.visible import counted, size_text
from pinfold.server.commands.listings import when
from pinfold.server.commands.tables import Report
from pinfold.server.settings import Settings
from pinfold.server.stores import open_direct_of
from pinfold.server.terminals import is_terminal
from pinfold.server.transcripts.finding import Found, found_at, of_project
from pinfold.server.transcripts.importing import Imported, import_transcripts, unread
from pinfold.store.errors import InvalidInputError

_CLIENTS = {"claude": "claude-code"}
_COLUMNS = ("client", "size", "written (UTC)", "transcript")
_NONE = (
    "no transcripts of this project were found where Claude Code and Codex keep them (~/.claude, ~/.codex, or where"
    " CLAUDE_CONFIG_DIR and CODEX_HOME say); give their paths, or --project"
)
_NONE_THERE = "no transcripts were found there"


def plan_report(settings: Settings, paths: Sequence[Path], client: str | None) -> Report:
    """Return which transcripts would be read; raises as `import_report`."""
    found = _found(settings, paths, client)
    files = [{"path": str(each.path), "client": each.client, "bytes": _size(each)} for each in found]
    total = f"{size_text(sum(map(_size, found)))} in {counted(len(found), 'transcript')} would be read."
    rows = [(each.client, size_text(_size(each)), _written(each), str(each.path)) for each in found]
    return Report({"files": files}, _COLUMNS, rows, total if found else _none(paths))


def import_report(
    settings: Settings, paths: Sequence[Path], client: str | None, *, as_json: bool
) -> tuple[str, bool]:
    """Read the transcripts; return what came of it, as text or JSON, and whether all could be read.

    `paths` (none: all of the project's) are files and folders. Raises `InvalidInputError` for a file that no client
    has written, and what the store raises.
    """
    found = _found(settings, paths, client)
    outcome = _imported(settings, found)
    if as_json:
        strange = {path: lines for path, lines, _ in outcome.not_understood}
        facts = asdict(outcome) | {"not_understood": strange}
        return json.dumps(facts, ensure_ascii=False), not outcome.failed
    return _told(outcome) if found else _none(paths), not outcome.failed


def _imported(settings: Settings, found: Sequence[Found]) -> Imported:
    """Read them; a store is made only for something to keep."""
    is_there = settings.store is not None or settings.store_folder.exists()
    nothing = None if is_there else unread(found)
    if nothing is not None:
        return nothing
    store = open_direct_of(settings)
    try:
        with _bar(found) as progress:
            return import_transcripts(store, found, progress)
    finally:
        store.close()


def _none(paths: Sequence[Path]) -> str:
    return _NONE_THERE if paths else _NONE


def _found(settings: Settings, paths: Sequence[Path], client: str | None) -> list[Found]:
    name = _CLIENTS.get(client or "", client)
    return _given(paths, name) if paths else _all(settings, name)


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


def _told(outcome: Imported) -> str:
    counts = {"message": outcome.messages, "fold": outcome.folds, "pin": outcome.pins}
    parts = ", ".join(counted(count, name) for name, count in counts.items() if count)
    known = f"; known already: {counted(outcome.repeated, 'message')}" if outcome.repeated else ""
    return "\n".join(
        [
            f"{counted(outcome.files, 'transcript')} read; {f'new: {parts}' if parts else 'nothing new'}{known}",
            *(
                f"not understood: {counted(lines, 'line')} of {path}, {'the first of them ' * (lines > 1)}line {first}"
                for path, lines, first in outcome.not_understood
            ),
            *(f"not read: {failure}" for failure in outcome.failed),
        ]
    )


@contextmanager
def _bar(found: Sequence[Found]) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, nothing in a pipe."""
    if not is_terminal(sys.stderr):
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


def _written(found: Found) -> str:
    try:
        return when(datetime.fromtimestamp(found.path.stat().st_mtime, UTC).isoformat())
    except OSError:
        return ""
