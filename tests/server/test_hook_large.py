"""A session's end behind a transcript that nobody has read yet: the client waits for 1.5 s, then it kills."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.hooking import Client, Payload, assistant, user

WAIT_S = 1.5
SIZE_BYTES = 200_000_000


def talk(number: int) -> Payload:
    return assistant(f"a{number}", f"Step {number}: " + "the pool holds 8 connections; " * 60)


def noise(number: int) -> Payload:
    return {"type": "progress", "uuid": f"n{number}", "content": "nobody's words " * 120}


def picture(number: int) -> Payload:
    source = {"type": "base64", "media_type": "image/png", "data": f"{number:08d}" * 250_000}
    line = user(f"p{number}", "")
    return line | {"message": {"role": "user", "content": [{"type": "image", "source": source}]}}


@pytest.mark.full
@pytest.mark.parametrize("line", [talk, noise, picture])
def test_a_sessions_end_is_in_time_whatever_is_unread_and_the_next_event_reads_on(
    tmp_path: Path, line: Callable[[int], Payload]
) -> None:
    client = Client(tmp_path)
    client.hook("session-start", source="startup")
    with open(client.transcript, "w", encoding="utf-8") as file:
        number = 0
        while file.tell() < SIZE_BYTES:
            file.write("".join(json.dumps(line(number + each)) + "\n" for each in range(10)))
            number += 10
    offsets = [0]
    for _ in range(2):
        began = time.monotonic()
        client.hook("session-end", reason="other")
        assert time.monotonic() - began < WAIT_S
        (mark,) = client.ask(lambda store: store.transcripts(client.caller))
        offsets.append(mark.offset)
    assert offsets == sorted(set(offsets))
