"""Bytes meant for a terminal as the text that one would show: without colours, progress bars at their last state."""

from __future__ import annotations

import re

from pinfold.context.visible import visible

_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor, erasing
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_ERASES = re.compile(r"\x1b\[[02]?K")


def on_screen(raw: bytes) -> str:
    r"""Return text without control sequences, each line as it stood after its last `\r`; other controls made visible.

    Line ends are kept, so line numbers hold. Sequences that move the cursor between lines have no effect.
    """
    lines = raw.decode("utf-8", "backslashreplace").split("\n")
    return visible("\n".join(map(_last_state, lines)))


def _last_state(line: str) -> str:
    shown = ""
    for part in line.removesuffix("\r").split("\r"):
        written = _CONTROLS.sub("", part)
        shown = written if _ERASES.search(part) else written + shown[len(written) :]
    return shown
