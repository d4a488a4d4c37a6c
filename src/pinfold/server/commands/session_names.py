"""Sessions beside pointers: `s3`, as listings spell it, is a session, and `S3` a search."""

from __future__ import annotations

import re

import click


def number_of(text: str) -> int | None:
    """Return the number of a session that is spelled s3, S3 or 3; None for any other name."""
    found = re.fullmatch(r"s?([1-9][0-9]{0,17})", text.strip(), re.IGNORECASE)
    return int(found[1]) if found else None


def refuse_as_pointer(text: str, meant: str) -> None:
    """Refuse a session where a pointer is asked for: taken for the search of its number, it would lead elsewhere.

    `meant` says what to enter for a session, with its name behind it.
    """
    name = text.strip()
    if re.fullmatch(r"s[0-9]+", name):
        raise click.BadParameter(f"{name} is a session: {meant} {name}; a search is {name.upper()}")
