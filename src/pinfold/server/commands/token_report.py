"""What a person enters of a token, read; and the tokens as a table."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pinfold.server.commands.listings import when
from pinfold.server.commands.tables import Report
from pinfold.server.http.tokens import Token, TokenFile, checked_name
from pinfold.server.settings import stores_folder
from pinfold.store.errors import InvalidInputError
from pinfold.store.values import stamp

_IN = re.compile(r"([0-9]{1,5})\s*([hdw])")
_OWN = re.compile(r"-[0-9a-f]{16}")
"""What stands behind the name of a store of this machine's own: see `Project.folder_name`."""

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_COLUMNS = ("name", "projects", "may", "made", "last used", "ends")


def added(
    tokens: TokenFile, name: str, projects: tuple[str, ...], expires: str | None, *, may_write: bool
) -> str:
    """Make a token and return it. Raises `InvalidInputError` for a name or time, `ConflictError` for a name in use."""
    now = datetime.now(UTC)
    for project in projects:
        checked_name(project, "project on a server")
    token = Token(
        name=checked_name(name, "token"),
        digest="",
        projects=tuple(dict.fromkeys(projects)),
        may_write=may_write,
        created=stamp(now),
        expires=None if expires is None else stamp(_moment(expires, now)),
    )
    return tokens.add(token)


def new_projects(home: Path, projects: tuple[str, ...]) -> list[str]:
    """Return a sentence for each project of which there is no store yet: a wrong name would be an empty memory."""
    stores = stores_folder(home)
    return [_new(project, stores) for project in projects if not (stores / project).exists()]


def _new(project: str, stores: Path) -> str:
    own = sorted(
        each.name for each in stores.glob(f"{project}-*") if _OWN.fullmatch(each.name[len(project) :])
    )
    hint = f" This machine's own stores of that name are called {', '.join(own)} here." if own else ""
    return f"There is nothing in {project} yet; its first caller makes it.{hint}"


def _moment(text: str, now: datetime) -> datetime:
    try:
        if found := _IN.fullmatch(text.strip().lower()):
            moment = now + timedelta(**{_UNITS[found[2]]: int(found[1])})
        else:
            moment = datetime.fromisoformat(text.strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError("This is no time.", "Give e.g. 90d, 12h or 2027-03-14.") from None
    if moment <= now:
        raise InvalidInputError("That time is over.", "Give one to come, e.g. 90d.")
    return moment


def token_report(tokens: TokenFile) -> Report:
    """Return all tokens, oldest first."""
    now = datetime.now(UTC)
    found = tokens.tokens()
    items = [
        {
            "name": token.name,
            "projects": list(token.projects),
            "may_write": token.may_write,
            "created": token.created,
            "last_used": used.isoformat(timespec="hours") if (used := tokens.last_used(token.name)) else None,
            "expires": token.expires,
            "expired": token.is_expired(now),
        }
        for token in found
    ]
    rows = [_row(tokens, token, now) for token in found]
    remark = "" if rows else "No tokens yet."
    return Report({"tokens": items}, _COLUMNS, rows, remark)


def _row(tokens: TokenFile, token: Token, now: datetime) -> tuple[str, ...]:
    used = tokens.last_used(token.name)
    ends = "" if token.expires is None else when(token.expires)
    return (
        token.name,
        ", ".join(token.projects),
        "read and write" if token.may_write else "read",
        token.created[:10],
        "never" if used is None else f"{used:%Y-%m-%d %H}h",
        f"{ends} (over)" if token.is_expired(now) else ends,
    )
