"""What is new in a caller's own transcripts, read for a bounded time: what was just said can be searched for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pinfold.server.transcripts.finding import found_at, of_conversation
from pinfold.server.transcripts.follow import Source, follow
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

LIMIT_S = 0.2


def read_on(store: SyncStore, caller: Caller, environment: Mapping[str, str]) -> None:
    """Read on in the transcripts of the caller's conversation until they end or `LIMIT_S` is over.

    Raises what the store raises, and `OSError`.
    """
    deadline = time.monotonic() + LIMIT_S
    for source in _sources(store, caller, environment):
        follow(store, source, deadline)
        if time.monotonic() > deadline:
            return


def _sources(store: SyncStore, caller: Caller, environment: Mapping[str, str]) -> Iterator[Source]:
    reader = replace(caller, actor="import", runs=())
    marks = store.transcripts(caller)
    for mark in marks:
        path = Path(mark.path)
        if _has_more(path, mark.offset) and (found := found_at(path, mark.client)):
            yield Source(found, replace(reader, conversation=mark.conversation), briefed=True)
    if not marks and (new := of_conversation(caller.client, caller.conversation, environment)):
        yield Source(new, reader)


def _has_more(path: Path, offset: int) -> bool:
    try:
        return path.stat().st_size != offset
    except OSError:
        return False
