"""What the server owes its client: requests without an answer, and bytes not yet written.

Every answer passes `settle`, so that a request is answered once, whoever answers first. Every method may be
called from any thread. Source: P20.
"""

from __future__ import annotations

import threading

from pinfold.server.messages import RequestId

MAX_OPEN_REQUESTS = 128
MAX_OWED_BYTES = 64 * 1024 * 1024


class Ledger:
    """Open requests by id with the size of their lines, and the size of what waits for the writer."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[RequestId, int] = {}
        self._request_bytes = 0
        self._unwritten_bytes = 0

    def open(self, request: RequestId, size_bytes: int) -> bool:
        """Enter a request; False if one with this id is still open."""
        with self._changed:
            if request in self._open:
                return False
            self._open[request] = size_bytes
            self._request_bytes += size_bytes
            return True

    def settle(self, request: RequestId, answer_bytes: int) -> bool:
        """Close a request and enter its answer (0 bytes for none); False if it is not open."""
        with self._changed:
            if request not in self._open:
                return False
            self._request_bytes -= self._open.pop(request)
            self._unwritten_bytes += answer_bytes
            self._changed.notify_all()
            return True

    def enter(self, size_bytes: int) -> None:
        """Enter a line that answers no open request."""
        with self._changed:
            self._unwritten_bytes += size_bytes

    def written(self, size_bytes: int) -> None:
        """Strike out a line that was written, or cannot be."""
        with self._changed:
            self._unwritten_bytes -= size_bytes
            self._changed.notify_all()

    def open_requests(self) -> tuple[RequestId, ...]:
        """Return the ids of the requests without an answer, oldest first."""
        with self._changed:
            return tuple(self._open)

    def wait_for_room(self, timeout_s: float) -> bool:
        """Wait until there are fewer than 128 open requests, and 64 MiB in them and in unwritten answers."""
        with self._changed:
            return self._changed.wait_for(self._has_room, timeout_s)

    def wait_until_clear(self, timeout_s: float) -> bool:
        """Wait until nothing is owed any more."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open and not self._unwritten_bytes, timeout_s)

    def wait_until_written(self, timeout_s: float) -> bool:
        """Wait until no line waits for the writer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unwritten_bytes, timeout_s)

    def _has_room(self) -> bool:
        return (
            len(self._open) < MAX_OPEN_REQUESTS
            and self._request_bytes + self._unwritten_bytes <= MAX_OWED_BYTES
        )
