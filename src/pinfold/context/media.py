"""What bytes are: text or binary, and their media type by content."""

from __future__ import annotations

import re
from collections.abc import Iterable

BINARY = "application/octet-stream"

_MOST_BROKEN = 0.1
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x7fELF", "application/x-executable"),
    (b"\0asm", "application/wasm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\xff\xfe", "text/plain; charset=utf-16le"),
    (b"\xfe\xff", "text/plain; charset=utf-16be"),
)
_BOXED = ((b"RIFF", 8, b"WEBP", "image/webp"), (b"", 257, b"ustar", "application/x-tar"))
_DIFF = re.compile(rb"\A(?:diff --git |Index: |--- )|^diff --git |^--- [^\n]+\n\+\+\+ ", re.MULTILINE)
_HUNK = re.compile(rb"^@@ -\d|^(?:new|deleted) file mode |^rename from |^Binary files ", re.MULTILINE)
_XML = re.compile(rb"\s*<\?xml[ \t]")
_HTML = re.compile(rb"\s*<(?:!doctype html|html[ >])", re.IGNORECASE)
_SCALAR = rb"(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)"
# A bracket that closes behind one bare value ends its line, else it is a log's: `[0007] started`, `[12] started`.
_BARE_ITEM = rb"(?:" + _SCALAR + rb"\s*(?:,|\Z|\][ \t\r]*(?:\n|\Z)))"
_JSON = re.compile(rb'\s*(?:\{\s*(?:["}]|\Z)|\[\s*(?:[\[{"\]]|\Z|' + _BARE_ITEM + rb"))")
_CSV_LINES = 5


def magic(head: bytes) -> str | None:
    """Return the media type that the first bytes declare, or None; `head` should hold 300 bytes or more."""
    for mark, media_type in _MAGIC:
        if head.startswith(mark):
            return media_type
    for start, offset, mark, media_type in _BOXED:
        if head.startswith(start) and head[offset : offset + len(mark)] == mark:
            return media_type
    return None


def is_binary(windows: Iterable[bytes]) -> bool:
    """Whether samples of content, the first from its start, are binary: by magic, or over a tenth broken as text."""
    windows = list(windows)
    if windows and magic(windows[0]):
        return True
    return sum(map(_broken, windows)) > _MOST_BROKEN * sum(map(len, windows))


def _broken(window: bytes) -> int:
    """Count bytes that no text holds: NUL, and those outside valid UTF-8."""
    if window.isascii():
        return window.count(0)
    valid = window.decode("utf-8", "ignore")
    return len(window) - len(valid.encode()) + window.count(0)


def looks_like_json(head: bytes) -> bool:
    """Whether content that begins like this is meant as a JSON object or array; `[2026-01-02]` and `[12] …` are not."""
    return _JSON.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def text_type(head: bytes) -> str:
    """Return the media type of text by its first few KiB, JSON apart."""
    if _DIFF.search(head) and _HUNK.search(head):
        return "text/x-diff"
    if _HTML.match(head):
        return "text/html"
    if _XML.match(head):
        return "application/xml"
    return _table_type(head) or "text/plain"


def _table_type(head: bytes) -> str | None:
    """Recognize comma or tab separated values: some lines, all with the same number of separators, two or more."""
    lines = head.split(b"\n")[:-1][:_CSV_LINES]
    if len(lines) < _CSV_LINES:
        return None
    for separator, media_type in ((b"\t", "text/tab-separated-values"), (b",", "text/csv")):
        counts = {line.count(separator) for line in lines}
        if len(counts) == 1 and counts.pop() > 1:
            return media_type
    return None
