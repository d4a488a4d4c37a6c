"""A log that is told to a store which holds another one: as calls, each under a name that makes it one for ever.

What was told before is passed over, so that joining can be interrupted, and done again when the source has grown.
"""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace

from pinfold.server.commands.asking import everything
from pinfold.server.copying.beginnings import digest_at
from pinfold.server.copying.heard import FORGOTTEN, Heard
from pinfold.server.copying.messages import Messages
from pinfold.server.copying.past import Past
from pinfold.server.copying.reading import Source
from pinfold.server.copying.retelling import (
    Told,
    amended_fold_of,
    artifact_of,
    checkpoint_of,
    fold_of,
    pin_of,
)
from pinfold.store import Progress, Store
from pinfold.store.commands import CheckpointState, SpillArtifact, StartSession
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.events import Kind
from pinfold.store.logged import LogEnd

_OUTCOME = "what stands before it is joined"
_FORGOTTEN = (
    "Something was forgotten in the source. What of it had been joined before stays; forget it there as well."
)
NAMES: dict[str, str] = {
    Kind.SESSION_STARTED: "session",
    Kind.MESSAGE_APPENDED: "message",
    Kind.DECISION_PINNED: "pin",
    Kind.ARTIFACT_SPILLED: "artifact",
    Kind.STATE_CHECKPOINTED: "checkpoint",
    Kind.FOLD_RECORDED: "fold",
}
"""What is joined, as it is counted."""


