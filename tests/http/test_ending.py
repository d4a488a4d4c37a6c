"""How it ends: what was begun is finished and answered, what comes meanwhile is told so, and a kill loses nothing."""

from __future__ import annotations

import http.client
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.http.changed import held_pins, wait_for
from tests.http.serving import Reply, Served, served
from tests.server.peer import PATIENCE_S

ARGUMENTS = {"text": "zstd level 7", "why": "level 3 left 41 GB", "key": "choice-1"}


def _pin(server: Served, token: str) -> Reply:
    return server.call(token, "shop", "pin_decision", **ARGUMENTS)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_call_that_was_begun_is_answered_and_new_ones_are_told_to_come_again(
    tmp_path: Path, number: signal.Signals
) -> None:
    held = tmp_path / "held"
    with served(tmp_path, first=held_pins, HELD=str(held)) as server, ThreadPoolExecutor(1) as aside:
        token = server.token("anna", "shop")
        call = aside.submit(_pin, server, token)
        wait_for(held.with_suffix(".begun"))
        server.process.send_signal(number)
        refused = _until_refused(server, token)
        assert refused.headers["retry-after"] == "1"
        assert b"nothing was done" in refused.body
        assert server.ask("GET", "/health").status == 503
        held.with_suffix(".let-go").touch()
        assert "P1 decision pinned" in call.result(PATIENCE_S).text
        assert server.process.wait(PATIENCE_S) == 128 + number


def test_without_calls_it_ends_at_once(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        began = time.monotonic()
        assert server.end() == 128 + signal.SIGTERM
        assert time.monotonic() - began < 3


@pytest.mark.full
def test_a_call_that_is_stuck_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    held = tmp_path / "held"
    with served(tmp_path, first=held_pins, HELD=str(held)) as server, ThreadPoolExecutor(1) as aside:
        token = server.token("anna", "shop")
        call = aside.submit(_pin, server, token)
        wait_for(held.with_suffix(".begun"))
        began = time.monotonic()
        assert server.end() in (128 + signal.SIGTERM, -signal.SIGALRM)
        assert time.monotonic() - began < 6
        reply = call.result(PATIENCE_S)
        assert reply.status == 500
        assert b"whether this took effect is unknown. Send it again with the same key." in reply.body


def test_a_kill_in_the_midst_of_a_call_loses_nothing_and_its_retry_is_one(tmp_path: Path) -> None:
    held = tmp_path / "held"
    with served(tmp_path, first=held_pins, HELD=str(held)) as server, ThreadPoolExecutor(1) as aside:
        token = server.token("anna", "shop")
        spilled = server.call(token, "shop", "spill_artifact", content="a log of some lines\n")
        call = aside.submit(_pin, server, token)
        wait_for(held.with_suffix(".begun"))
        server.process.kill()
        with pytest.raises((OSError, http.client.HTTPException)):
            call.result(PATIENCE_S)
    with served(tmp_path) as again:
        first, second = _pin(again, token), _pin(again, token)
        assert first.told["structuredContent"]["pointer"] == "P1"
        assert second.told["structuredContent"]["status"] == "repeated"
        pins = again.call(token, "shop", "fetch_pointer", pointer="pins")
        assert pins.text.count("zstd level 7") == 1
        fetched = again.call(
            token, "shop", "fetch_pointer", pointer=spilled.told["structuredContent"]["pointer"]
        )
        assert "a log of some lines" in fetched.text


def _until_refused(server: Served, token: str) -> Reply:
    """Return the first answer that says that the server is ending; the signal is on its way until then."""
    ends = time.monotonic() + PATIENCE_S
    while (reply := server.call(token, "shop", "fetch_pointer", pointer="pins")).status != 503:
        assert (reply.status, time.monotonic() < ends) == (200, True)
    return reply
