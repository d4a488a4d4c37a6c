"""A sketch says what an artifact is and how it begins and ends, whatever its bytes and however they come."""

from __future__ import annotations

import gzip
import json
import random
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.alarms import MOST_FINDS
from pinfold.context.preview import PREVIEW_TOKENS, Sketch
from pinfold.context.tokens import count
from pinfold.store.commands import Outline

FAMILY = "👩\u200d👩\u200d👧\u200d👦"


def sketch(content: bytes, block_bytes: int = 1 << 20) -> Outline:
    made = Sketch()
    for start in range(0, len(content), block_bytes):
        made.feed(content[start : start + block_bytes])
    return made.outline(7, estimated=False)


def plain_log(lines: int) -> bytes:
    rng = random.Random(5)
    return b"".join(
        b"2026-01-02 03:04:%02d,%03d INFO worker-%d id=%016x took %d ms, 0 errors, no warnings\n"
        % (number % 60, number % 1000, number % 8, rng.getrandbits(64), number % 977)
        for number in range(lines)
    )


def test_a_short_text_is_its_own_preview() -> None:
    assert sketch(b"one\ntwo\n") == Outline("text/plain", "one\ntwo", 7)


def test_twenty_seven_short_lines_are_not_replaced_by_nothing() -> None:
    assert sketch(b"ok %d\n" % 7 * 27).preview.count("ok 7") == 27


def test_a_long_log_shows_both_ends_and_says_what_is_left_out() -> None:
    content = b"".join(b"line %d of the log\n" % number for number in range(2_000))
    preview = sketch(content).preview
    head, mark, tail = (
        preview.partition("…")[0],
        preview[preview.index("…") : preview.rindex("…") + 1],
        preview.rpartition("…")[2],
    )
    assert head.startswith("line 0 of the log\nline 1 of the log\n")
    assert tail.endswith("\nline 1998 of the log\nline 1999 of the log")
    shown = head.count("\n") + tail.count("\n")
    assert (
        mark
        == f"… {2_000 - shown:,} lines, {(len(content) - len(head) - len(tail)) / 1000:.0f} KB left out …"
    )
    assert 90 < count(preview) <= PREVIEW_TOKENS


@pytest.mark.parametrize(
    "content",
    [
        b"x" * 3_000_000,
        (FAMILY * 3_000).encode(),
        "刷新令牌存储".encode() * 5_000,
        b"caf\xe9 au lait\n" * 900,
        ("\u200b\x1b[0m" * 4_000).encode(),
        json.dumps([{"id": number} for number in range(5_000)], indent=1).encode(),
        b"\n" * 100_000,
        b" " * 100_000,
        ("a" + "\u0301" * 9_000).encode(),
        bytes(range(256)) * 100,
    ],
    ids=[
        "one-line",
        "emoji",
        "chinese",
        "latin-1",
        "hidden",
        "json",
        "newlines",
        "spaces",
        "accents",
        "binary",
    ],
)
def test_a_preview_is_at_most_120_tokens_and_says_that_it_is_cut(content: bytes) -> None:
    preview = sketch(content).preview
    assert count(preview) <= PREVIEW_TOKENS
    assert "left out" in preview or preview.startswith("binary, ")
    preview.encode()


def test_no_cluster_is_cut() -> None:
    head, _, tail = sketch((FAMILY * 3_000).encode()).preview.split("\n")
    assert head.replace(FAMILY, "") == tail.replace(FAMILY, "") == ""


@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_cut_where_the_kept_ends_stop(shift: int) -> None:
    content = b"a" * shift + "🎉".encode() * 50_000 + b"a" * shift
    preview = sketch(content).preview
    assert set(preview.replace("🎉", "")) <= set("a\n… .,0123456789KBleftou")


def test_broken_bytes_are_visible() -> None:
    outline = sketch(b"caf\xe9 au lait, plain text\n")
    assert outline.preview == "caf\\xe9 au lait, plain text"
    assert outline.media_type == "text/plain"


def test_binary_content_shows_its_first_bytes_in_one_line() -> None:
    outline = sketch(b"\x89PNG\r\n\x1a\n" + bytes(200))
    assert outline == Outline(
        "image/png", "binary, 208 bytes: 89 50 4e 47 0d 0a 1a 0a" + " 00" * 16 + " …", 0
    )


