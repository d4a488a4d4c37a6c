"""The plugin's hooks and icon: what `pinfold install` would set up, for a `pinfold` on the PATH."""

from __future__ import annotations

import json
import struct
import zlib

from pinfold.server.clients.claude_code.registration import TOOLS
from pinfold.server.install.hooks import hook_items
from pinfold.server.install.place import Launch

_SIDE, _BASE = 512, (38, 70, 83)
_GOLD, _RED, _WHITE = (233, 196, 106), (231, 111, 81), (250, 250, 245)


def hooks_page(client: str) -> str:
    """Return `plugin/hooks/*.json` of one client."""
    launch = Launch(("pinfold",), None, "linux")
    tools = TOOLS if client == "claude" else None
    groups = {item.path[-1]: [item.value] for item in hook_items(launch, client, tools)}
    return json.dumps({"hooks": groups}, indent=2) + "\n"


def icon() -> bytes:
    """Return a square PNG: a sheet that is folded twice, held by a pin."""
    rows = b"".join(b"\0" + b"".join(bytes(_pixel(x, y)) for x in range(_SIDE)) for y in range(_SIDE))
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _pixel(x: int, y: int) -> tuple[int, int, int]:
    fold = (x - 84) // 115 % 2 * 24  # three panels of the sheet, the middle one lower
    if (x - 256) ** 2 + (y - 176) ** 2 < 52**2:
        return _RED
    if abs(x - 256) < 7 and 176 < y < 330:
        return _RED
    if 84 <= x < 429 and 150 + fold <= y < 400 + fold:
        return _WHITE if fold else _GOLD
    return _BASE


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
