"""What travels between a store's contract and a team's server arrives as what it was."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from pinfold.store import Store
from pinfold.store.commands import Message, Outline, PinDecision, SpillArtifact
from pinfold.store.content import Content, collect
from pinfold.store.errors import (
    BusyError,
    ConflictError,
    DamagedError,
    DeferredError,
    InvalidInputError,
    NoSpaceError,
    NotFoundError,
    PinfoldError,
    ReadOnlyError,
    RefusedError,
    TooLargeError,
    UnknownOutcomeError,
    UnreachableError,
)
from pinfold.store.redaction import Redactor
from pinfold.store.remote.contract import REPEATABLE, VERBS, verb
from pinfold.store.remote.direct import RemoteSyncStore
from pinfold.store.remote.parts import Incoming, Outgoing
from pinfold.store.remote.replies import KINDS, CutOffError, error_line, read_answer
from pinfold.store.remote.store import RemoteStore
from pinfold.store.sync import SyncStore
from pinfold.store.values import Caller

ANNA = Caller("claude-code", "anna", runs=("7:12", "6"))
OUTLINE = Outline("text/plain", "first line", 7, first_errors=(1, 3))

ERRORS = [
    InvalidInputError("what", "accepted"),
    NotFoundError("P9", "never existed", "look"),
    ConflictError("what", "hint"),
    TooLargeError("It", 9, 4, unit="bytes", hint="less"),
    BusyError(10.0, "process 7"),
    NoSpaceError("/data"),
    ReadOnlyError("why"),
    UnknownOutcomeError("cause"),
    DamagedError("event 3"),
    UnreachableError("https://host", "why"),
    RefusedError("https://host", "why", "hint"),
    DeferredError(UnreachableError("https://host", "why")),
]


def test_every_verb_of_the_contract_travels_and_a_new_one_will() -> None:
    assert Store.__abstractmethods__ - {"fence", "close"} == VERBS
    for name in VERBS:
        assert verb(name).name == name
    assert REPEATABLE < VERBS
    assert RemoteStore.__abstractmethods__ == frozenset()
    asked_without_a_loop = {name for name in vars(SyncStore) if name in VERBS}
    assert asked_without_a_loop <= vars(RemoteSyncStore).keys()


def test_what_writes_is_never_asked_again_by_itself() -> None:
    writes = {"pin_decision", "spill_artifact", "checkpoint_state", "start_session", "append_messages"}
    assert REPEATABLE & (writes | {"record_fold", "rebuild", "forget", "scrub"}) == set()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_what_it_was(error: PinfoldError) -> None:
    with pytest.raises(PinfoldError) as arrived:
        read_answer(bytes, [b"\n", error_line(error)])
    assert type(arrived.value) is type(error)
    assert (str(arrived.value), vars(arrived.value)) == (str(error), vars(error))


def test_every_kind_of_error_is_among_those_that_arrive() -> None:
    assert {type(error) for error in ERRORS} == set(KINDS.values())


@pytest.mark.parametrize("lines", [[], [b"\n"], [b"progress [1, 2]\n"], [b"result [1]"], [b"resul"]])
def test_an_answer_that_ends_early_is_none(lines: list[bytes]) -> None:
    with pytest.raises(CutOffError):
        read_answer(bytes, lines)


@contextmanager
def sent(name: str, *given: Any) -> Iterator[tuple[Any, ...]]:
    """Give the arguments of a verb as they come out at the other end of a wire."""
    asked, parts = verb(name), Outgoing()
    text = asked.arguments.dump_json(asked.travelling(*given), context=parts)
    file = io.BytesIO(text + b"\n" + b"".join(parts.blocks()))
    assert len(file.getvalue()) == len(text) + 1 + parts.size_bytes
    with closing(Incoming(file, Redactor(b"key"))) as incoming:
        incoming.begin(len(text) + 1)
        yield asked.arguments.validate_json(text, context=incoming)


@contextmanager
def held(*blobs: bytes) -> Iterator[list[Content]]:
    with ExitStack() as stack:
        yield [stack.enter_context(closing(collect([blob]))) for blob in blobs]


def test_messages_with_pins_and_bytes_beside_them_arrive_whole() -> None:
    pin = PinDecision(ANNA, "zstd 7", "measured", supersedes=(3,), files=("a.py",))
    with held(b"\x00\xff" * 40_000, b"", "wörter\n".encode()) as contents:
        artifacts = tuple(SpillArtifact(ANNA, each, OUTLINE, label="a") for each in contents)
        messages = [
            Message("user", "hello \U0001f600", external_id="u1", artifacts=artifacts[:2], pins=(pin,)),
            Message("tool_result", "", artifacts=artifacts[2:]),
        ]
        with sent("append_messages", ANNA, messages) as (caller, arrived, mark):
            assert (caller, mark) == (ANNA, None)
            assert list(map(told, arrived)) == list(map(told, messages))


def told(message: Message) -> tuple[Any, ...]:
    """Return all of a message, its bytes as what they are."""
    brought = [
        (each.label, each.outline, each.caller, each.content.lines, [*each.content.chunks()])
        for each in message.artifacts
    ]
    return replace(message, artifacts=()), brought


def test_bytes_that_arrive_lose_the_secrets_that_their_sender_left_in_them() -> None:
    secret = b"ghp_" + b"aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    with (
        held(b"the token: " + secret) as (content,),
        sent("spill_artifact", SpillArtifact(ANNA, content, OUTLINE)) as (arrived,),
    ):
        stored = b"".join(chunk.unpack("it") for chunk in arrived.content.chunks())
    assert secret not in stored
    assert b"[redacted:github-token:" in stored


def test_a_request_that_is_shorter_than_it_says_is_refused() -> None:
    asked, parts = verb("spill_artifact"), Outgoing()
    with held(b"12345") as (content,):
        text = asked.arguments.dump_json((SpillArtifact(ANNA, content, OUTLINE),), context=parts)
    incoming = Incoming(io.BytesIO(text + b"\n1234"), Redactor(b"key"))
    incoming.begin(len(text) + 1)
    with pytest.raises(InvalidInputError, match="cut off"):
        asked.arguments.validate_json(text, context=incoming)
