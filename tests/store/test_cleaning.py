"""Commands lose their secrets where they enter the store: every kind of them, every text in them. P24."""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import count, cycle
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from pinfold.store import Store, commands, forgetting
from pinfold.store.cleaning import cleaned
from pinfold.store.content import Content, collect
from pinfold.store.redaction import Redactor
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller
from tests.faults.raw_bytes import everything, leaks
from tests.secret_samples import CONTEXTS, KEY, TOKENS

BYTES = collect([b"bytes"])
atexit.register(BYTES.close)
COMMANDS = (
    *(kind for kind in vars(commands).values() if getattr(kind, "__module__", "") == commands.__name__),
    forgetting.Forget,
    forgetting.Retention,
)
SHORT = [token for _, token in TOKENS if len(token) < 120]


class Filled:
    """Makes values of any type a command has, with a secret of its own in each text, or in the one `only`."""

    def __init__(self) -> None:
        self.only: int | None = None
        self.texts: list[str] = []
        self._secrets = zip(count(), cycle(SHORT), strict=False)

    def value(self, kind: Any) -> Any:
        origin, of = get_origin(kind), get_args(kind)
        if origin in (Union, UnionType):
            return self.value(of[0])
        if origin is tuple:
            return tuple(self.value(each) for each in of if each is not Ellipsis)
        if origin is Mapping:
            return {1: self.value(of[1])}
        if origin is Literal:
            return of[0]
        if kind is str:
            number, secret = next(self._secrets)
            if self.only not in (None, number):
                return f"canary{number}"
            self.texts.append(secret)
            return f"canary{number} {secret}"
        return self._thing(kind)

    def _thing(self, kind: type[Any]) -> Any:
        if is_dataclass(kind):
            hints = get_type_hints(kind, localns={"Content": Content})
            return kind(**{field.name: self.value(hints[field.name]) for field in fields(kind)})
        if issubclass(kind, Enum):
            return next(iter(kind))
        return BYTES if kind is Content else kind()


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a value, of whatever it is made."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for each in value.values() for text in texts_of(each))
    elif isinstance(value, (tuple, list)):
        yield from (text for each in value for text in texts_of(each))
    elif is_dataclass(value):
        yield from (text for field in fields(value) for text in texts_of(getattr(value, field.name)))


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_every_text_of_every_kind_of_command_loses_its_secret(kind: type) -> None:
    filled = Filled()
    command = filled.value(kind)
    assert filled.texts
    kept = list(texts_of(cleaned(Redactor(KEY), command)))
    assert sum("[redacted:" in text for text in kept) == len(filled.texts)
    assert sum(text.startswith("canary") for text in kept) == len(filled.texts)
    assert [secret for secret in filled.texts for text in kept if secret in text] == []


@pytest.mark.parametrize("kind", COMMANDS, ids=lambda kind: kind.__name__)
def test_a_secret_in_any_one_text_of_a_command_is_seen(kind: type) -> None:
    everywhere = Filled()
    everywhere.value(kind)
    for number in range(len(everywhere.texts)):
        alone = Filled()
        alone.only = number
        kept = list(texts_of(cleaned(Redactor(KEY), alone.value(kind))))
        assert [text for text in kept if alone.texts[0] in text] == []
        assert sum("[redacted:" in text for text in kept) == len(alone.texts) == 1


@pytest.mark.parametrize("at", range(3))
def test_one_secret_among_plain_texts_is_seen_wherever_they_end(at: int) -> None:
    redactor, missed = Redactor(KEY), []
    for whole in (*(token for _, token in TOKENS), *("".join(parts) for _, *parts in CONTEXTS)):
        for plain in ("word", "and a blank ", "7", "_", "é", "", '"'):
            texts = [plain] * 3
            texts[at] = whole
            if cleaned(redactor, tuple(texts))[at] != redactor.text(whole).text:
                missed.append((plain, whole))
    assert missed == []


def test_texts_without_a_secret_are_handed_on_as_they_are() -> None:
    command = commands.PinDecision(Caller("client", "conversation"), "Use one pool", "it was faster by 7 ms")
    assert cleaned(Redactor(KEY), command) is command


@dataclass(frozen=True, slots=True)
class Write:
    """A method of the store that writes, the command that it is called with, and how it is called."""

    kind: type
    call: Callable[[Store, Any], Awaitable[object]]
    fit: Callable[[Any], Any] = lambda command: command


async def _hide(store: Store, one: commands.CommitProjection) -> object:
    told = await store.append_messages(one.caller, [commands.Message("user", "hello")])
    return await store.commit_projection(replace(one, hidden=(told.last_seq,), reclaimed={}))


WRITES = {
    "pin_decision": Write(
        commands.PinDecision,
        lambda store, one: store.pin_decision(one),
        lambda one: replace(one, supersedes=()),
    ),
    "spill_artifact": Write(commands.SpillArtifact, lambda store, one: store.spill_artifact(one)),
    "checkpoint_state": Write(
        commands.CheckpointState,
        lambda store, one: store.checkpoint_state(one),
        lambda one: replace(one, fork_of=None),
    ),
    "start_session": Write(
        commands.StartSession,
        lambda store, one: store.start_session(one),
        lambda one: replace(one, fork_at=None),
    ),
    "append_messages": Write(
        commands.Message,
        lambda store, one: store.append_messages(
            one.pins[0].caller, [one], Filled().value(commands.TranscriptMark)
        ),
        lambda one: replace(one, pins=(replace(one.pins[0], supersedes=()),)),
    ),
    "commit_projection": Write(commands.CommitProjection, _hide),
    "record_fold": Write(commands.RecordFold, lambda store, one: store.record_fold(one)),
    "search_history": Write(
        commands.SearchHistory,
        lambda store, one: store.search_history(one),
        lambda one: replace(
            one, kinds=(), session=None, since=None, limit=5, cursor=None, missed=None, recorded=True
        ),
    ),
    "forget": Write(
        forgetting.Forget,
        lambda store, one: store.forget(one),
        lambda one: replace(one, pointers=(), session=None, before=None),
    ),
}
TAKES_COMMANDS = {
    name
    for name, method in inspect.getmembers(Store, inspect.isfunction)
    if any(kind.__name__ in str(inspect.signature(method).replace(return_annotation="")) for kind in COMMANDS)
}


def test_every_way_to_write_is_among_those_that_are_tried() -> None:
    assert TAKES_COMMANDS - {"forget_plan"} == set(WRITES)


@pytest.mark.anyio
@pytest.mark.parametrize("name", WRITES)
async def test_whatever_a_command_says_no_byte_of_the_store_holds_its_secrets(
    tmp_path: Path, name: str
) -> None:
    filled, write = Filled(), WRITES[name]
    command = write.fit(filled.value(write.kind))
    store = await open_store(tmp_path / "store", "demo")
    try:
        earlier = getattr(command, "match", None) or "something"  # what is forgotten has to be there
        await store.pin_decision(commands.PinDecision(Caller("client", "c"), earlier, "to begin with"))
        before = (await store.log_end()).seq
        await write.call(store, command)
        assert (await store.log_end()).seq > before
        where = everything(tmp_path)
    finally:
        await store.close()
    assert leaks(where | everything(tmp_path), filled.texts) == []
