"""Reading what a program writes to a terminal."""

from __future__ import annotations

import os
import struct
import subprocess
import sys

from tests.server.peer import PATIENCE_S, environment
from tests.server.person import Project


def all_of(terminal: int) -> bytes:
    """Read a terminal until its other side is closed, and close it."""
    shown = b""
    try:
        while piece := os.read(terminal, 65_536):
            shown += piece
    except OSError:  # the other side is closed: that is how a terminal ends
        pass
    os.close(terminal)
    return shown


def on_terminal(project: Project, *arguments: str, columns: int = 100, **more: str) -> str:
    """Return what one of pinfold's commands prints on a real terminal of that width."""
    import fcntl
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "pinfold", *arguments],
        cwd=project.folder,
        env=environment(PINFOLD_HOME=str(project.home)) | {"TERM": "xterm", **more},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as child:
        os.close(theirs)
        shown = all_of(ours)
        child.wait(PATIENCE_S)
    return shown.decode().replace("\r\n", "\n")
