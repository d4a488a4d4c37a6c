"""pinfold as an ordinary user, also where the tests run as root, whom no mode keeps out of anything.

Everything is loaded before the privileges go, since root's Python may lie where nobody else can read.
"""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.server import peer
from tests.server.peer import PATIENCE_S, Peer, environment

IS_ROOT = sys.platform != "win32" and os.getuid() == 0
USER = 65534 if IS_ROOT or sys.platform == "win32" else os.getuid()
OTHER = 65533

_LOADED = """
import importlib, importlib.readers, pkgutil, sys
import anyio._backends._asyncio, concurrent.futures.thread, mcp.server, mcp.shared, tiktoken
import pinfold
for module in pkgutil.walk_packages(pinfold.__path__, "pinfold."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def become(mask: int, user: int) -> None:
    """Go on as that user, under that umask."""
    if os.getuid() != user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    os.umask(mask)


_DROPPED = f"""
import os, sys
{inspect.getsource(become)}
become(int(sys.argv[1], 8), int(sys.argv[2]))
script, sys.argv[1:] = sys.argv[3], sys.argv[4:]
exec(script)
"""


@contextmanager
def own_folder() -> Iterator[Path]:
    """Make a folder that the unprivileged user owns and can reach, as pytest's own may not be."""
    folder = Path(tempfile.mkdtemp(prefix="pinfold-"))
    try:
        if IS_ROOT:
            os.chown(folder, USER, USER)
        yield folder
    finally:
        shutil.rmtree(folder)


def in_python(
    script: str, *arguments: str, mask: int = 0o022, user: int = USER, load: bool = True
) -> list[str]:
    """Return a command that runs a script under that umask, as that user if this is root.

    `load`: with all of pinfold.
    """
    before = _LOADED if load and user != os.getuid() else ""
    return [sys.executable, "-c", before + _DROPPED, f"{mask:o}", str(user), script, *arguments]


def told(command: list[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run such a command to its end."""
    return subprocess.run(command, capture_output=True, env=environment(**variables), timeout=PATIENCE_S)


@contextmanager
def serving(folder: Path, mask: int) -> Iterator[Peer]:
    """Serve the project `folder/shop`, whose data lie in `folder/home`, as the unprivileged user."""
    with peer.serving(partial(become, mask, USER), **places(folder)) as server:
        yield server


def places(folder: Path) -> dict[str, str]:
    """Return the environment in which pinfold keeps to a folder."""
    return {
        "HOME": str(folder / "user"),
        "PINFOLD_HOME": str(folder / "home"),
        "PINFOLD_PROJECT": str(folder / "shop"),
    }
