"""The o200k vocabulary, shipped in the package: packed to under a megabyte, unpacked without a network.

Ranks run from 0 in file order, so lengths followed by bytes hold all of it. Source: decision 0003.
"""

from __future__ import annotations

import base64
import zlib
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

NAME = "o200k_base"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The digest of the published vocabulary file, which `published` rebuilds from the packed one."""

_RESOURCE = "o200k.bin"
_SPECIAL = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _SUFFIX,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _SUFFIX,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


def pack(tokens: list[bytes]) -> bytes:
    """Return tokens in rank order as one packed resource: count, one length byte each, then their bytes.

    Raises `OverflowError` or `ValueError` for a token over 255 bytes.
    """
    head = len(tokens).to_bytes(4, "big") + bytes(map(len, tokens))
    return zlib.compress(head + b"".join(tokens), 9)


def unpack(packed: bytes) -> list[bytes]:
    """Return the tokens of a packed resource, in rank order."""
    raw = zlib.decompress(packed)
    count = int.from_bytes(raw[:4], "big")
    tokens = []
    start = 4 + count
    for length in raw[4:start]:
        tokens.append(raw[start : start + length])
        start += length
    return tokens


def parse(published_file: bytes) -> list[bytes]:
    """Return the tokens of a published vocabulary file; raises `ValueError` if its ranks are not 0, 1, 2, …"""
    tokens = []
    for expected, line in enumerate(published_file.splitlines()):
        token, rank = line.split()
        if int(rank) != expected:
            raise ValueError(f"rank {int(rank)} stands where {expected} was expected")
        tokens.append(base64.b64decode(token))
    return tokens


def published(tokens: list[bytes]) -> bytes:
    """Return the vocabulary file as it was published, byte for byte."""
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


def shipped() -> list[bytes]:
    """Return the tokens that this package carries, in rank order."""
    return unpack(files("pinfold.context").joinpath(_RESOURCE).read_bytes())


def load() -> tiktoken.Encoding:
    """Build the encoding; about 0.2 s and 75 MB, of which 50 MB stay: once per process, never on the event loop."""
    import tiktoken

    ranks = {token: rank for rank, token in enumerate(shipped())}
    encoding = tiktoken.Encoding(NAME, pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL)
    ranks.clear()  # the encoding keeps this dictionary, too, and counts by its own copy
    return encoding
