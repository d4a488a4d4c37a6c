"""A server that is killed and connections that are cut in mid-call: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from pinfold.store.commands import Message, PinDecision, StartSession
from pinfold.store.errors import UnknownOutcomeError, UnreachableError
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.remote.store import open_remote
from pinfold.store.values import Caller
from tests.faults.history import Diary
from tests.faults.noting import check
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


def test_no_secret_leaves_the_machine_whoever_forgot_to_replace_it(away: Away, way: Way) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    said = [Message("user", secret, external_id="u1")]

    async def on_a_loop() -> None:
        store = await open_remote(away.address, "here")
        await store.append_messages(ANNA, said)
        await store.close()

    with opened(away) as store:
        store.pin_decision(PinDecision(ANNA, secret, "said"))
        store.start_session(StartSession(replace(ANNA, branch=secret), model=secret))
        store.append_messages(replace(ANNA, conversation=secret), said)
    anyio.run(on_a_loop)
    assert way.heard.count(b"/store/append_messages") == 2
    assert secret.encode() not in way.heard


def test_a_connection_that_the_server_closed_meanwhile_costs_no_write(away: Away, way: Way) -> None:
    with opened(away) as store:
        store.pin_decision(PinDecision(ANNA, "rule 1", "said"))
        way.break_all()
        assert store.pin_decision(PinDecision(ANNA, "rule 2", "said")).pin.number == 2


class Writer(threading.Thread):
    """Pins one rule after the other, each again under its key until it is acknowledged, and looks at what is there."""

    def __init__(self, away: Away, name: str) -> None:
        super().__init__(daemon=True)
        self._away = away
        self.diary = Diary(name)
        self.acknowledged = 0
        self.troubles = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            try:
                with opened(self._away) as store:
                    self._go_on(store)
            except (UnknownOutcomeError, UnreachableError):
                self.troubles += 1
                self.is_over.wait(0.02)

    def _go_on(self, store: RemoteSyncStore) -> None:
        while not self.is_over.is_set():
            text = f"{self.diary.worker} {self.acknowledged}"
            note = self.diary.invoke("pin_decision", text, text)
            try:
                made = store.pin_decision(PinDecision(ANNA, text, "said", key=text))
            except UnreachableError:  # which promises that nothing was written
                self.diary.fail(note)
                raise
            self.diary.ok(note, str(made.receipt))
            self.acknowledged += 1
            begun = time.monotonic_ns()
            there = {pin.text: pin.text for pin in store.brief_state(None).pins}
            self.diary.saw("pin_decision", begun, there)


def killed_in_mid_call(folder: Path, kills: int, writers: int) -> None:
    """Kill a server again and again while it is written to; check what was noted against the log."""
    running: list[Writer] = []
    with way_to(0) as way:
        for number in range(kills + 1):
            with served(folder) as server:
                way.target = server.port
                running = running or begun(Away(folder, way.port, server.token("anna", PROJECT)), writers)
                wait_for_more(running)
                if number == kills:
                    for writer in running:
                        writer.is_over.set()
                        writer.join(PATIENCE_S)
    assert sum(writer.troubles for writer in running) >= kills, "no kill was ever met"
    print(check(folder / "home" / "projects" / PROJECT, [writer.diary for writer in running]))


def begun(away: Away, writers: int) -> list[Writer]:
    running = [Writer(away, f"w{each}") for each in range(writers)]
    for writer in running:
        writer.start()
    return running


def wait_for_more(writers: list[Writer]) -> None:
    """Wait until each has had something more acknowledged."""
    before = [writer.acknowledged for writer in writers]
    for writer, count in zip(writers, before, strict=True):
        for _ in range(int(PATIENCE_S / 0.02)):
            if writer.acknowledged > count:
                break
            writer.is_over.wait(0.02)
        assert writer.acknowledged > count


def test_a_server_that_is_killed_in_mid_call_loses_and_doubles_nothing(tmp_path: Path) -> None:
    killed_in_mid_call(tmp_path, kills=1, writers=1)


@pytest.mark.full
def test_a_server_that_is_killed_again_and_again_under_several_writers_loses_and_doubles_nothing(
    tmp_path: Path,
) -> None:
    killed_in_mid_call(tmp_path, kills=12, writers=3)
