"""One quick look into a store, for `pinfold brief`: no event loop, no lock, no writer (but of an earlier pinfold's)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pinfold.store.fences import fence
from pinfold.store.results import BriefState
from pinfold.store.sql.briefing import brief_state
from pinfold.store.sqlite.connection import Place, connect, read_meta
from pinfold.store.sqlite.failures import translate
from pinfold.store.sqlite.upgrading import is_old
from pinfold.store.values import Caller


def glance(
    folder: Path, caller: Caller | None, as_of: int | None = None
) -> tuple[BriefState, Callable[[str], str]]:
    """Return what `Store.brief_state` and `Store.fence` give, of a store that exists.

    Raises `DamagedError` or `ReadOnlyError` for a file that cannot be read.
    """
    place = Place(folder)
    meta = read_meta(place)
    db = connect(place.database, read_only=True)
    try:
        if is_old(db):
            db.close()
            _bring_up(folder, meta["project"].decode())
            db = connect(place.database, read_only=True)
        db.row_factory = sqlite3.Row
        db.execute("BEGIN")
        state = brief_state(db, meta["project"].decode(), caller, as_of)
    except sqlite3.Error as error:
        translate(error, str(folder))
    finally:
        db.close()
    return state, partial(fence, meta["secret"])


def _bring_up(folder: Path, project: str) -> None:
    from pinfold.store.sqlite.direct import open_direct

    open_direct(folder, project).close()
