"""stdin and stdout as a wire for JSON-RPC messages: one thread reads, one writes.

Every request is answered once. It needs no MCP SDK, so that it can be opened while that is being imported.
Source: P18 to P21.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from queue import SimpleQueue

from pinfold.server.framing import Lines, LongLine
from pinfold.server.ledger import Ledger
from pinfold.server.lifetime import END_OF_INPUT, OUTPUT_CLOSED, Lifetime
from pinfold.server.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    SERVER_ENDING,
    Body,
    Message,
    Noise,
    Refusal,
    RequestId,
    read_line,
    write_line,
)
from pinfold.server.notes import note
from pinfold.server.standard_streams import claim_stdio, hung_up, read_some, write_all

DRAIN_S = 1.5
START_S = 3.0
_FLUSH_S = 0.1
_QUOTED_CHARS = 40
_NOTHING_DONE = "The server is ending; nothing was done."
_OUTCOME_UNKNOWN = (
    "The server is ending; whether this took effect is unknown. Send it again with the same key."
)

Take = Callable[[Message], None]
"""Called on the reading thread with each sound message, in order; it must not block."""

Ahead = Callable[["Wire", Message], bool]
"""Called likewise while nobody takes messages yet; returns whether this one is done with."""


class Wire:
    """The two ends of a client's pipes. Messages wait until `attach` names who takes them."""

    def __init__(self, source: int, target: int, life: Lifetime) -> None:
        self.ledger = Ledger()
        self._source = source
        self._target = target
        self.life = life
        self._outbox: SimpleQueue[bytes] = SimpleQueue()
        self._inbox: list[Message] = []
        self._take: Take = self._hold
        self._ahead: Ahead | None = None
        self._handover = threading.Lock()
        self._attached = threading.Event()

    @classmethod
    def open_stdio(cls, life: Lifetime, ahead: Ahead | None = None) -> Wire:
        """Claim stdin and stdout; `life` ends with the input, and when nobody reads the output any more.

        `ahead` sees each message that comes before `attach`, and returns whether it has dealt with it.
        """
        wire = cls(*claim_stdio(), life)
        wire._ahead = ahead
        life.on_ending(wire._drain)
        life.watch_hangup(wire._target, OUTPUT_CLOSED)
        threading.Thread(target=wire._write, name="pinfold-writer", daemon=True).start()
        threading.Thread(target=wire._read, name="pinfold-reader", daemon=True).start()
        return wire

    def _hold(self, message: Message) -> None:
        if self._ahead is None or not self._ahead(self, message):
            self._inbox.append(message)

    def attach(self, take: Take) -> None:
        """Hand every message to `take`: those that came before, then those to come."""
        with self._handover:
            for message in self._inbox:
                take(message)
            self._inbox.clear()
            self._take = take
        self._attached.set()

    def send(self, body: Body) -> None:
        """Write one message; a response to a request that is not open (any more) is dropped.

        Raises `ValueError`, `TypeError` or `RecursionError` for what is not JSON.
        """
        line = write_line(body)
        if "method" in body or body["id"] is None:
            self.ledger.enter(len(line))
        elif not self.ledger.settle(body["id"], len(line)):
            return
        self._outbox.put(line)

    def send_error(self, request: RequestId, code: int, reason: str) -> None:
        """Answer an open request with an error."""
        self.send(_error(request, code, reason))

    def forgo(self, request: RequestId) -> None:
        """Close a request that its client cancelled, without an answer."""
        self.ledger.settle(request, 0)

    def _read(self) -> None:
        try:
            self._read_lines()
        except OSError as error:
            note(f"stdin cannot be read ({error.strerror}); taken as its end")
        finally:
            if self.ledger.open_requests():
                self._attached.wait(START_S)
            self.life.end(END_OF_INPUT)

    def _read_lines(self) -> None:
        lines = Lines()
        while chunk := read_some(self._source):
            for line in lines.feed(chunk):
                self._accept(line)
        for line in lines.finish():
            self._accept(line)

    def _accept(self, line: bytes | LongLine) -> None:
        try:
            read = read_line(line)
        except Exception as error:
            note(f"a line could not be checked ({type(error).__name__})")
            read = Refusal(INTERNAL_ERROR, "The server failed to read this line.")
        if isinstance(read, Noise):
            note(read.reason)
        elif isinstance(read, Refusal):
            self._refuse(read)
        elif read.id is None or self._admit(read.id, read.size_bytes):
            with self._handover:
                self._take(read)

    def _admit(self, request: RequestId, size_bytes: int) -> bool:
        self._wait_for_room()
        if self.life.ending:
            self._refuse(Refusal(SERVER_ENDING, _NOTHING_DONE, request))
            return False
        if not self.ledger.open(request, size_bytes):
            quoted = json.dumps(request)[:_QUOTED_CHARS]
            reason = f"The request with id {quoted} is still running; that one goes on."
            self._refuse(Refusal(INVALID_REQUEST, reason))
            return False
        return True

    def _wait_for_room(self) -> None:
        """Let the pipe fill while too much is owed; a client that left meanwhile has ended its input."""
        if not self.ledger.wait_for_room(0):
            self._attached.wait(START_S)
        while not self.ledger.wait_for_room(DRAIN_S) and not self.life.ending:
            if hung_up(self._source):
                self.life.end(END_OF_INPUT)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer a line that was not admitted; an id in use would name another request, so it is left out."""
        self._wait_for_room()
        request = None if refusal.id in self.ledger.open_requests() else refusal.id
        line = write_line(_error(request, refusal.code, refusal.reason))
        self.ledger.enter(len(line))
        self._outbox.put(line)

    def _write(self) -> None:
        while True:
            line = self._outbox.get()
            try:
                write_all(self._target, line)
            except OSError:
                self.life.end(OUTPUT_CLOSED)
            self.ledger.written(len(line))

    def _drain(self) -> None:
        """Let what is running finish and be written, then say of the rest what is known about it."""
        serving = self._attached.is_set()
        if serving:
            self.ledger.wait_until_clear(DRAIN_S)
        for request in self.ledger.open_requests():
            self.send_error(request, SERVER_ENDING, _OUTCOME_UNKNOWN if serving else _NOTHING_DONE)
        self.ledger.wait_until_written(_FLUSH_S)


def _error(request: RequestId | float | None, code: int, reason: str) -> Body:
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": reason}}
