"""Which names this server answers to: a page that leads a browser here by another one is turned away.

Source: P27; the protocol's security rules on Host and Origin (DNS rebinding).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.store.errors import InvalidInputError
from pinfold.store.remote.address import is_loopback

_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_MAPPED = "::ffff:"
"""Stands before the older kind of address where a socket takes both kinds."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a request may call the server by, ports left aside: those allowed, and where it came in."""

    allowed: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """Return these names, in lower case, without a final dot; raises `InvalidInputError` for what is none."""
        return cls(frozenset(map(_checked, names)))

    def knows_host(self, host: str, came_in_at: str) -> bool:
        """Say whether a Host header names this server. `came_in_at` is the address that the connection was made to."""
        found = _AUTHORITY.fullmatch(host.lower())
        return found is not None and self._knows(found["name"], came_in_at)

    def knows_origin(self, origin: str, came_in_at: str) -> bool:
        """Say whether a page of this origin is one of this server's own host."""
        scheme, mark, authority = origin.lower().partition("://")
        return bool(mark) and scheme in ("http", "https") and self.knows_host(authority, came_in_at)

    def _knows(self, name: str, came_in_at: str) -> bool:
        name, here = name.removesuffix("."), came_in_at.removeprefix(_MAPPED)
        local = _LOOPBACK if is_loopback(here) else frozenset()
        return name in ({here, f"[{here}]"} | local | self.allowed)


def _checked(name: str) -> str:
    found = _AUTHORITY.fullmatch(name.lower())
    if found is None or found["name"] != name.lower():
        raise InvalidInputError(
            "--allow-host takes the name of a host alone.", "Give e.g. pinfold.example.com, without a port."
        )
    return found["name"].removesuffix(".")
