"""Stores as earlier versions of the schema left them, laid out for a test."""

from __future__ import annotations

import sys

from pinfold.store.sqlite.connection import Place
from tests.store.make_golden import golden_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def unpacked(schema: int) -> bytes:
    """Return the golden database of a schema."""
    return zstd.decompress(golden_of(schema).read_bytes())


def lay_out(place: Place, schema: int) -> None:
    """Put the golden database of a schema where a store has it."""
    place.folder.mkdir(parents=True)
    place.database.write_bytes(unpacked(schema))
    place.store_id.write_text("pinfold store\n")