def test_nothing_is_empty_text() -> None:
    assert sketch(b"") == Outline("text/plain", "", 7)


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (gzip.compress(b"x" * 100, mtime=0), "application/gzip"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "application/pdf"),
        (b"\x7fELF\x02\x01" + bytes(100), "application/x-executable"),
        (random.Random(1).randbytes(5_000), "application/octet-stream"),
        ("wide".encode("utf-16"), "text/plain; charset=utf-16le"),
        (b"diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "text/x-diff"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "text/x-diff"),
        (b"commit 1\nAuthor: A\n\n    why\n\ndiff --git a/x b/x\nnew file mode 100644\n", "text/x-diff"),
        (b"a,b,c\n" * 6, "text/csv"),
        (b"a\tb\tc\n" * 6, "text/tab-separated-values"),
        (b"<!DOCTYPE html><p>x", "text/html"),
        (b'<?xml version="1.0"?><a/>', "application/xml"),
        (b"--- a horizontal rule\ntext\n", "text/plain"),
        (b"one, two, three\nand more, or less\n" * 3, "text/plain"),
        ("naïve 漢字\n".encode(), "text/plain"),
        (b"\x1b[32mgreen\x1b[0m\n", "text/plain"),
    ],
)
def test_media_type_is_told_by_content(content: bytes, media_type: str) -> None:
    assert sketch(content).media_type == media_type


@pytest.mark.parametrize(
    ("content", "media_type", "state"),
    [
        (b'{"a": [1, 2.5, "x", null]}\n', "application/json", "valid"),
        (b'\xef\xbb\xbf[{"a": 1}]', "application/json", "valid"),
        (b"[" + b"9" * 5_000 + b"]", "application/json", "valid"),
        (b'{"a": 1,}', "application/json", "invalid: "),
        (b'{"a": 1', "application/json", "invalid: "),
        (b'{"a": NaN}', "application/json", "invalid: NaN is not JSON"),
        (b'{"a": "' + b"x" * 99 + b'\xff"}', "application/json", "invalid: not UTF-8 at byte 106"),
        (b"[" * 200_000, "application/json", "not checked: nested too deeply"),
        (b"[" + b"0," * 1_100_000 + b"0]", "application/json", "not checked: over 1,000,000 values"),
        (b'["' + b"x" * 8 * 1024 * 1024 + b'"]', "application/json", "not checked: over 8 MiB"),
        (b'{"level":"info","n":1}\n' * 50, "application/x-ndjson", None),
        (b'{"a":"' + b"x" * 9_000 + b'"}\n{"b":1}\n', "application/x-ndjson", None),
        (b"[2026-01-02 03:04] started\n", "text/plain", None),
        (b"[INFO] started\n", "text/plain", None),
        (b"[1] see there\n", "text/plain", None),
        (b'["a"] see there\n', "text/plain", None),
        (b"[00000] started\n[00001] ready\n", "text/plain", None),
        (b"[    0.000000] Linux version 6\n", "text/plain", None),
        (b"[null] started\n" + b"[null] more\n" * 800_000, "text/plain", None),
        (b"[0]\n", "application/json", "valid"),
        (b"[0", "application/json", "invalid: "),
        (b"[10,\n0.5]\n", "application/json", "valid"),
        (b"{ echo hello; }\n", "text/plain", None),
        (b"plain", "text/plain", None),
    ],
)  # fmt: skip
def test_json_is_checked_where_it_looks_like_json(content: bytes, media_type: str, state: str | None) -> None:
    outline = sketch(content)
    assert outline.media_type == media_type
    assert (outline.json_state is None) == (state is None)
    assert (outline.json_state or "").startswith(state or "")


def test_a_json_error_says_where_it_is() -> None:
    state = sketch(b'{"a": 1\n "b": 2}').json_state
    assert state == "invalid: expecting ',' delimiter at line 2 column 2"


def test_a_cut_json_says_that_the_preview_is_not_json() -> None:
    outline = sketch(json.dumps({"rows": ["x" * 10] * 800}).encode())
    assert outline.json_state == "valid"
    assert "left out; valid JSON: no, cut …" in outline.preview
    assert "valid JSON" not in sketch(b'{"a": 1}').preview


ALARMS = [
    "2026-01-02 ERROR disk full",
    "FATAL: could not connect",
    "error: cannot find value `x`",
    "error[E0382]: borrow of moved value",
    "src/a.ts(3,1): error TS2345: Argument of type",
    "warning: unused variable: `y`",
    "Traceback (most recent call last):",
    "ValueError: invalid literal",
    "java.lang.IllegalStateException: closed",
    "thread 'main' panicked at src/main.rs:4",
    "panic: runtime error",
    "tests/test_a.py::test_b FAILED",
    "--- FAIL: TestX (0.00s)",
    "FAILED (failures=1)",
    "not ok 3 - parses",
    "npm ERR! code ELIFECYCLE",
    '{"level":"error","msg":"x"}',
    "level=warn msg=slow",
    "[error] upstream timed out",
    "[WARN] deprecated",
    "Segmentation fault (core dumped)",
    'Exception in thread "main"',
    "make: *** [all] Error: 2 targets",
    "\x1b[31mERROR\x1b[0m disk full",
    "\x1b[1m\x1b[38;5;9merror[E0382]\x1b[0m\x1b[1m: borrow of moved value",
]
CALM = [
    "0 errors, 0 warnings",
    "error_handler.py passed",
    "ERROR_HANDLER ok",
    "Found 0 errors.",
    "0 FAILED, 12 passed",
    "NO ERROR",
    "tests/test_error.py::test_failed_login PASSED",
    "errors: 0",
    "error: 0",
    "except ValueError:",
    "no errors were found",
    "the TERRORS of WARNINGS_AS_ERRORS",
    "failover finished",
    "PANICKED_STATE",
    "\x1b[32m0 FAILED\x1b[0m, 12 passed",
]


