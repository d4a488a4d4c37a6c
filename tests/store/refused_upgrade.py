"""An upgrade that fails in its last statement, as often as it is tried."""

from __future__ import annotations

import sqlite3

import pytest

from pinfold.store.sqlite import upgrading

_upgrade = upgrading.upgrade


def refuse_upgrades(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the store's own upgrade fail once all of its steps are taken; a copy's, to be verified, goes on."""
    monkeypatch.setattr(upgrading, "upgrade", _refused)


def _refused(db: sqlite3.Connection) -> None:
    db.set_authorizer(_allow_all_but_the_new_version)
    _upgrade(db)


def _allow_all_but_the_new_version(action: int, name: str | None, value: str | None, *_: str | None) -> int:
    is_last = action == sqlite3.SQLITE_PRAGMA and name == "user_version" and value is not None
    return sqlite3.SQLITE_DENY if is_last else sqlite3.SQLITE_OK