@dataclass
class Joining:
    """Tells what stands in `source` behind the event `common`, up to `end`, to `destination`.

    The first `common` events stand in both. `told` and `repeated` count by kind; `pointers` maps the source's to the
    destination's; `remarks` are sentences on what is not there as it was here.
    """

    source: Store
    destination: Store
    common: int
    end: LogEnd
    progress: Progress | None = None
    told: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    pointers: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    _same: set[str] = field(default_factory=set)
    _brought: list[Told] = field(default_factory=list)
    _forks: dict[int, Told] = field(default_factory=dict)

    async def run(self) -> None:
        """Tell all. Raises `DamagedError` for what is damaged in the source, and what the verbs raise."""
        self._read = Source(self.source, self.end, lambda: _OUTCOME)
        self._past = Past(self._read)
        beginning = await digest_at(self.source, self.common + 1)
        self._messages = await Messages.begin(self.destination, self._read, beginning, self.common)
        self._heard = Heard(self.destination, self._messages.since)
        await self._heard.catch_up()
        self._summaries = {
            fold.summary for fold in await everything(self.source.folds, lambda fold: fold.number)
        }
        async with self._messages:
            async for told in self._past.told():
                await (self._stays(told) if told.event.seq <= self.common else self._tell(told))
                if self.progress is not None:
                    self.progress(told.event.seq, self.end.seq)
            await self._finish()

    async def _finish(self) -> None:
        await self._flush()
        for fork in [*self._forks.values()]:
            await self._fork(fork)
        await self._heard.catch_up()
        for number in self._past.artifacts:
            pointer = self._mapped(f"A{number}")
            if pointer and f"A{number}" not in self._same:
                self.pointers[f"A{number}"] = pointer
        self.told["message"] += self._messages.appended
        self.repeated["message"] += self._messages.repeated

    async def _stays(self, told: Told) -> None:
        """Note what stands in both logs under the same number."""
        self._same.add(told.pointer)

    async def _tell(self, told: Told) -> None:
        if told.event.session in self._forks and not told.body.get("forked_from"):
            await self._fork(self._forks[told.event.session])
        match told.event.kind:
            case Kind.ARTIFACT_SPILLED:
                if told.body["number"] not in self._summaries:
                    self._brought.append(told)
            case Kind.MESSAGE_APPENDED:
                await self._message(told)
            case _:
                await self._flush()
                if not self._was_heard(told):
                    await self._tell_by_itself(told)

    async def _tell_by_itself(self, told: Told) -> None:
        """Searches, misses, their answers, and what requests left out are of the source alone."""
        match told.event.kind:
            case Kind.SESSION_STARTED:
                await self._session(told)
            case Kind.DECISION_PINNED:
                await self._pin(told)
            case Kind.STATE_CHECKPOINTED:
                await self._checkpoint(told)
            case Kind.FOLD_RECORDED:
                await self._fold(told)
            case Kind.ENTRY_FORGOTTEN if self._messages.is_again and _FORGOTTEN not in self.remarks:
                self.remarks.append(_FORGOTTEN)

    async def _flush(self) -> None:
        """Tell the messages that wait, and the artifacts that no message brought."""
        await self._messages.flush()
        brought, self._brought = self._brought, []
        for told in brought:
            if not self._was_heard(told):
                await self._artifact(told)

    def _was_heard(self, told: Told) -> bool:
        """Whether it was told before; then it has its pointer, or was forgotten there."""
        pointer = self._heard.pointer(told.name)
        if pointer == FORGOTTEN:
            self.remarks.append(f"{told.pointer} was forgotten in the destination, and stays so.")
        elif pointer is not None:
            self._note(told, pointer, repeated=True)
            fork = self._forks.pop(told.event.session, None)
            if fork is not None:
                self._note(fork, self._heard.session(told.name), repeated=True)
        return pointer is not None

    def _note(self, told: Told, pointer: str, *, repeated: bool) -> None:
        self.pointers[told.pointer] = pointer
        (self.repeated if repeated else self.told)[NAMES[told.event.kind]] += 1

    def _mapped(self, pointer: str) -> str | None:
        """Return what a pointer of the source is in the destination, None where it is not known there."""
        if pointer in self._same:
            return pointer
        if pointer in self.pointers:
            return self.pointers[pointer]
        number = int(pointer[1:])
        match pointer[0]:
            case "H":
                name = self._past.messages.get(number)
            case "A" if number in self._past.artifacts:
                name = self._past.artifacts[number].name
            case _:
                return None
        return (name and self._heard.pointer(name)) or None

    async def _message(self, told: Told) -> None:
        """Tell a message with what it brought; that stands right before it."""
        numbers = told.body.get("artifacts", ())
        if any(each.body["number"] not in numbers for each in self._brought):
            await self._flush()
        self._brought = []
        known = self._past.artifacts
        await self._messages.add(told, [known[number] for number in numbers if number in known])

    async def _artifact(self, told: Told) -> None:
        async with AsyncExitStack() as stack:
            content = await self._read.content(told.event, told.body, stack)
            if content is not None:
                done = await self.destination.spill_artifact(artifact_of(told, content))
                self._note(told, done.artifact.pointer, repeated=done.repeated)

    async def _session(self, told: Told) -> None:
        """Begin a session; the fork of one with the first that is told of it, which may bring a state along."""
        if told.body["origin"] and self._mapped(f"C{told.body['origin']}"):
            self._forks[told.event.session] = told
            return
        plain = StartSession(told.caller_there)
        for start in [*await self._forked(told, plain), plain]:
            with suppress(ConflictError):  # the conversation began elsewhere, and goes on there
                begun = await self.destination.start_session(start)
                self._note(told, f"s{begun.session}", repeated=begun.repeated)
                return

    async def _forked(self, told: Told, start: StartSession) -> list[StartSession]:
        """Return the start of a session that goes on from a message of another one."""
        if not told.event.parent:
            return []
        await self._heard.catch_up()
        place = self._mapped(f"H{told.event.parent}")
        return [replace(start, fork_at=int(place[1:]))] if place else []

    async def _fork(self, told: Told) -> None:
        """Begin a session that goes on from a checkpoint, without a state of its own."""
        del self._forks[told.event.session]
        if not self._was_heard(told):
            origin = self._mapped(f"C{told.body['origin']}") or ""
            fork = CheckpointState(told.caller_there, fork_of=int(origin[1:]), key=told.name)
            forked = await self.destination.checkpoint_state(fork)
            self._note(told, f"s{forked.session}", repeated=forked.repeated)

    async def _pin(self, told: Told) -> None:
        """Tell a pin; where what it replaces was replaced in the destination meanwhile, beside that."""
        replaced = [self._mapped(f"P{number}") for number in told.body["supersedes"]]
        wanted = tuple(int(pointer[1:]) for pointer in replaced if pointer)
        for supersedes in dict.fromkeys((wanted, ())):
            try:
                done = await self.destination.pin_decision(pin_of(told, supersedes))
            except (ConflictError, InvalidInputError, NotFoundError):
                continue
            self._note(told, done.pin.pointer, repeated=done.repeated)
            if supersedes != wanted:
                self.remarks.append(
                    f"{done.pin.pointer} replaces no other pin there: that was replaced before."
                )
            return
        self.remarks.append(f"{told.pointer} was not taken.")

    async def _checkpoint(self, told: Told) -> None:
        origin = told.body["forked_from"] and self._mapped(f"C{told.body['forked_from']}")
        command = checkpoint_of(told, int(origin[1:]) if origin else None)
        if command.fork_of is None and command.is_empty:
            return
        done = await self.destination.checkpoint_state(command)
        self._note(told, done.checkpoint.pointer, repeated=done.repeated)
        fork = self._forks.pop(told.event.session, None)
        if fork is not None:
            self._note(fork, f"s{done.session}", repeated=done.repeated)

    async def _fold(self, told: Told) -> None:
        """Tell a fold under the client's own key: the destination may know it from the client's transcript."""
        body = told.body
        first = self._past.folds.get(body["number"])
        if first is None:
            return
        await self._heard.catch_up()
        key = self._past.fold_keys.get(body.get("of", {}).get("seq", told.event.seq), told.name)
        async with AsyncExitStack() as stack:
            summary = await self._summary(first, stack)
            amends = body.get("amends", False)
            command = (
                amended_fold_of(told, key, summary) if amends else fold_of(told, key, self._mapped, summary)
            )
            try:
                done = await self.destination.record_fold(command)
            except NotFoundError:
                self.remarks.append(f"{told.pointer} was forgotten in the destination, and stays so.")
                return
        if not amends:
            self._note(told, done.fold.pointer, repeated=done.repeated)
        if body.get("summary") and done.fold.summary:
            self.pointers[f"A{body['summary']['artifact']}"] = f"A{done.fold.summary}"

    async def _summary(self, fold: Told, stack: AsyncExitStack) -> SpillArtifact | None:
        kept = fold.body["summary"] and self._past.artifacts.get(fold.body["summary"]["artifact"])
        content = await self._read.content(kept.event, kept.body, stack) if kept else None
        return artifact_of(kept, content) if kept and content else None
