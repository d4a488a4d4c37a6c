"""Where a team's server is, and the token for it. Source: docs/decisions/0017."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pinfold.store.errors import InvalidInputError

_PORTS = {"https": 443, "http": 80}
_PATH = re.compile(r"[!-~]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A server of one project: `path` is what stands before `/store`. The token is in nothing that is shown."""

    host: str
    port: int
    path: str = ""
    is_safe: bool = True
    token: str = field(default="", repr=False)

    def __str__(self) -> str:
        """Return how the address is spelled, without a token."""
        scheme = "https" if self.is_safe else "http"
        port = "" if self.port == _PORTS[scheme] else f":{self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}{port}{self.path}"


def read_address(url: str, token: str, *, in_clear: bool = False) -> Address:
    """Read `https://host[:port][/path]`; `http://` only to this machine, or with `in_clear`.

    Raises `InvalidInputError`, without quoting the address, which may hold a password.
    """
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, (parts.hostname or "").encode("idna")
    except ValueError:
        raise _wrong() from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        raise _wrong()
    if not host or port == 0 or not _PATH.fullmatch(parts.path):
        raise _wrong()
    if parts.username is not None or parts.password is not None:
        raise InvalidInputError(
            "The address of the team's server holds a user or a password.", "Give a token in PINFOLD_TOKEN."
        )
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise InvalidInputError("The token is none: it holds blanks or signs.", "Copy it again.")
    is_safe = parts.scheme == "https"
    if not (is_safe or in_clear or is_loopback(parts.hostname)):
        raise InvalidInputError(
            f"A token would go in clear to {parts.hostname}, and so would all that is stored.",
            "Use https://, or set PINFOLD_CLEAR=1 where the way there is safe by itself (a VPN, a tunnel).",
        )
    path = parts.path.rstrip("/")
    return Address(parts.hostname, port or _PORTS[parts.scheme], path, is_safe, token)


def _wrong() -> InvalidInputError:
    return InvalidInputError(
        "The address of the team's server cannot be read.",
        "It looks like https://pinfold.example.com/p/PROJECT.",
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; a name is looked at as it is written."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
