"""One connection to a team's server: a request at a time, made anew when it has gone.

http.client it is, since a hook's client waits for the import. Source: docs/decisions/0017.
"""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Thread
from typing import TypeVar

from pinfold.store.remote.address import Address
from pinfold.store.remote.replies import KIND

T = TypeVar("T")
_BLOCK_BYTES = 256 * 1024
_CLEAR = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})
"""What OpenSSL says, by its version, where the other side speaks in clear."""

_NO_TLS = "it speaks in clear, as http:// does"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: for a connection, for a silent server, and (None: for ever) for all there is to ask."""

    connect_s: float = 5.0
    silence_s: float = 30.0
    whole_s: float | None = None


class BrokenError(Exception):
    """The connection failed. `was_sent`: the server may have got the request."""

    def __init__(self, why: str, *, was_sent: bool) -> None:
        super().__init__(why)
        self.was_sent = was_sent


@dataclass(frozen=True, slots=True)
class Question:
    """One request: `text` and `blocks` are its body, `more_bytes` the size of the blocks."""

    path: str
    text: bytes | None = None
    blocks: Callable[[], Iterable[bytes]] = tuple
    more_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        """The size of the body."""
        return len(self.text or b"") + self.more_bytes

    def body(self) -> Iterable[bytes]:
        """Yield the body."""
        if self.text is not None:
            yield self.text
            yield from self.blocks()


class Link:
    """One connection, for one thread at a time."""

    def __init__(self, address: Address, patience: Patience, deadline: float | None) -> None:
        self._address = address
        self._patience = patience
        self._deadline = deadline
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, question: Question, read: Callable[[http.client.HTTPResponse], T]) -> T:
        """Send a question and return what `read` makes of the answer. Raises `BrokenError`, and what `read` does."""
        if self._deadline is None:
            return self._asked(question, read)
        return _within(self._deadline - time.monotonic(), lambda: self._asked(question, read), self.close)

    def _asked(self, question: Question, read: Callable[[http.client.HTTPResponse], T]) -> T:
        connection = self._live()
        try:
            self._send(connection, question)
            with connection.getresponse() as response:
                return self._read(response, read)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise BrokenError(_in_words(error), was_sent=True) from error
        except BaseException:
            self.close()
            raise

    def _read(self, response: http.client.HTTPResponse, read: Callable[[http.client.HTTPResponse], T]) -> T:
        """Read an answer to its end, of which nothing may be left on the way when the next one comes."""
        outcome = read(response)
        response.read(_BLOCK_BYTES)
        if not response.isclosed():
            self.close()
        return outcome

    def _send(self, connection: http.client.HTTPConnection, question: Question) -> None:
        headers = {"Authorization": f"Bearer {self._address.token}"} if self._address.token else {}
        path = f"{self._address.path}{question.path}"
        if question.text is None:
            connection.request("GET", path, headers=headers)
            return
        headers |= {"Content-Length": str(question.size_bytes), "Content-Type": KIND}
        connection.request("POST", path, question.body(), headers)

    def _live(self) -> http.client.HTTPConnection:
        """Return a connection that is open, as far as can be seen."""
        if self._connection is not None and _is_gone(self._connection.sock):
            self.close()
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> http.client.HTTPConnection:
        host, port, limit_s = self._address.host, self._address.port, self._patience.connect_s
        connection = (
            http.client.HTTPSConnection(host, port, timeout=limit_s, context=ssl.create_default_context())
            if self._address.is_safe
            else http.client.HTTPConnection(host, port, timeout=limit_s)
        )
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise BrokenError(_in_words(error), was_sent=False) from error
        connection.sock.settimeout(self._patience.silence_s)
        return connection

    def close(self) -> None:
        """Let go of the connection. Idempotent."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _is_gone(sock: socket.socket | None) -> bool:
    """Whether the server has closed a connection on which it owes nothing: then there is something to read."""
    return sock is None or bool(select.select([sock], [], [], 0)[0])


def _in_words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate does not hold: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        why = _NO_TLS if error.reason in _CLEAR else error.reason.lower().replace("_", " ")
        return f"no TLS with it: {why}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, socket.gaierror):
        return "its name is unknown"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the connection was cut"


def _within(limit_s: float, work: Callable[[], T], give_up: Callable[[], None]) -> T:
    """Do the work for at most `limit_s`, whatever it hangs in: looking up a name cannot be interrupted."""
    if limit_s <= 0:
        raise BrokenError("no time was left to ask", was_sent=False)
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if failure:
        raise failure[0]
    if not outcome:
        give_up()
        raise BrokenError("no answer in time", was_sent=True)
    return outcome[0]
