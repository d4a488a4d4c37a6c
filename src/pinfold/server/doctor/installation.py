"""Whether this pinfold is whole, and where it keeps what it keeps."""

from __future__ import annotations

import hashlib
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pinfold import __version__
from pinfold.context import vocabulary
from pinfold.server.own_command import command_name, own_command
from pinfold.server.settings import Settings, stores_folder
from pinfold.store.findings import Finding, bad, ok, privacy, tree, warn

_AGAIN = "Install pinfold again."


def installation(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield how Python, pinfold, its vocabulary, the data directory and the project's folder stand."""
    yield ok("Python", f"{sys.version.split()[0]} ({sys.executable})")
    yield _pinfold()
    yield _vocabulary()
    yield _home(settings.home, environment)
    yield privacy("data directory", _own_folders(settings.home))
    yield ok("project", f"{settings.project.name} ({settings.project.root})")


def _pinfold() -> Finding:
    if own_command() is None:
        advice = "Install the package: its hooks need the command."
        return warn("pinfold", f"{__version__}, without the command pinfold beside its Python", advice)
    return ok("pinfold", f"{__version__} ({command_name()})")


def _vocabulary() -> Finding:
    try:
        digest = hashlib.sha256(vocabulary.published(vocabulary.shipped())).hexdigest()
    except (OSError, zlib.error, IndexError) as error:
        return bad("tokenizer", f"its vocabulary cannot be read ({error})", _AGAIN)
    if digest != vocabulary.SHA256:
        return bad("tokenizer", "its vocabulary is not the published one", _AGAIN)
    return ok("tokenizer", f"{vocabulary.NAME}, SHA-256 {digest[:12]}")


def _home(home: Path, environment: Mapping[str, str]) -> Finding:
    origin = "PINFOLD_HOME" if environment.get("PINFOLD_HOME") else "the default"
    if not home.exists():
        return ok("home", f"{home} ({origin}), not made yet")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return bad(
            "home", f"{home} ({origin}) cannot be written", "Mend its owner and mode, or set PINFOLD_HOME."
        )
    stores = sum(1 for _ in stores_folder(home).glob("*/log.db"))
    return ok("home", f"{home} ({origin}), stores: {stores:,}")


def _own_folders(home: Path) -> Iterator[Path]:
    """Yield the data directory and what belongs to installations in it; a store is looked at for itself."""
    if home.is_dir():
        yield home
        yield from (path for path in home.iterdir() if path.name in ("projects", "installed"))
        yield from tree(home / "installed")
