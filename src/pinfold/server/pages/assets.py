"""The files beside the pages. They are the package's own; nothing is ever loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

STYLE = "pinfold.css"
SCRIPT = "charts.js"
LIBRARY = "chart.umd.min.js"
"""Chart.js as npm has it, unchanged; a test pins version and digest."""
ICON = "icon.svg"

MEDIA_TYPES = {
    STYLE: "text/css; charset=utf-8",
    SCRIPT: "text/javascript; charset=utf-8",
    LIBRARY: "text/javascript; charset=utf-8",
    ICON: "image/svg+xml",
}
"""All there are, by name."""

_STATIC = Path(__file__).parent / "static"


@cache
def asset_text(name: str) -> str:
    """Return one of the files of `MEDIA_TYPES`."""
    return (_STATIC / name).read_text("utf-8")


def source_of(text: str) -> str:
    """Return what a content security policy calls an inline style or script: `'sha256-…'`."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
