"""A server that is killed and connections that are cut in mid-call: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pinfold.store.commands import PinDecision
from pinfold.store.errors import UnknownOutcomeError, UnreachableError
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.values import Caller
from tests.http.serving import Served, served
from tests.remote.away import PROJECT, Away, Way, pins, way_to

ANNA = Caller("claude-code", "anna")
PATIENCE_S = 30.0


@contextmanager
def opened(away: Away) -> Iterator[RemoteSyncStore]:
    with closing(open_remote_direct(away.address, "here")) as store:
        yield store


def test_a_write_whose_answer_was_lost_is_sent_once_and_its_caller_told(
    away: Away, way: Way, server: Served, token: str
) -> None:
    with opened(away) as store:
        way.lost = b"/store/pin_decision"
        with pytest.raises(UnknownOutcomeError, match="connection was cut"):
            store.pin_decision(PinDecision(ANNA, "rule 1", "said", key="k1"))
        assert (way.breaks, [pin.text for pin in pins(server, token)]) == (1, ["rule 1"])
        way.lost = None
        assert store.pin_decision(PinDecision(ANNA, "rule 1", "said", key="k1")).repeated


def test_a_read_whose_answer_was_lost_is_asked_once_more(away: Away, way: Way) -> None:
    with opened(away) as store:
        store.pin_decision(PinDecision(ANNA, "rule 1", "said"))
        way.lost = b"/store/brief_state"
        with pytest.raises(UnreachableError, match="connection was cut"):
            store.brief_state(None)
        assert way.breaks == 2
        way.lost = None
        assert [pin.text for pin in store.brief_state(None).pins] == ["rule 1"]


def test_a_connection_that_the_server_closed_meanwhile_costs_no_write(away: Away, way: Way) -> None:
    with opened(away) as store:
        store.pin_decision(PinDecision(ANNA, "rule 1", "said"))
        way.break_all()
        assert store.pin_decision(PinDecision(ANNA, "rule 2", "said")).pin.number == 2


class Writer(threading.Thread):
    """Pins one rule after the other, and each again under its key until it is acknowledged."""

    def __init__(self, away: Away, name: str) -> None:
        super().__init__(daemon=True)
        self._away = away
        self._prefix = name
        self.acknowledged: list[str] = []
        self.troubles = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        caller, number = Caller("claude-code", self._prefix), 0
        while not self.is_over.is_set():
            text = f"{self._prefix} {number}"
            try:
                with opened(self._away) as store:
                    store.pin_decision(PinDecision(caller, text, "said", key=text))
            except (UnknownOutcomeError, UnreachableError):
                self.troubles += 1
                self.is_over.wait(0.02)
                continue
            self.acknowledged.append(text)
            number += 1


def killed_in_mid_call(folder: Path, kills: int, writers: int) -> None:
    """Kill a server again and again while it is written to; check what is there in the end."""
    token = None
    with way_to(0) as way:
        for number in range(kills + 1):
            with served(folder) as server:
                way.target = server.port
                token = token or server.token("anna", PROJECT)
                if number == 0:
                    away = Away(folder, way.port, token)
                    running = [Writer(away, f"w{each}") for each in range(writers)]
                    for writer in running:
                        writer.start()
                wait_for_more(running)
                if number < kills:
                    server.process.kill()
                    server.process.wait(PATIENCE_S)
                    continue
                for writer in running:
                    writer.is_over.set()
                    writer.join(PATIENCE_S)
                found = [pin.text for pin in pins(server, token)]
    acknowledged = [text for writer in running for text in writer.acknowledged]
    assert sum(writer.troubles for writer in running) >= kills, "no kill was ever met"
    assert len(found) == len(set(found)), "something is there twice"
    assert set(acknowledged) <= set(found), "something acknowledged is lost"
    for writer in running:
        assert [text for text in found if text in writer.acknowledged] == writer.acknowledged


def wait_for_more(writers: list[Writer]) -> None:
    """Wait until each has had something more acknowledged."""
    before = [len(writer.acknowledged) for writer in writers]
    for writer, count in zip(writers, before, strict=True):
        for _ in range(int(PATIENCE_S / 0.02)):
            if len(writer.acknowledged) > count:
                break
            writer.is_over.wait(0.02)
        assert len(writer.acknowledged) > count


def test_a_server_that_is_killed_in_mid_call_loses_and_doubles_nothing(tmp_path: Path) -> None:
    killed_in_mid_call(tmp_path, kills=1, writers=1)


@pytest.mark.full
def test_a_server_that_is_killed_again_and_again_under_several_writers_loses_and_doubles_nothing(
    tmp_path: Path,
) -> None:
    killed_in_mid_call(tmp_path, kills=12, writers=3)
