"""Where a PostgreSQL store is: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE#PROJECT`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict

from pinfold.store.errors import InvalidInputError

_FORM = (
    "It looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE, with #PROJECT behind it for another name."
)
_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Address:
    """How the driver reaches the database, which project is meant there, and how a person is told where that is.

    Only the driver gets to see what it connects with, since a password is in it.
    """

    connection: str = field(repr=False)
    project: str
    shown: str


def read_address(text: str, project: str) -> Address:
    """Read an address; `project` is meant where it names none. Raises `InvalidInputError`, which quotes none of it."""
    connection, _, name = text.partition("#")
    try:
        parts = conninfo_to_dict(connection)
    except Error:
        raise InvalidInputError("The address of the PostgreSQL store cannot be read.", _FORM) from None
    name = unquote(name) or project
    if "\0" in name or len(name) > _NAME_CHARS:
        raise InvalidInputError(
            "The project's name does not fit.", f"It has at most {_NAME_CHARS} characters, no NUL."
        )
    place = f"{parts.get('host') or 'this machine'}:{parts.get('port') or 5432}"
    return Address(connection, name, f"{place}/{parts.get('dbname') or parts.get('user') or ''}")
