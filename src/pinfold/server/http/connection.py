"""One connection: a request has to be there in time, and more than so many at once are not taken.

uvicorn times only what is idle after an answer; who sends no request, or half of one, would stay for ever.
Source: docs/decisions/0016.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_S = 10.0
"""How long a request's head may take, and how long more of a body is skipped after its answer."""

MAX_CONNECTIONS = 512


class Connection(H11Protocol):
    """uvicorn's connection with these two limits."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it at once where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Go on with what came in."""
        super().handle_events()
        self._look_at_the_time()

    def on_response_complete(self) -> None:
        """Go on behind an answer."""
        super().on_response_complete()
        self._look_at_the_time()

    def _look_at_the_time(self) -> None:
        """Time what is half there: the head of a request, or the rest of a body that was answered before its end."""
        if not (self.cycle is None or self.cycle.response_complete):
            self._stop_waiting()
        elif self.conn.trailing_data[0] or self.conn.their_state is h11.SEND_BODY:
            self._await_request()

    def _await_request(self) -> None:
        """Give it its time; that begins once, not anew at each byte."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()