@pytest.mark.parametrize("line", ALARMS)
def test_a_line_that_reports_an_error_or_warning_counts(line: str) -> None:
    outline = sketch(f"calm\n{line}\ncalm\n".encode())
    assert (outline.error_lines, outline.first_errors) == (1, (2,))


@pytest.mark.parametrize("line", CALM)
def test_a_line_that_only_names_errors_does_not_count(line: str) -> None:
    outline = sketch(f"calm\n{line}\ncalm\n".encode())
    assert (outline.error_lines, outline.first_errors) == (0, ())


def test_lines_are_counted_once_and_the_first_five_are_named() -> None:
    content = b"".join(b"ERROR error: FAILED\n" if number % 10 == 3 else b"ok\n" for number in range(1_000))
    outline = sketch(content)
    assert (outline.error_lines, outline.first_errors) == (100, (4, 14, 24, 34, 44))


@pytest.mark.parametrize("number", ["%05d", "%d"])
def test_errors_of_a_log_whose_lines_begin_with_a_number_in_brackets_are_counted(number: str) -> None:
    lines = [f"[{number % at}] {'ERROR: disk full' if at % 4 == 3 else 'ok'}\n" for at in range(9)]
    outline = sketch("".join(lines).encode())
    assert (outline.media_type, outline.json_state) == ("text/plain", None)
    assert (outline.error_lines, outline.first_errors) == (2, (4, 8))


def test_errors_in_json_are_counted_where_it_is_invalid_and_not_where_it_is_valid() -> None:
    valid = b'[\n"ok",\n"ERROR: disk full"\n]\n'
    assert (sketch(valid).json_state, sketch(valid).error_lines) == ("valid", 0)
    broken = sketch(valid + b"ERROR: cut off\n")
    assert broken.json_state == "invalid: extra data at line 5 column 1"
    assert (broken.media_type, broken.error_lines, broken.first_errors) == ("application/json", 2, (3, 5))


def test_an_error_on_the_last_line_without_a_line_end_counts() -> None:
    assert sketch(b"ok\nERROR last").first_errors == (2,)


def test_a_log_of_nothing_but_errors_takes_bounded_time_and_gives_a_least_count() -> None:
    block = b"ERROR\n" * 200_000
    began = time.thread_time()
    made = Sketch()
    for _ in range(30):
        made.feed(block)
    assert time.thread_time() - began < 3
    assert made.outline(7, estimated=True).error_lines == MOST_FINDS


def test_errors_behind_an_endless_line_keep_their_line_number() -> None:
    content = b"x" * 3_000_000 + b"\nok\nERROR here\n"
    assert sketch(content, 1 << 20).first_errors == (3,)
    assert sketch(content, 70_001).first_errors == (3,)


@given(
    st.lists(
        st.sampled_from(
            [b"ERROR ", b"x", b"\n", b"{", b'"a":1', "é🎉".encode(), b"\xff", b" 0 ", b"FAILED", b"line\n"]
        )
    ),
    st.integers(1, 40),
)
@settings(max_examples=100, deadline=None)
def test_same_bytes_give_the_same_outline_in_any_blocks(parts: list[bytes], block_bytes: int) -> None:
    content = b"".join(parts)
    assert sketch(content, block_bytes) == sketch(content)


def test_a_log_streams_at_over_a_hundred_megabytes_a_second_in_bounded_memory() -> None:
    block = plain_log(12_000)[: 1 << 20]
    count("loaded")
    made = Sketch()
    tracemalloc.start()
    made.feed(block)
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for _ in range(8):
        made.feed(block)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    began = time.thread_time()
    for _ in range(40):
        made.feed(block)
    took_s = time.thread_time() - began
    assert peak < 2 * (1 << 20)
    assert 40 * len(block) / took_s > 100e6
    assert made.outline(7, estimated=True).error_lines == 0
