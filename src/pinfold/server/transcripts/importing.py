"""Reading transcripts that are there already: all of a project's, or given files. Idempotent, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.server.transcripts.finding import Found
from pinfold.server.transcripts.follow import Followed, Source, follow, said
from pinfold.server.transcripts.items import Spoken
from pinfold.server.transcripts.lines import LeftOut, Lines, head_digest, line_number
from pinfold.server.transcripts.subagents import Answer, keep_answer
from pinfold.store.commands import TranscriptMark
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

Progress = Callable[[int], None]
"""Called with the bytes read since the last call."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to: files read, and what `Followed` counts of all of them together.

    `not_understood` are the files with such lines, how many, and the number of the first; `failed` says of each file
    that could not be read to its end why.
    """

    files: int = 0
    messages: int = 0
    repeated: int = 0
    folds: int = 0
    pins: int = 0
    not_understood: tuple[tuple[str, int, int], ...] = ()
    failed: tuple[str, ...] = ()

    def plus(self, path: Path, followed: Followed) -> Imported:
        """Return the sum with one more file."""
        return replace(
            self,
            files=self.files + 1,
            messages=self.messages + followed.messages,
            repeated=self.repeated + followed.repeated,
            folds=self.folds + followed.folds,
            pins=self.pins + followed.pins,
            not_understood=self.not_understood + _not_understood(path, followed.unknown),
        )


def _not_understood(path: Path, lines: LeftOut) -> tuple[tuple[str, int, int], ...]:
    return ((str(path), lines.count, line_number(path, lines.first)),) if lines.count else ()


def import_transcripts(store: SyncStore, found: Iterable[Found], progress: Progress) -> Imported:
    """Read transcripts into the log; sub-agents' last, since most answers stand in their parents', in their place.

    Raises what the store raises.
    """
    total = Imported()
    for transcript in sorted(found, key=lambda each: each.heading.agent is not None):
        read = _import_one if transcript.heading.agent is None else _import_agent
        try:
            total = total.plus(transcript.path, read(store, transcript, progress))
        except OSError as error:
            failure = f"{transcript.path} ({error.strerror or error})"
            total = replace(total, failed=(*total.failed, failure))
    return total


def unread(found: Iterable[Found]) -> Imported | None:
    """Return what an import of silent transcripts comes to, None where one says something or cannot be read."""
    total = Imported()
    for transcript in found:
        reader, lines = transcript.format(), Lines(transcript.path)
        try:
            if any(said(reader, line, lines.left_out) for line in lines):
                return None
        except OSError:
            return None
        total = total.plus(transcript.path, Followed(unknown=lines.left_out))
    return total


def _caller(found: Found, conversation: str | None) -> Caller:
    return Caller(found.client, conversation or found.path.stem, "import")


def _import_one(store: SyncStore, found: Found, progress: Progress) -> Followed:
    done = 0

    def report(offset: int) -> None:
        nonlocal done
        progress(offset - done)
        done = offset

    outcome = follow(store, Source(found, _caller(found, found.heading.conversation)), progress=report)
    report(found.path.stat().st_size)
    return outcome


def _import_agent(store: SyncStore, found: Found, progress: Progress) -> Followed:
    """Keep a sub-agent's answer, unless the file was read before; one that is still at work has none yet."""
    size = found.path.stat().st_size
    progress(size)
    mark = store.transcript_mark(str(found.path))
    if mark is not None and mark.offset == size:
        return Followed()
    agent, last = found.heading.agent, _last_said(found)
    if last is None or last.role != "assistant" or agent is None:
        return Followed()
    here = TranscriptMark(str(found.path), found.client, agent, size, head_digest(found.path))
    answer = Answer(agent, "", last.text, found.path, last.at, found.heading.call_id)
    is_new = keep_answer(store, _caller(found, found.heading.parent), answer, here)
    return Followed(messages=int(is_new), repeated=int(not is_new))


def _last_said(found: Found) -> Spoken | None:
    reader, last = found.format(), None
    for line in Lines(found.path):
        for item in reader.items(line.content):
            last = item if isinstance(item, Spoken) and item.text else last
    return last
