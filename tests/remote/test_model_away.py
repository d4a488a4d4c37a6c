"""The model of a store holds as well where each call is a request to a server, which is killed now and again."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, cast

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from pinfold.store import Store
from pinfold.store.commands import PinDecision
from pinfold.store.errors import UnknownOutcomeError, UnreachableError
from pinfold.store.remote.address import read_address
from pinfold.store.remote.store import open_remote
from tests.faults.test_model import CALLERS, StoreMachine, machine_settings, surroundings
from tests.http.serving import served
from tests.remote.away import way_to

__all__ = ["surroundings"]


class MachineAway(StoreMachine):
    """The store behind a server and a way that loses what it is told to lose."""

    @initialize()
    def begin(self) -> None:
        self.parts = ExitStack()
        self.way = self.parts.enter_context(way_to(0))
        self.serve()
        self.tokens = {name: self.server.token(name, name) for name in ("demo", "other")}
        self.open_handle()
        self.other = cast(Any, self.run(lambda: self.opened("other")))
        self.run(lambda: self.other.pin_decision(PinDecision(CALLERS[0], "elsewhere word1", "apart")))

    def serve(self) -> None:
        self.serving = ExitStack()
        self.server = self.serving.enter_context(served(self.root))
        self.way.target = self.server.port

    async def opened(self, project: str) -> Store:
        url = f"http://127.0.0.1:{self.way.port}/p/{project}"
        return await open_remote(read_address(url, self.tokens[project]), "here")

    @rule()
    @precondition(lambda self: len(self.handles) < 3)
    def open_handle(self) -> None:
        self.handles.append(self.run(lambda: self.opened("demo")))

    @rule()
    def crash(self) -> None:
        """Kill the server, and go on with another: handles find their way there by themselves."""
        self.serving.close()
        self.serve()

    @rule(days=st.just(0), stands=st.just(True))
    def jump(self, days: int, stands: bool) -> None:
        """The server's clock is its own."""

    @rule(which=st.integers(0, 9), commits=st.booleans(), crashes=st.booleans())
    def pin_with_unknown_outcome(self, which: int, commits: bool, crashes: bool) -> None:
        """The answer is lost, or the request never arrives; a retry, perhaps of another server, finds out."""
        command = self.new_pin(0)
        self.way.lost, self.way.is_open = (b"/store/pin_decision", True) if commits else (None, False)
        if not commits:
            self.way.break_all()
        with pytest.raises(UnknownOutcomeError if commits else (UnknownOutcomeError, UnreachableError)):
            self.run(lambda: self.any_handle(which).pin_decision(command))
        self.way.lost, self.way.is_open = None, True
        if crashes:
            self.crash()
        again = self.run(lambda: self.any_handle(which).pin_decision(command))
        assert again.repeated is commits
        self.keep(command, again)

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.serving.close()
            self.parts.close()


@pytest.mark.full
@pytest.mark.timeout(120)
def test_whatever_happens_to_server_and_way_the_store_is_as_the_model_says() -> None:
    run_state_machine_as_test(MachineAway, settings=machine_settings(3, 20))
