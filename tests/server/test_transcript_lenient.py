from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.server.clients.claude_code import transcript as claude_code
from pinfold.server.clients.claude_code.transcript import Transcript
from pinfold.server.clients.codex import transcript as codex
from pinfold.server.clients.codex.transcript import Rollout
from pinfold.server.transcripts.items import Format, Heading, Spoken
from pinfold.server.transcripts.jsonl import JsonLines
from pinfold.server.transcripts.lenient import instant, parsed
from tests.server.transcript_samples import ALL, lines_of

FORMATS: list[Callable[[], Format]] = [Transcript, lambda: Rollout(Heading("thread")), JsonLines]
SAMPLES = [json.loads(line) for path in ALL for line in lines_of(path)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_no_bytes_stop_a_reading(lines: list[bytes]) -> None:
    for form in (new() for new in FORMATS):
        for line in lines:
            assert isinstance(form.items(line), list)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_value_of_any_type_anywhere_stops_no_reading(data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(SAMPLES))
    line = json.dumps(_spoiled(entry, data)).encode()
    for form in (new() for new in FORMATS):
        for item in form.items(line):
            assert isinstance(item.external_id, str)
            assert item.external_id
            for text in (item.text, *item.files) if isinstance(item, Spoken) else (item.summary,):
                assert text.encode("utf-8") is not None
    assert isinstance(claude_code.heading([line]), Heading)
    assert isinstance(codex.heading([line]), Heading)


def _spoiled(value: Any, data: st.DataObject) -> Any:
    """Put any JSON in the place of one value, at any depth."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 4)):
        key = data.draw(st.sampled_from(sorted(value)))
        return value | {key: _spoiled(value[key], data)}
    if isinstance(value, list) and value and data.draw(st.integers(0, 4)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], _spoiled(value[place], data), *value[place + 1 :]]
    return data.draw(JSON)


@pytest.mark.parametrize("new", FORMATS)
def test_what_is_not_known_is_counted(new: Callable[[], Format]) -> None:
    form = new()
    lines = [b"", b"[1]", b"nonsense", b'{"type":"of the future"}', b'{"type":["user"]}', b"[" * 100_000]
    assert [form.items(line) for line in lines] == [[]] * 6
    assert form.unknown == 6


def test_half_a_surrogate_pair_and_bytes_that_are_no_utf_8_become_replacement_characters() -> None:
    assert parsed(b'{"a":"\\ud83d","b":["\\uDE00x"],"\\ud83d":1}') == {
        "a": "\ufffd",
        "b": ["\ufffdx"],
        "\ufffd": 1,
    }
    assert parsed(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}
    assert parsed(b'{"a":"\xff"}') == {"a": "\ufffd"}
    assert parsed(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-11-30T01:31:17.974Z", "2026-11-30T01:31:17.974000Z"),
        ("2026-11-30T01:31:17+02:00", "2026-11-29T23:31:17.000000Z"),
        ("2026-11-30 01:31", "2026-11-30T01:31:00.000000Z"),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
        (1796002277, None),
        (None, None),
    ],
)
def test_times_are_kept_as_the_log_writes_them(given: object, kept: str | None) -> None:
    assert instant(given) == kept
