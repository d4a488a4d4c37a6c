"""One connection: a request has to be there in time, and more than so many at once are not taken.

uvicorn times only what is idle after an answer; who sends no request, or half of one, would stay for ever.
Source: docs/decisions/0016.
"""

from __future__ import annotations

import asyncio

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
        if self.cycle is None or self.cycle.response_complete:
            self._await_request()
        else:
            self._stop_waiting()

    def _await_request(self) -> None:
        """Give the next request its time; it begins once, not anew at each byte."""
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
