"""What a reader learns of an artifact without opening it, sketched while its bytes stream by.

Runs at several hundred MB/s on logs and holds at most 8 MiB (content that looks like JSON) and a MiB besides.
Source: design 2 (spill_artifact), design 4 (externalize).
"""

from __future__ import annotations

from collections.abc import Callable

from pinfold.context.alarms import Alarms
from pinfold.context.excerpt import KEPT_BYTES, Ends, excerpt
from pinfold.context.json_check import INVALID, JSON, JSON_LINES, JsonCheck
from pinfold.context.media import BINARY, magic, text_type
from pinfold.context.samples import Samples
from pinfold.context.tokens import count
from pinfold.context.visible import size_text
from pinfold.store.commands import Outline

PREVIEW_TOKENS = 120
_HEX_BYTES = 24
_LOGS = ("text/plain", JSON_LINES)


class Sketch:
    """Fed with byte blocks, gives an `Outline`; the same bytes give the same one, however they were cut.

    `counts` counts the preview's tokens.
    """

    def __init__(self, counts: Callable[[str], int] = count) -> None:
        self._counts = counts
        self._head = b""
        self._tail = b""
        self._samples = Samples()
        self._alarms = Alarms()
        self._json = JsonCheck()

    def feed(self, block: bytes) -> None:
        """Take in the next bytes."""
        if len(self._head) < KEPT_BYTES:
            self._head += block[: KEPT_BYTES - len(self._head)]
        self._tail = block[-KEPT_BYTES:] if len(block) >= KEPT_BYTES else (self._tail + block)[-KEPT_BYTES:]
        self._samples.feed(block)
        self._alarms.feed(block)
        self._json.feed(block)

    def outline(self, tokens: int, *, estimated: bool) -> Outline:
        """Return what is known once all bytes have passed; `tokens` and `estimated` are a `Gauge`'s result.

        Counts tokens of a few short candidates, so it belongs on a worker thread.
        """
        if self._samples.binary:
            return Outline(magic(self._head) or BINARY, self._hex_start(), 0)
        self._alarms.finish()
        media_type, json_state = self._json.result(self._first_line()) or (text_type(self._head), None)
        is_log = media_type in _LOGS or (json_state or "").startswith(INVALID)
        return Outline(
            media_type=media_type,
            preview=self._preview(media_type),
            tokens=tokens,
            tokens_estimated=estimated,
            json_state=json_state,
            error_lines=self._alarms.lines if is_log else 0,
            first_errors=tuple(self._alarms.first) if is_log else (),
        )

    def _first_line(self) -> bytes:
        return self._head[: self._head.find(b"\n") + 1]

    def _preview(self, media_type: str) -> str:
        ends = Ends(self._head, self._tail, self._samples.total_bytes, self._alarms.newlines)
        note = "; valid JSON: no, cut" if media_type == JSON else ""
        return excerpt(ends, note, lambda text: self._counts(text) <= PREVIEW_TOKENS)

    def _hex_start(self) -> str:
        more = " …" if self._samples.total_bytes > _HEX_BYTES else ""
        start = self._head[:_HEX_BYTES].hex(" ")
        return f"binary, {size_text(self._samples.total_bytes)}: {start}{more}"
