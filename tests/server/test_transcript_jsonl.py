from __future__ import annotations

from pinfold.server.transcripts.items import Spoken
from pinfold.server.transcripts.jsonl import JsonLines


def test_each_object_is_a_message_of_its_conversation() -> None:
    line = b'{"external_id":"D1:3","kind":"user","text":"Hi.","at":"2026-11-30T01:31:17Z","session":"S1"}'
    assert JsonLines().items(line) == [
        Spoken("D1:3", "user", "Hi.", "2026-11-30T01:31:17.000000Z", conversation="S1")
    ]


def test_ids_that_are_numbers_are_the_names_they_are_written_as() -> None:
    (item,) = JsonLines().items(b'{"external_id":42,"text":"Hi.","session":0}')
    assert item == Spoken("42", "user", "Hi.", conversation="0")


def test_what_neither_side_said_is_the_result_of_a_tool_of_that_name() -> None:
    said = [
        item
        for kind in ("assistant", "tool_call", "tool_result", "commit")
        for item in JsonLines().items(b'{"external_id":"x","text":"t","kind":"%s"}' % kind.encode())
        if isinstance(item, Spoken)
    ]
    assert [(item.role, item.tool) for item in said] == [
        ("assistant", None),
        ("tool_call", None),
        ("tool_result", None),
        ("tool_result", "commit"),
    ]


def test_only_the_text_must_be_there() -> None:
    form = JsonLines()
    (first,), (again,), (other,) = (form.items(b'{"text":"%s"}' % text) for text in (b"a", b"a", b"b"))
    assert first == again
    assert first.external_id != other.external_id
    assert form.items(b'{"external_id":"x","kind":"user"}') == []
    assert form.unknown == 1
