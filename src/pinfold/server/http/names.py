"""Which names this server answers to: a page that leads a browser here by another one is turned away.

Source: P27; the protocol's security rules on Host and Origin (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; a name is looked at as it is written."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a request may call the server by, ports left aside: those allowed, and where it came in."""

    allowed: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """Return these names, in lower case, without a final dot."""
        return cls(frozenset(name.lower().removesuffix(".") for name in names))

    def knows_host(self, host: str, came_in_at: str) -> bool:
        """Say whether a Host header names this server. `came_in_at` is the address that the connection was made to."""
        found = _AUTHORITY.fullmatch(host.lower())
        return found is not None and self._knows(found["name"], came_in_at)

    def knows_origin(self, origin: str, came_in_at: str) -> bool:
        """Say whether a page of this origin is one of this server's own host."""
        scheme, mark, authority = origin.lower().partition("://")
        return bool(mark) and scheme in ("http", "https") and self.knows_host(authority, came_in_at)

    def _knows(self, name: str, came_in_at: str) -> bool:
        name = name.removesuffix(".")
        here = f"[{came_in_at}]" if ":" in came_in_at else came_in_at
        local = _LOOPBACK if is_loopback(came_in_at) else frozenset()
        return name == here or name in local or name in self.allowed
