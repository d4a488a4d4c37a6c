"""`DirectStore`: a `SyncStore` that reads and writes the file where it is called, without event loop or thread.

Each verb is loaded when it is used: a hook uses one or two.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pinfold.store.cleaning import cleaned
from pinfold.store.fences import fence
from pinfold.store.redaction import Redactor
from pinfold.store.sqlite import briefing, marks, sessions
from pinfold.store.sqlite.connection import READ_LIMIT_S, STEPS_BETWEEN_LOOKS, Place, read_meta, refuse_fork
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.gate import WAIT_S, Gate
from pinfold.store.sqlite.opening import open_gate, prepare
from pinfold.store.sqlite.pen import Pen
from pinfold.store.sqlite.transaction import Transaction
from pinfold.store.sync import SyncStore

if TYPE_CHECKING:
    from pinfold.store.commands import (
        Message,
        PinDecision,
        RecordFold,
        SpillArtifact,
        StartSession,
        TranscriptMark,
    )
    from pinfold.store.results import (
        AppendedMessages,
        BriefState,
        FoldedPart,
        PinnedDecision,
        RecordedFold,
        SpilledArtifact,
        StartedSession,
    )
    from pinfold.store.values import Caller

T = TypeVar("T")


def open_direct(folder: Path, project: str, wait_s: float = WAIT_S) -> DirectStore:
    """Open the store in `folder`, making it when there is none; see `open_store` in `store.py`."""
    place = Place(folder)
    gate = open_gate(place, wait_s)
    try:
        prepare(place, gate, project)
        return DirectStore(place, gate, read_meta(place))
    except BaseException:
        gate.close()
        raise


class DirectStore(SyncStore):
    """One project's log in one SQLite file, for one thread; made by `open_direct`."""

    def __init__(self, place: Place, gate: Gate, meta: dict[str, bytes]) -> None:
        self.project = meta["project"].decode()
        self.redactor = Redactor(meta["secret"])
        self._secret = meta["secret"]
        self._place = place
        self._gate = gate
        self._pen = Pen(place, gate, self.redactor)
        self._db = self._pen.open()
        self._process = os.getpid()

    def fence(self, content: str) -> str:
        """See `Store.fence`."""
        return fence(self._secret, content)

    def start_session(self, command: StartSession) -> StartedSession:
        """See `Store.start_session`."""
        return self._write(partial(sessions.start_session, command=command))

    def pin_decision(self, command: PinDecision) -> PinnedDecision:
        """See `Store.pin_decision`."""
        from pinfold.store.sqlite.pinning import pin_decision

        return self._write(partial(pin_decision, command=command))

    def spill_artifact(self, command: SpillArtifact) -> SpilledArtifact:
        """See `Store.spill_artifact`."""
        from pinfold.store.sqlite.spilling import spill_artifact

        return self._write(partial(spill_artifact, command=command))

    def append_messages(
        self, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
    ) -> AppendedMessages:
        """See `Store.append_messages`."""
        from pinfold.store.sqlite.appending import append_messages

        return self._write(partial(append_messages, caller=caller, messages=messages, mark=mark))

    def folded_part(self, caller: Caller, key: str) -> FoldedPart | None:
        """See `Store.folded_part`."""
        from pinfold.store.sqlite.folding import folded_part

        asked = cleaned(self.redactor, (caller, key))
        return self._read(lambda db: folded_part(db, *asked))

    def record_fold(self, command: RecordFold) -> RecordedFold:
        """See `Store.record_fold`."""
        from pinfold.store.sqlite.folding import record_fold

        return self._write(partial(record_fold, command=command))

    def transcript_mark(self, path: str) -> TranscriptMark | None:
        """See `Store.transcript_mark`."""
        return self._read(lambda db: marks.by_path(db, cleaned(self.redactor, path)))

    def transcripts(self, caller: Caller) -> tuple[TranscriptMark, ...]:
        """See `Store.transcripts`."""
        return self._read(lambda db: marks.of_caller(db, cleaned(self.redactor, caller)))

    def brief_state(self, caller: Caller | None, as_of: int | None = None) -> BriefState:
        """See `Store.brief_state`."""
        who = cleaned(self.redactor, caller)
        return self._read(lambda db: briefing.brief_state(db, self.project, who, as_of))

    def _write(self, verb: Callable[[Transaction], T]) -> T:
        return self._pen.write(self._db, verb, time.monotonic())

    def _read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        refuse_fork(self._process)
        end = time.monotonic() + READ_LIMIT_S
        self._db.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)
        try:
            self._db.execute("BEGIN")
            return look(self._db)
        except sqlite3.Error as error:
            translate(error, str(self._place.folder))
        finally:
            self._db.set_progress_handler(None, 0)
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the files; in a forked child, where they are its parent's, do nothing."""
        if os.getpid() != self._process:
            return
        self._pen.close(self._db)
        self._gate.close()
