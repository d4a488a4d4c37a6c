"""Reading transcripts that are there already: all of a project's, or given files. Idempotent, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.server.transcripts.finding import Found
from pinfold.server.transcripts.follow import Followed, Source, follow
from pinfold.server.transcripts.items import Spoken
from pinfold.server.transcripts.lines import Lines, head_digest
from pinfold.server.transcripts.subagents import Answer, keep_answer
from pinfold.store.commands import TranscriptMark
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

Progress = Callable[[int], None]
"""Called with the bytes read since the last call."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import came to: files read, what `Followed` counts of all of them together, and sub-agents' answers."""

    files: int = 0
    messages: int = 0
    repeated: int = 0
    folds: int = 0
    pins: int = 0
    answers: int = 0
    unknown: int = 0

    def plus(self, followed: Followed) -> Imported:
        """Return the sum with one more file."""
        return replace(
            self,
            files=self.files + 1,
            messages=self.messages + followed.messages,
            repeated=self.repeated + followed.repeated,
            folds=self.folds + followed.folds,
            pins=self.pins + followed.pins,
            unknown=self.unknown + followed.unknown,
        )


def import_transcripts(store: SyncStore, found: Iterable[Found], progress: Progress) -> Imported:
    """Read transcripts into the log; sub-agents' first, so that their answers lead to what they did.

    Raises what the store raises, and `OSError` for a file that cannot be read.
    """
    total = Imported()
    for transcript in sorted(found, key=lambda each: each.heading.agent is None):
        if transcript.heading.agent is not None:
            answers = _import_agent(store, transcript)
            total = replace(total, files=total.files + 1, answers=total.answers + answers)
            progress(_size(transcript.path))
        else:
            total = total.plus(_import_one(store, transcript, progress))
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
    report(_size(found.path))
    return outcome


def _import_agent(store: SyncStore, found: Found) -> int:
    """Keep a sub-agent's answer, unless the file was read before; one that is still at work has none yet."""
    size = _size(found.path)
    mark = store.transcript_mark(str(found.path))
    if mark is not None and mark.offset == size:
        return 0
    last = _last_said(found)
    if last is None or last.role != "assistant" or found.heading.agent is None:
        return 0
    caller = _caller(found, found.heading.parent)
    here = TranscriptMark(str(found.path), found.client, caller.conversation, size, head_digest(found.path))
    answer = Answer(found.heading.agent, "", last.text, found.path, last.at, found.heading.call_id)
    return int(keep_answer(store, caller, answer, here))


def _last_said(found: Found) -> Spoken | None:
    reader, last = found.format(), None
    for line in Lines(found.path):
        for item in reader.items(line.content):
            last = item if isinstance(item, Spoken) and item.text else last
    return last


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
