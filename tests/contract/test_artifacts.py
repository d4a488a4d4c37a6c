from __future__ import annotations

import hashlib
import os
import random

import pytest

from pinfold.store import Store
from pinfold.store.content import CHUNK_BYTES, collect
from pinfold.store.errors import NotFoundError, TooLargeError
from pinfold.store.results import ArtifactSlice
from pinfold.store.sql.apply import INDEXED_WHOLE_BYTES
from tests.contract.acts import BEN, find, pin, spill, spill_blocks
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P9")]


def _log(lines: int) -> bytes:
    return b"".join(b"%06d compiled module number %d\n" % (n, n * 7) for n in range(1, lines + 1))


async def test_bytes_come_back_as_they_were_stored(store: Store) -> None:
    seed = random.Random(7)
    for content in (
        b"",
        b"\0",
        b"no end",
        b"\n\n\n",
        os.urandom(300_000),
        _log(9_000),
        b"x" * 200_000 + b"\n",
    ):
        made = await spill_blocks(store, _pieces(content, seed))
        number = made.artifact.number
        found = await store.artifact_bytes(number, 0, len(content) + 1)
        assert found.content == content
        assert made.artifact.sha256 == hashlib.sha256(content).hexdigest()
        assert made.artifact.lines == content.count(b"\n") + (
            1 if content and not content.endswith(b"\n") else 0
        )
        for _ in range(20):
            start, length = seed.randrange(len(content) + 2), seed.randrange(1, 100_000)
            part = await store.artifact_bytes(number, start, length)
            assert part.content == content[start : start + length]
            assert part.first_line == content.count(b"\n", 0, start) + 1 or not part.content


def _pieces(content: bytes, seed: random.Random) -> list[bytes]:
    pieces, at = [], 0
    while at < len(content):
        step = seed.randrange(1, 90_000)
        pieces.append(content[at : at + step])
        at += step
    return pieces


async def test_every_line_range_is_cut_on_its_lines(store: Store) -> None:
    seed = random.Random(11)
    lines = [b"%d %s" % (n, b"y" * seed.choice([0, 10, 200, 90_000])) for n in range(1, 400)]
    content = b"\n".join(lines)
    number = (await spill(store, content)).artifact.number
    whole = content.splitlines(keepends=True)
    for _ in range(60):
        first = seed.randrange(1, 410)
        last = first + seed.randrange(0, 5)
        found = await store.artifact_lines(number, first, last, 10**9)
        assert found.content == b"".join(whole[first - 1 : last])
        if found.content:
            assert found.first_line == first
            assert content[found.start : found.stop] == found.content


async def test_the_same_bytes_are_kept_once(store: Store, open_again: Open) -> None:
    first = await spill(store, _log(5_000), label="build")
    again = await spill(await open_again(), _log(5_000), label="build", caller=BEN)
    assert (again.artifact, again.repeated) == (first.artifact, True)
    other = await spill(store, _log(5_000), label="second build")
    assert (other.artifact.number, other.artifact.same_bytes_as, other.repeated) == (2, 1, False)
    report = await store.verify()
    assert (report.problems, report.artifacts) == ((), 2)


async def test_a_scan_visits_every_byte_until_it_is_told_to_stop(store: Store) -> None:
    content = _log(20_000)
    number = (await spill(store, content)).artifact.number
    seen: list[ArtifactSlice] = []

    def keep(piece: ArtifactSlice) -> bool:
        seen.append(piece)
        return len(seen) < most

    most = 10**6
    await store.scan_artifact(number, 0, keep)
    assert b"".join(piece.content for piece in seen) == content
    assert all(len(piece.content) <= CHUNK_BYTES for piece in seen)
    seen.clear()
    most = 1
    await store.scan_artifact(number, len(content) // 2, keep)
    assert len(seen) == 1
    assert seen[0].start <= len(content) // 2 < seen[0].stop


async def test_content_over_the_limit_is_refused_with_its_size() -> None:
    with pytest.raises(TooLargeError, match="limit is 100"):
        collect([b"x" * 60, b"y" * 60], max_bytes=100)


async def test_text_is_told_from_bytes_across_block_ends() -> None:
    euro = "€".encode()
    for blocks, is_text in (([b"a" + euro[:1], euro[1:]], True), ([euro[:1]], False), ([b"a\0b"], False)):
        held = collect(blocks)
        assert held.is_text is is_text
        held.close()


async def test_a_needle_in_the_middle_of_a_long_output_is_found_with_its_line(store: Store) -> None:
    lines = _log(6_000).splitlines()
    lines[3_000] = b"the xylophone subsystem refused the handshake"
    await spill(store, b"\n".join(lines), label="build log")
    page = await find(store, "xylophone handshake")
    assert page.hits[0].pointer.startswith("A1#L")
    assert "xylophone" in page.hits[0].snippet


async def test_a_needle_anywhere_in_a_large_output_is_found_with_its_line(store: Store) -> None:
    lines = _log(60_000).splitlines()
    needles = {5: "xylophone", 29_999: "yttrium", 48_000: "zeppelin"}
    for number, word in needles.items():
        lines[number - 1] = f"the {word} subsystem refused".encode()
    content = b"\n".join(lines)
    assert 1_500_000 < len(content) < INDEXED_WHOLE_BYTES
    spilled = await spill(store, content, label="build log")
    assert spilled.artifact.indexed_bytes == len(content)
    for number, word in needles.items():
        page = await find(store, word)
        assert [hit.pointer for hit in page.hits] == [f"A1#L{number}"]
        assert page.partly == ()


async def test_an_output_too_large_for_the_index_is_looked_through_where_nothing_else_holds_all_words(
    store: Store,
) -> None:
    lines = [b"line %d of the build went well" % n for n in range(INDEXED_WHOLE_BYTES // 20)]
    lines[len(lines) // 2] = b"the xylophone subsystem refused"
    spilled = await spill(store, b"\n".join(lines), label="build log")
    assert 0 < spilled.artifact.indexed_bytes < spilled.artifact.size_bytes
    assert [hit.pointer for hit in (await find(store, "xylophone")).hits] == [f"A1#L{len(lines) // 2 + 1}"]
    assert (await find(store, "zeppelin")).through == ("A1",)
    assert (await find(store, "zeppelin", kinds=("pins",))).through == ()
    assert (await find(store, "line 7 of the build")).through == ()


async def test_an_unknown_artifact_says_where_to_look(store: Store) -> None:
    await pin(store, "something")
    with pytest.raises(NotFoundError, match=r'fetch_pointer\("artifacts"\)'):
        await store.artifact(1)
