from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.server.transcripts import lines as module
from pinfold.server.transcripts.lines import (
    MAX_LINE_BYTES,
    Lines,
    can_resume,
    first_lines,
    head_digest,
    line_number,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "transcript.jsonl"


def contents(path: Path, offset: int = 0) -> list[bytes]:
    return [line.content for line in Lines(path, offset)]


def test_lines_come_without_endings_and_with_where_they_lie(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n\n  \r\n{"b":2}\r\n')
    found = list(Lines(file))
    assert [(line.start, line.stop, line.content) for line in found] == [
        (0, 8, b'{"a":1}'),
        (13, 22, b'{"b":2}'),
    ]
    assert contents(file, found[0].stop) == [b'{"b":2}']


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9)), max_size=8),
    st.lists(st.integers(0, 200)),
)
@settings(deadline=None, max_examples=40)
def test_a_file_read_while_it_grows_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, str]], cuts: list[int]
) -> None:
    file = tmp_path_factory.mktemp("growing") / "t.jsonl"
    whole = b"".join(json.dumps(value).encode() + b"\n" for value in objects)
    offset, found = 0, list[bytes]()
    for cut in [*sorted(cut for cut in cuts if cut < len(whole)), len(whole)]:
        file.write_bytes(whole[:cut])
        for line in Lines(file, offset):
            offset, found = line.stop, [*found, line.content]
    assert [json.loads(line) for line in found] == objects


def test_a_torn_last_line_waits_until_it_is_whole(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"b":')
    assert contents(file) == [b'{"a":1}']
    file.write_bytes(b'{"a":1}\n{"b":2}')
    assert contents(file) == [b'{"a":1}', b'{"b":2}']  # whole, though its ending is missing
    *_, last = Lines(file)
    file.write_bytes(b'{"a":1}\n{"b":2}\n{"c":3}\n')
    assert contents(file, last.stop) == [b'{"c":3}']


def test_what_a_power_loss_leaves_hides_no_line_behind_it(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n' + b"\0" * 4096)
    assert contents(file) == [b'{"a":1}']
    file.write_bytes(b'{"a":1}\n' + b"\0" * 4096 + b'{"b":2}\n{"torn' + b"\0" * 10 + b'{"c":3}\n')
    assert contents(file) == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


def test_a_line_over_the_limit_is_counted_and_left_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 100)
    whole = b'{"a":1}\n{"long":"' + b"x" * 90_000 + b'"}\n{"b":2}\n'
    file.write_bytes(whole)
    reading = Lines(file)
    assert [line.content for line in reading] == [b'{"a":1}', b'{"b":2}']
    assert (reading.left_out.count, line_number(file, reading.left_out.first)) == (1, 2)
    file.write_bytes(whole[:5_000])  # while it is being written it is neither read nor counted
    reading = Lines(file)
    assert [line.content for line in reading] == [b'{"a":1}']
    assert reading.left_out.count == 0


def test_a_line_of_20_mb_is_read_and_one_of_60_mb_is_not_held(file: Path) -> None:
    with open(file, "wb") as out:
        out.write(b'{"long":"' + b"x" * 20_000_000 + b'"}\n')
        out.write(b'{"longer":"')
        for _ in range(60):
            out.write(b"x" * 1_000_000)
        out.write(b'"}\n{"b":2}\n')
    reading = Lines(file)
    tracemalloc.start()
    sizes = [len(line.content) for line in reading]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == [20_000_011, 7]
    assert reading.left_out.count == 1
    assert peak < 2 * MAX_LINE_BYTES


def test_the_head_of_a_file_stays_the_same_while_it_grows(file: Path) -> None:
    file.write_bytes(b'{"type":"mo')
    assert head_digest(file) == ""
    file.write_bytes(b'{"type":"mode"}\n')
    head = head_digest(file)
    file.write_bytes(b'{"type":"mode"}\n{"type":"user"}\n' * 100)
    assert head_digest(file) == head
    file.write_bytes(b'{"type":"user"}\n')
    assert head_digest(file) not in ("", head)
    file.write_bytes(b'{"long":"' + b"x" * 2_000)
    head = head_digest(file)
    file.write_bytes(b'{"long":"' + b"x" * 5_000 + b'"}\n')
    assert head_digest(file) == head


def test_reading_goes_on_in_the_same_file_only(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"b":2}\n')
    head, offset = head_digest(file), 16
    assert can_resume(file, offset, head)
    assert can_resume(file, 0, head)
    file.write_bytes(b'{"a":1}\n{"b":2}\n{"c":3}\n')
    assert can_resume(file, offset, head)
    assert not can_resume(file, 12, head)  # rewritten: no line begins there
    file.write_bytes(b'{"a":1}\n')
    assert not can_resume(file, offset, head)  # truncated
    file.write_bytes(b'{"z":1}\n{"b":2}\n{"c":3}\n')
    assert not can_resume(file, offset, head)  # replaced


def test_reading_goes_on_behind_a_line_that_got_its_ending_later(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"b":2}')
    head, (*_, last) = head_digest(file), Lines(file)
    assert can_resume(file, last.stop, head)
    file.write_bytes(b'{"a":1}\n{"b":2}\n{"c":3}\n')
    assert can_resume(file, last.stop, head)


def test_a_packed_transcript_reads_as_it_was(file: Path) -> None:
    plain = b'{"a":1}\n{"b":2}\n'
    packed = file.with_name("rollout.jsonl.zst")
    packed.write_bytes(zstd.compress(plain))
    assert contents(packed) == [b'{"a":1}', b'{"b":2}']
    assert contents(packed, 8) == [b'{"b":2}']
    assert list(first_lines(packed)) == [b'{"a":1}', b'{"b":2}']
    packed.write_bytes(zstd.compress(plain)[:-4])
    with pytest.raises(OSError, match="cannot be unpacked"):
        contents(packed)
