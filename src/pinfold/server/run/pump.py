"""One thread per pipe: carries what the command prints to the output, until there is nothing more to expect."""

from __future__ import annotations

import select
import sys
import threading
import time
from typing import IO

from pinfold.server.run.output import Output

GRACE_S = 1.0
"""How long a pipe that the command has left open to others is still read when it has ended."""

_BLOCK_BYTES = 64 * 1024
_PIPE_BYTES = 1024 * 1024


class Pump(threading.Thread):
    """Reads `source` for our descriptor `target`; closes it when it ends or nobody is left to read `target`.

    `ended` is a descriptor that hangs up when the command has ended. On Windows neither is noticed before the next
    bytes.
    """

    def __init__(self, source: IO[bytes], target: int, output: Output, ended: int) -> None:
        super().__init__(name=f"pinfold-run-{target}", daemon=True)
        self._source = source
        self._target = target
        self._output = output
        self._ended = ended
        self._deadline: float | None = None
        self._late_bytes = 0

    def run(self) -> None:
        """Carry."""
        with self._source:
            while self._comes() and (block := self._source.read(_BLOCK_BYTES)):
                self._late_bytes += 0 if self._deadline is None else len(block)
                self._output.take(self._target, block)

    def finish(self) -> None:
        """Wait until all that the command itself has printed is taken."""
        self.join(GRACE_S if sys.platform == "win32" else None)

    def _comes(self) -> bool:
        """Wait for bytes, or for the end; say whether to read on."""
        if self._target in self._output.gone:
            return False
        if sys.platform == "win32":
            return True
        while True:
            heard = self._listen()
            if heard.get(self._target, 0) & (select.POLLERR | select.POLLHUP):
                self._output.gone.add(self._target)
                return False
            if self._ended in heard:
                self._deadline = time.monotonic() + GRACE_S
                continue
            return self._source.fileno() in heard and not self._is_late()

    def _listen(self) -> dict[int, int]:
        assert sys.platform != "win32"
        poll = select.poll()
        poll.register(self._target, 0)
        poll.register(self._source.fileno(), select.POLLIN)
        if self._deadline is None:
            poll.register(self._ended, 0)
            return dict(poll.poll())
        return dict(poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000))

    def _is_late(self) -> bool:
        """Whether what comes now is somebody else's: the command can have left no more than a pipe full."""
        if self._deadline is None or self._late_bytes < _PIPE_BYTES:
            return False
        return time.monotonic() > self._deadline
