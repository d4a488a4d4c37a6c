"""What a person has written to a file goes nowhere among the stores, where it would be lost or do harm. Source: P11."""

from __future__ import annotations

import os
from pathlib import Path

from pinfold.server.settings import Settings, stores_folder
from pinfold.store.errors import InvalidInputError


def keep_out_of_stores(settings: Settings, target: Path | None, but: Path | None = None) -> None:
    """Raise `InvalidInputError` for a file or folder among pinfold's own, except in the folder `but`.

    It could take the place of a log, SQLite takes names beside a database for parts of it, and what lies in another
    project's folder goes with that.
    """
    if target is None:
        return
    stores, real = _real(stores_folder(settings.home)), _real(target)
    if real.is_relative_to(stores) and not (but and real.is_relative_to(_real(but))):
        raise InvalidInputError(f"{target} lies among the stores of pinfold.", "Name another place.")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
