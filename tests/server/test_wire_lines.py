"""Bytes become lines, and lines messages, refusals or noise: the rules without a process around them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.server.framing import EDGE_BYTES, Lines, LongLine
from pinfold.server.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Body,
    Message,
    Noise,
    Refusal,
    read_line,
    write_line,
)


def cut(chunks: Sequence[bytes], limit_bytes: int = 1000) -> list[bytes | LongLine]:
    lines = Lines(limit_bytes)

    def pieces() -> Iterator[bytes | LongLine]:
        for chunk in chunks:
            yield from lines.feed(chunk)
        yield from lines.finish()

    return list(pieces())


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n \t\r\n"])
def test_each_kind_of_line_end_ends_a_line_and_blank_lines_do_not_count(end: bytes) -> None:
    assert cut([b"one" + end + b"two" + end]) == [b"one", b"two"]


def test_last_line_needs_no_end_and_a_mark_is_taken_off_the_first_only() -> None:
    assert cut([b"\xef\xbb\xbfone\n\xef\xbb\xbftwo"]) == [b"one", b"\xef\xbb\xbftwo"]
    assert cut([b"\xef\xbb\xbf\n"]) == []


@given(
    st.lists(st.binary(max_size=30).filter(lambda line: not set(line) & set(b"\r\n")), max_size=8), st.data()
)
def test_lines_do_not_depend_on_how_the_bytes_arrive(lines: list[bytes], draw: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert cut(chunks) == cut([stream])


def test_line_over_the_limit_keeps_its_ends_and_the_next_one_is_whole() -> None:
    long = b"".join(b"%07d," % number for number in range(3000))
    found = cut([long[:5000], long[5000:] + b"\n{}\n"], limit_bytes=6000)
    assert found == [LongLine(24_000, 6000, long[:EDGE_BYTES], long[-EDGE_BYTES:]), b"{}"]


def test_line_at_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert cut([b"x" * 1000 + b"\n"]) == [b"x" * 1000]
    assert cut([b"x" * 1001]) == [LongLine(1001, 1000, b"x" * 1001, b"x" * 1001)]


def nested(depth: int) -> str:
    """Return a request whose deepest value lies `depth` levels deep; the message itself is the first."""
    return (
        '{"jsonrpc":"2.0","id":3,"method":"m","params":{"x":' + "[" * (depth - 2) + "]" * (depth - 2) + "}}"
    )


REQUEST = '{"jsonrpc":"2.0","id":3,"method":"m","params":{"x":%s}}'

UNREADABLE = {
    "broken": ('{"jsonrpc":"2.0","id":3,"method":"m"', PARSE_ERROR, 3),
    "not json": ("hello", PARSE_ERROR, None),
    "two values": ('{"jsonrpc":"2.0","id":3,"method":"m"} {}', PARSE_ERROR, 3),
    "single quotes": ("{'id':3}", PARSE_ERROR, None),
    "raw control character": (REQUEST % '"a\x00b"', PARSE_ERROR, 3),
    "byte order mark inside": ("\ufeff" + REQUEST % "1", PARSE_ERROR, None),
    "NaN": (REQUEST % "NaN", PARSE_ERROR, 3),
    "Infinity": (REQUEST % "Infinity", PARSE_ERROR, 3),
    "-Infinity": (REQUEST % "[-Infinity]", PARSE_ERROR, 3),
    "overflowing float": (REQUEST % "1e999", PARSE_ERROR, 3),
    "endless integer": (REQUEST % ("9" * 5000), PARSE_ERROR, 3),
    "unclosed and deep": (REQUEST % ("[" * 100_000), INVALID_REQUEST, 3),
    "deep": (nested(65), INVALID_REQUEST, 3),
    "very deep": (nested(100_000), INVALID_REQUEST, 3),
    "repeated key": (REQUEST % '{"k":1,"k":1}', INVALID_REQUEST, 3),
    "repeated method": ('{"jsonrpc":"2.0","id":3,"method":"m","method":"n"}', INVALID_REQUEST, 3),
    "repeated key spelled otherwise": (REQUEST % '{"k":1,"\\u006b":1}', INVALID_REQUEST, 3),
    "two ids": ('{"jsonrpc":"2.0","id":3,"method":"m","id":4}', INVALID_REQUEST, None),
    "batch": ('[{"jsonrpc":"2.0","id":3,"method":"m"}]', INVALID_REQUEST, None),
    "empty batch": ("[]", INVALID_REQUEST, None),
    "string": ('"m"', INVALID_REQUEST, None),
    "number": ("3", INVALID_REQUEST, None),
    "null": ("null", INVALID_REQUEST, None),
    "empty object": ("{}", INVALID_REQUEST, None),
    "no version": ('{"id":3,"method":"m"}', INVALID_REQUEST, 3),
    "no version, no id": ('{"method":"m"}', INVALID_REQUEST, None),
    "old version": ('{"jsonrpc":"1.0","id":"three","method":"m"}', INVALID_REQUEST, "three"),
    "version as number": ('{"jsonrpc":2.0,"id":3,"method":"m"}', INVALID_REQUEST, 3),
    "no method": ('{"jsonrpc":"2.0","id":3}', INVALID_REQUEST, 3),
    "method as number": ('{"jsonrpc":"2.0","id":3,"method":1}', INVALID_REQUEST, 3),
    "null id": ('{"jsonrpc":"2.0","id":null,"method":"m"}', INVALID_REQUEST, None),
    "true id": ('{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID_REQUEST, None),
    "float id": ('{"jsonrpc":"2.0","id":3.5,"method":"m"}', INVALID_REQUEST, 3.5),
    "object id": ('{"jsonrpc":"2.0","id":{"a":3},"method":"m"}', INVALID_REQUEST, None),
    "array id": ('{"jsonrpc":"2.0","id":[3],"method":"m"}', INVALID_REQUEST, None),
    "params as array": ('{"jsonrpc":"2.0","id":3,"method":"m","params":[1]}', INVALID_PARAMS, 3),
    "params as string": ('{"jsonrpc":"2.0","id":3,"method":"m","params":"x"}', INVALID_PARAMS, 3),
    "lone high surrogate": (REQUEST % '"\\ud83d"', INVALID_PARAMS, 3),
    "lone low surrogate": (REQUEST % '"\\uDE00"', INVALID_PARAMS, 3),
    "swapped pair": (REQUEST % '"\\ude00\\ud83d"', INVALID_PARAMS, 3),
    "lone surrogate in a key": (REQUEST % '{"\\ud83d":1}', INVALID_PARAMS, 3),
    "lone surrogate after a backslash": (REQUEST % '"\\\\\\ud83d"', INVALID_PARAMS, 3),
    "lone surrogate in the method": ('{"jsonrpc":"2.0","id":3,"method":"\\ud83d"}', INVALID_PARAMS, 3),
    "lone surrogate in the id": ('{"jsonrpc":"2.0","id":"\\ud83d","method":"m"}', INVALID_PARAMS, None),
}


@pytest.mark.parametrize(("line", "code", "request_id"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unacceptable_line_is_refused_with_its_code_and_its_id(
    line: str, code: int, request_id: object
) -> None:
    read = read_line(line.encode())
    assert isinstance(read, Refusal)
    assert (read.code, read.id, type(read.id)) == (code, request_id, type(request_id))


@pytest.mark.parametrize(
    "bad",
    [b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\xbd", b"\xf4\x90\x80\x80", b"\xe2\x82"],
    ids=lambda bad: bad.hex(),
)
def test_invalid_utf8_is_refused_not_replaced(bad: bytes) -> None:
    read = read_line((REQUEST % '"%s"').encode() % bad)
    assert read == Refusal(PARSE_ERROR, "The line is not valid UTF-8 at byte 52.", 3)


@pytest.mark.parametrize(
    "value",
    [
        '"a\\u0000b"',
        '"a\u2028b\u2029c\x85"',
        '"\\ud83d\\ude00"',
        '"\\\\ud83d"',
        '"\U0001f600"',
        "1e308",
        "null",
        "-0.0",
    ],
)
def test_unusual_but_sound_text_passes_unchanged(value: str) -> None:
    line = (REQUEST % value).encode()
    assert read_line(line) == Message(json.loads(line), 3, len(line))


@pytest.mark.parametrize("request_id", [0, -1, 10**30, "", "3", "\x00", "\U0001f600", "x" * 10_000])
def test_any_string_or_integer_is_an_id(request_id: int | str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "m", "params": None, "more": 1}).encode()
    read = read_line(line)
    assert isinstance(read, Message)
    assert read.id == request_id


def test_depth_of_64_passes_also_between_many_brackets_in_strings() -> None:
    assert isinstance(read_line(nested(64).encode()), Message)
    assert isinstance(read_line((REQUEST % json.dumps(['[{"\\' * 1000] * 3)).encode()), Message)
    assert isinstance(read_line((REQUEST % ("[" + "[]," * 1000 + "{}]")).encode()), Message)


BAD_AND_UNANSWERED = {
    "notification with a lone surrogate": '{"jsonrpc":"2.0","method":"m","params":{"x":"\\ud83d"}}',
    "notification with an array": '{"jsonrpc":"2.0","method":"m","params":[]}',
    "response with a lone surrogate": '{"jsonrpc":"2.0","id":3,"result":{"x":"\\ud83d"}}',
    "response without version": '{"id":3,"result":{}}',
}


@pytest.mark.parametrize("line", BAD_AND_UNANSWERED.values(), ids=BAD_AND_UNANSWERED.keys())
def test_bad_notifications_and_responses_are_noise(line: str) -> None:
    assert isinstance(read_line(line.encode()), Noise)


@pytest.mark.parametrize("line", ['{"jsonrpc":"2.0","method":"m"}', '{"jsonrpc":"2.0","id":3,"result":{}}'])
def test_sound_notifications_and_responses_pass_without_an_id(line: str) -> None:
    assert read_line(line.encode()) == Message(json.loads(line), None, len(line))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.permutations(["id", "jsonrpc", "method", "params", "_meta"]),
    st.dictionaries(st.text() | st.just("id"), JSON | st.just('"id":9}'), max_size=4),
    st.integers() | st.text(),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_id_found_in_a_line_that_is_not_parsed_is_never_a_wrong_one(
    order: list[str], params: Body, request_id: int | str, ascii_only: bool
) -> None:
    whole = {
        "id": request_id,
        "jsonrpc": "2.0",
        "method": "m",
        "params": params,
        "_meta": {"id": 7, "x": "}"},
    }
    text = json.dumps({name: whole[name] for name in order}, ensure_ascii=ascii_only).encode(
        "utf-8", "replace"
    )
    read = read_line(LongLine(len(text), 0, text[:EDGE_BYTES], text[-EDGE_BYTES:]))
    assert isinstance(read, Refusal)
    assert read.id in (None, request_id)


@pytest.mark.parametrize(
    "order", [["jsonrpc", "id", "method", "params"], ["method", "params", "jsonrpc", "id"]]
)
def test_id_of_a_long_line_is_found_at_either_end(order: list[str]) -> None:
    whole = {"id": "abc", "jsonrpc": "2.0", "method": "m", "params": {"id": 7, "text": "x" * 20_000}}
    text = json.dumps({name: whole[name] for name in order}).encode()
    read = read_line(LongLine(len(text), 9000, text[:EDGE_BYTES], text[-EDGE_BYTES:]))
    assert read == Refusal(INVALID_REQUEST, f"The line has {len(text):,} bytes; the limit is 9,000.", "abc")


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\u0d8id9 eN-', max_size=80).map(str.encode))
@settings(max_examples=60, deadline=None)
def test_no_line_raises(line: bytes) -> None:
    assert isinstance(read_line(line), Message | Refusal | Noise)


@given(st.dictionaries(st.text(), JSON, max_size=5))
@settings(max_examples=60, deadline=None)
def test_written_line_is_ascii_ends_once_and_reads_back_the_same(body: Body) -> None:
    line = write_line(body)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == body


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        ("\\ud800", "\\ud800"),
        ("\\\ud800", "\\\ufffd"),
        ("\u2028\x00\U0001f600", "\u2028\x00\U0001f600"),
    ],
)
def test_only_half_characters_are_replaced_when_written(text: str, written: str) -> None:
    assert json.loads(write_line({text: [text]})) == {written: [written]}


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), b"bytes"])
def test_what_is_not_json_is_not_written(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        write_line({"x": value})
