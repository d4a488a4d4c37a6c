"""The address that a server listens at: read, checked, and bound before anything else is started."""

from __future__ import annotations

import errno
import re
import socket
import sys
from dataclasses import dataclass

from pinfold.store.errors import InvalidInputError
from pinfold.store.remote.address import is_loopback

DEFAULT = "127.0.0.1:7463"
_ADDRESS = re.compile(r"(?:(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):)?(?P<port>[0-9]{1,5})")
_SHAPE = f"Give HOST:PORT, e.g. {DEFAULT} or [::1]:7463; port 0 takes a free one."
_BACKLOG = 2048
_TAKEN = frozenset({errno.EADDRINUSE})


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where to listen: a name or an address without brackets, and a port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        """Return HOST:PORT."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_listen_address(text: str) -> ListenAddress:
    """Read HOST:PORT or PORT; raises `InvalidInputError`."""
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise InvalidInputError("This is no address to listen at.", _SHAPE)
    return ListenAddress((found["host"] or "127.0.0.1").strip("[]"), int(found["port"]))


def listen(address: ListenAddress) -> socket.socket:
    """Return a socket that listens there; raises `InvalidInputError` for what cannot be had."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InvalidInputError(f"{address} cannot be listened at: {error.strerror}.", _SHAPE) from None
    try:
        if sys.platform != "win32":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen(_BACKLOG)
    except OSError as error:
        found.close()
        hint = "Another program listens there: choose another port." if error.errno in _TAKEN else _SHAPE
        raise InvalidInputError(f"{address} cannot be listened at: {error.strerror}.", hint) from None
    return found


def bound_to(listening: socket.socket) -> ListenAddress:
    """Return where a socket listens, with the port that it got."""
    host, port = listening.getsockname()[:2]
    return ListenAddress(host, port)
