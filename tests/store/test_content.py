from __future__ import annotations

import hashlib
import sys
import tracemalloc
from pathlib import Path

import pytest

from pinfold.store.content import CHUNK_BYTES, Chunk, collect
from pinfold.store.errors import DamagedError
from tests.store.children import ended

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FULL = """
import os, resource, sys
from pinfold.store.content import collect
from pinfold.store.errors import NoSpaceError

resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
try:
    collect(os.urandom(1_000_000) for _ in range(40))
except NoSpaceError as error:
    print(error)
"""


def _chunk(packed: bytes, size_bytes: int, codec: str = "zstd") -> Chunk:
    return Chunk(0, 0, size_bytes, hashlib.sha256(b"x" * 10).digest(), codec, packed)


def test_chunks_end_behind_a_line_where_there_is_one_and_add_up() -> None:
    content = b"".join(b"%d %s\n" % (n, b"y" * (n % 300)) for n in range(3_000)) + b"z" * 200_000
    held = collect([content[at : at + 7_001] for at in range(0, len(content), 7_001)])
    chunks = list(held.chunks())
    pieces = [chunk.unpack("a chunk") for chunk in chunks]
    assert b"".join(pieces) == content
    assert [chunk.size_bytes for chunk in chunks] == [len(piece) for piece in pieces]
    assert max(len(piece) for piece in pieces) <= CHUNK_BYTES
    at = 0
    for chunk, piece in zip(chunks, pieces, strict=True):
        assert (chunk.start, chunk.lines_before) == (at, content.count(b"\n", 0, at))
        assert piece.endswith(b"\n") or b"\n" not in piece
        at += len(piece)
    assert [chunk.start for chunk in held.chunks()] == [chunk.start for chunk in chunks]
    held.close()


@pytest.mark.parametrize("claimed", [10, 0, -1, -2, 2**40])
def test_a_chunk_that_would_blow_up_is_damage_and_takes_no_memory(claimed: int) -> None:
    bomb = zstd.compress(bytes(100_000_000))
    assert len(bomb) < 20_000
    tracemalloc.start()
    with pytest.raises(DamagedError, match="A1"):
        _chunk(bomb, claimed).unpack("A1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize("codec", ["zstd", "raw", "lz4"])
def test_bytes_that_do_not_match_their_digest_are_damage(codec: str) -> None:
    for packed in (b"", b"x" * 9, b"\x28\xb5\x2f\xfd", zstd.compress(b"x" * 10)[:-3]):
        with pytest.raises(DamagedError, match="A1"):
            _chunk(packed, 10, codec).unpack("A1")


def test_a_source_that_fails_is_raised_as_it_is() -> None:
    def failing() -> list[bytes]:
        raise OSError(5, "the source broke")

    with pytest.raises(OSError, match="the source broke"):
        collect(block for block in failing())


def test_a_full_temporary_folder_is_said_by_name(tmp_path: Path) -> None:
    outcome = ended(FULL, before=("env", f"TMPDIR={tmp_path}"))
    assert outcome.stdout.startswith(f"No space left in {tmp_path}; nothing was written."), outcome.stderr
