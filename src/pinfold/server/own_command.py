"""How this pinfold is started again: its words for a configuration, and what to enter in a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path

_NAME = "pinfold"
_THROW_AWAY = re.compile(r"(archive|builds|environments)-v\d+")
_PLAIN = re.compile(r"[\w@+=:,./-]+")


def command_name() -> str:
    """Return what starts this pinfold in a shell: `pinfold` where the PATH leads to it, else its full path, quoted."""
    program, *arguments = own_command() or (sys.executable, "-m", _NAME)
    return " ".join((_short(program), *arguments))


def own_command() -> tuple[str, ...] | None:
    """Return what starts this pinfold from anywhere, its script by its full path; None where it has no script."""
    if is_throw_away(Path(sys.executable)):
        return _runner()
    name = f"{_NAME}.exe" if sys.platform == "win32" else _NAME
    folders = (Path(sys.executable).parent, Path(sys.argv[0]).parent, Path(sysconfig.get_path("scripts")))
    for folder in folders:
        script = folder.absolute() / name
        if script.is_file() and os.access(script, os.X_OK):
            return (str(script),)
    return None


def is_throw_away(executable: Path) -> bool:
    """Say whether an interpreter is that of `uvx` or `pipx run`, whose folders may be gone tomorrow."""
    parts = executable.parts
    of_pipx = any(pair in (("pipx", ".cache"), ("pipx", "venv_cache")) for pair in pairwise(parts))
    return of_pipx or any(_THROW_AWAY.fullmatch(part) for part in parts)


def quoted(word: str, platform: str = sys.platform) -> str:
    """Return a word as a shell reads it; on Windows in the one spelling that suits both cmd and Git Bash."""
    if platform != "win32":
        return shlex.quote(word)
    word = word.replace("\\", "/")
    return word if _PLAIN.fullmatch(word) else f'"{word}"'


def _runner() -> tuple[str, ...]:
    """Return what runs pinfold without an installation, by its full path: graphical clients have another PATH."""
    uvx, pipx = shutil.which("uvx"), shutil.which("pipx")
    if uvx is None and pipx is not None:
        return (os.path.abspath(pipx), "run", _NAME)
    return (os.path.abspath(uvx) if uvx else "uvx", _NAME)


def _short(program: str) -> str:
    name = os.path.basename(program)
    found = shutil.which(name)
    if found is None or os.path.realpath(found) != os.path.realpath(program):
        return quoted(program)
    return name.removesuffix(".exe")
