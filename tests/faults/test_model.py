"""Any order of calls, retries, cancels, crashes, restarts, handles and clock jumps, against a plain model.

Each failure prints the steps that lead to it.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pinfold.store.commands import CheckpointState, Message, PinDecision, RecordFold
from pinfold.store.errors import ConflictError, NotFoundError, UnknownOutcomeError
from pinfold.store.forgetting import Forget
from pinfold.store.results import PinnedDecision
from pinfold.store.sql import transaction
from pinfold.store.sql.store import SqlStore
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller, Pointer, PointerKind, Receipt
from tests.contract.acts import find, spill
from tests.faults.plain_model import Model, ModelPin

T = TypeVar("T")
FAST = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
CALLERS = (Caller("claude-code", "anna"), Caller("codex", "ben"))
CLI = Caller("command-line", "command-line", actor="cli")
_portal: BlockingPortal | None = None


class Clock:
    """Stands in for `datetime` where a transaction reads the time: `offset` is how far the clock is off."""

    offset = timedelta()
    stands: datetime | None = None

    @classmethod
    def now(cls, zone: Any) -> datetime:
        return (cls.stands or datetime.now(zone)) + cls.offset


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    global _portal  # noqa: PLW0603 - one event loop for all examples
    monkeypatch.setattr(transaction, "datetime", Clock)
    with start_blocking_portal() as portal:
        _portal = portal
        yield
    _portal = None


class StoreMachine(RuleBasedStateMachine):
    """One project's store under several handles, and another project beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir=FAST))
        self.crashes = 0
        self.folder = self.root / "0"
        self.model = Model()
        self.words = 0
        self.handles: list[Any] = []
        self.threads = {thread.ident for thread in threading.enumerate()}

    def run(self, act: Callable[[], Coroutine[Any, Any, T]]) -> T:
        assert _portal is not None
        outcome: T = _portal.call(act)
        return outcome

    async def open_project(self, name: str) -> SqlStore:
        """Open the store of the project under test, or of the one beside it."""
        return await open_store(self.folder if name == "demo" else self.root / name, name)

    def committing(self, handle: Any) -> Any:
        """Return what has the method `_commit`, the last step of a handle's write."""
        return handle._writer._pen

    def scrub(self, handle: Any) -> None:
        """Leave nothing of the forgotten behind."""
        assert self.run(handle.scrub).owed is None

    def any_handle(self, draw: int) -> Any:
        return self.handles[draw % len(self.handles)]

    def word(self) -> str:
        self.words += 1
        return f"word{self.words}"

    def acknowledged(self, receipt: Receipt) -> None:
        self.model.receipts.append(str(receipt))

    # --- handles, crashes, clocks ---

    @initialize()
    def begin(self) -> None:
        Clock.offset, Clock.stands = timedelta(), None
        self.open_handle()
        self.other = self.run(lambda: self.open_project("other"))
        self.run(lambda: self.other.pin_decision(PinDecision(CALLERS[0], "elsewhere word1", "apart")))

    @rule()
    @precondition(lambda self: len(self.handles) < 3)
    def open_handle(self) -> None:
        self.handles.append(self.run(lambda: self.open_project("demo")))

    @rule(which=st.integers(0, 9))
    @precondition(lambda self: len(self.handles) > 1)
    def close_handle(self, which: int) -> None:
        self.run(self.handles.pop(which % len(self.handles)).close)

    @rule()
    def crash(self) -> None:
        """Go on with what a killed process would leave: the files as they lie, nothing closed."""
        self.crashes += 1
        after = self.root / str(self.crashes)
        shutil.copytree(self.folder, after)
        for handle in self.handles:
            self.run(handle.close)
        self.folder, self.handles = after, []
        self.open_handle()

    @rule(days=st.sampled_from([-3_650, -1, 0, 1, 3_650]), stands=st.booleans())
    def jump(self, days: int, stands: bool) -> None:
        Clock.offset = timedelta(days=days)
        Clock.stands = datetime(2026, 3, 29, 1, 0, tzinfo=UTC) if stands else None

    @rule(which=st.integers(0, 9))
    def rebuild(self, which: int) -> None:
        self.run(self.any_handle(which).rebuild)

    # --- pins ---

    def new_pin(self, who: int, supersedes: tuple[int, ...] = ()) -> PinDecision:
        word = self.word()
        return PinDecision(
            CALLERS[who], f"use {word} = {len(word)}", f"why {word}", supersedes=supersedes, key=word
        )

    def keep(self, command: PinDecision, made: PinnedDecision) -> None:
        assert made.pin.number == self.model.next_number("P", self.model.pins)
        self.model.pins[made.pin.number] = ModelPin(command, str(made.receipt))
        for old in command.supersedes:
            self.model.pins[old].by = made.pin.number
        self.acknowledged(made.receipt)

    @rule(which=st.integers(0, 9), who=st.integers(0, 1), old=st.integers(0, 9), replaces=st.booleans())
    def pin(self, which: int, who: int, old: int, replaces: bool) -> None:
        live = list(self.model.live)
        command = self.new_pin(who, (live[old % len(live)],) if live and replaces else ())
        self.keep(command, self.run(lambda: self.any_handle(which).pin_decision(command)))

    @rule(which=st.integers(0, 9), old=st.integers(0, 99), other=st.booleans())
    @precondition(lambda self: self.model.pins)
    def pin_again(self, which: int, old: int, other: bool) -> None:
        """The same key: the same pin, or a conflict where the arguments are others."""
        number = list(self.model.pins)[old % len(self.model.pins)]
        kept = self.model.pins[number]
        command = kept.command
        if other:
            command = PinDecision(command.caller, "something else", command.why, key=command.key)
            with pytest.raises(ConflictError):
                self.run(lambda: self.any_handle(which).pin_decision(command))
            return
        again = self.run(lambda: self.any_handle(which).pin_decision(command))
        assert (again.pin.number, again.repeated, str(again.receipt)) == (number, True, kept.receipt)

    @rule(which=st.integers(0, 9), commits=st.booleans(), crashes=st.booleans())
    def pin_with_unknown_outcome(self, which: int, commits: bool, crashes: bool) -> None:
        """The commit fails, before or after it took place; a retry, perhaps after a crash, finds out."""
        command = self.new_pin(0)
        handle = self.any_handle(which)
        pen = self.committing(handle)
        commit = pen._commit

        def fail(db: Any) -> None:
            if commits:
                commit(db)
            else:
                db.execute("ROLLBACK")
            raise UnknownOutcomeError("SQLITE_IOERR_FSYNC")

        pen._commit = fail
        with pytest.raises(UnknownOutcomeError):
            self.run(lambda: handle.pin_decision(command))
        pen._commit = commit
        if crashes:
            self.crash()
        again = self.run(lambda: self.any_handle(which).pin_decision(command))
        assert again.repeated is commits
        self.keep(command, again)

    @rule(which=st.integers(0, 9), yields=st.integers(0, 12))
    def pin_and_cancel(self, which: int, yields: int) -> None:
        """A caller that is cancelled after some turns of the loop: whole or absent, and the retry is one pin."""
        command = self.new_pin(1)
        handle = self.any_handle(which)

        async def cancelled() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(handle.pin_decision, command)
                for _ in range(yields):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()

        self.run(cancelled)
        self.keep(command, self.run(lambda: self.any_handle(which + 1).pin_decision(command)))

    # --- artifacts, checkpoints, messages, folds ---

    @rule(which=st.integers(0, 9), content=st.binary(max_size=300), times=st.sampled_from([1, 3, 700]))
    def spill(self, which: int, content: bytes, times: int) -> None:
        label = self.word()
        made = self.run(lambda: spill(self.any_handle(which), content * times, label=label, key=label))
        assert made.artifact.number == self.model.next_number("A", self.model.artifacts)
        self.model.artifacts[made.artifact.number] = content * times
        self.acknowledged(made.receipt)

    @rule(which=st.integers(0, 9), number=st.integers(0, 99), start=st.integers(0, 999))
    @precondition(lambda self: self.model.artifacts)
    def fetch(self, which: int, number: int, start: int) -> None:
        known = list(self.model.artifacts)
        chosen = known[number % len(known)]
        content = self.model.artifacts[chosen]
        got = self.run(lambda: self.any_handle(which).artifact_bytes(chosen, start, 10**9))
        assert got.content == content[start:]

    @rule(which=st.integers(0, 9), who=st.integers(0, 1))
    def checkpoint(self, which: int, who: int) -> None:
        goal = self.word()
        command = CheckpointState(CALLERS[who], goal, pending=(f"do {goal}",), key=goal)
        handle = self.any_handle(which)
        saved = self.run(lambda: handle.checkpoint_state(command))
        again = self.run(lambda: self.any_handle(which + 1).checkpoint_state(command))
        assert (again.repeated, again.checkpoint.number) == (True, saved.checkpoint.number)
        number = saved.checkpoint.number
        assert number == self.model.next_number("C", self.model.checkpoints)
        self.model.checkpoints[number] = goal
        self.model.latest[CALLERS[who].conversation] = number
        self.acknowledged(saved.receipt)

    @rule(which=st.integers(0, 9), who=st.integers(0, 1), origin=st.integers(0, 99))
    @precondition(lambda self: self.model.checkpoints)
    def fork(self, which: int, who: int, origin: int) -> None:
        known = list(self.model.checkpoints)
        number = known[origin % len(known)]
        handle = self.any_handle(which)
        saved = self.run(lambda: handle.checkpoint_state(CheckpointState(CALLERS[who], fork_of=number)))
        assert saved.forked_from == number
        self.model.latest[CALLERS[who].conversation] = number
        self.acknowledged(saved.receipt)

    @rule(which=st.integers(0, 9), ids=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4))
    def say(self, which: int, ids: list[str]) -> None:
        handle = self.any_handle(which)
        known = self.model.known_ids.setdefault("anna", set())
        session = self.run(lambda: handle.brief_state(CALLERS[0])).session
        scoped = [f"{session}:{one}" for one in ids]
        texts = {one: self.word() for one in dict.fromkeys(scoped)}
        messages = [Message("user", texts[one], one) for one in scoped]
        done = self.run(lambda: handle.append_messages(CALLERS[0], messages))
        if session is None:  # the first write began the session; its ids are not scoped by it
            known |= set(scoped)
        fresh = [one for one in texts if one not in known or session is None]
        assert done.appended == len(fresh)
        for offset, one in enumerate(reversed(fresh)):
            self.model.messages[done.last_seq - offset] = texts[one]
        known |= set(scoped)

    @rule(which=st.integers(0, 9))
    def fold(self, which: int) -> None:
        offered = tuple((f"H{seq}", text) for seq, text in list(self.model.messages.items())[:2])
        key = self.word()
        lost = dict.fromkeys(self.model.live, ("7",))
        command = RecordFold(CALLERS[0], key, "auto", offered=offered, lost=lost)
        made = self.run(lambda: self.any_handle(which).record_fold(command))
        again = self.run(lambda: self.any_handle(which + 1).record_fold(command))
        assert (again.repeated, again.fold.number) == (True, made.fold.number)
        assert made.fold.number == self.model.next_number("F", self.model.folds)
        self.model.folds[made.fold.number] = key

    # --- forgetting ---

    @rule(
        which=st.integers(0, 9), kind=st.sampled_from("PACHF"), index=st.integers(0, 99), scrubs=st.booleans()
    )
    def forget(self, which: int, kind: str, index: int, scrubs: bool) -> None:
        shelves: dict[str, dict[int, Any]] = {
            "P": self.model.pins,
            "A": self.model.artifacts,
            "C": self.model.checkpoints,
            "H": self.model.messages,
            "F": self.model.folds,
        }
        known = list(shelves[kind])
        if not known:
            return
        pointer = Pointer(PointerKind(kind), known[index % len(known)])
        handle = self.any_handle(which)
        done = self.run(lambda: handle.forget(Forget(CLI, (pointer,))))
        for each in done.plan.doomed:
            shelves[each.pointer[0]].pop(int(each.pointer[1:]))
            self.model.forgotten.add(each.pointer)
        assert str(pointer) in self.model.forgotten
        assert done.receipt is not None
        self.acknowledged(done.receipt)
        if scrubs:
            self.scrub(handle)

    # --- reading ---

    @rule(which=st.integers(0, 9), index=st.integers(0, 99))
    def find_one(self, which: int, index: int) -> None:
        """What is there is found by its word, what was forgotten is not, and nothing of the other project is."""
        texts = {f"H{seq}": word for seq, word in self.model.messages.items()}
        texts |= {f"C{number}": goal for number, goal in self.model.checkpoints.items()}
        texts |= {f"P{number}": str(pin.command.key) for number, pin in self.model.live.items()}
        if not texts:
            return
        pointer = list(texts)[index % len(texts)]
        page = self.run(lambda: find(self.any_handle(which), texts[pointer], limit=50))
        assert pointer in [hit.pointer for hit in page.hits]
        assert not any("elsewhere" in hit.snippet for hit in page.hits)

    @rule(which=st.integers(0, 9), size=st.integers(1, 4))
    def walk_pages(self, which: int, size: int) -> None:
        async def walk() -> list[int]:
            seen: list[int] = []
            while page := await self.any_handle(which).pins(seen[-1] if seen else None, size):
                seen += [one.number for one in page]
            return seen

        assert self.run(walk) == sorted(self.model.pins, reverse=True)

    @rule(which=st.integers(0, 9), index=st.integers(0, 99))
    @precondition(lambda self: self.model.forgotten)
    def the_forgotten_say_so(self, which: int, index: int) -> None:
        pointer = sorted(self.model.forgotten)[index % len(self.model.forgotten)]
        handle, number = self.any_handle(which), int(pointer[1:])
        read = {
            "P": handle.pin,
            "A": handle.artifact,
            "C": handle.checkpoint,
            "H": handle.entry,
            "F": handle.fold,
        }[pointer[0]]
        with pytest.raises(NotFoundError, match="forgotten"):
            self.run(lambda: read(number))

    @invariant()
    def what_is_acknowledged_is_there(self) -> None:
        if not self.handles:
            return
        handle = self.handles[-1]
        pins = self.run(lambda: handle.pins(None, 500))
        assert {pin.number: (pin.text, pin.superseded_by) for pin in pins} == {
            number: (pin.command.text, pin.by) for number, pin in self.model.pins.items()
        }
        brief = self.run(lambda: handle.brief_state(CALLERS[1]))
        assert [pin.number for pin in brief.pins if pin.superseded_by is None] == sorted(self.model.live)
        assert len(self.run(lambda: self.other.pins(None, 9))) == 1

    def teardown(self) -> None:
        try:
            if self.handles:
                self._check_at_the_end()
        finally:
            for handle in self.handles:
                self.run(handle.close)
            if hasattr(self, "other"):
                self.run(self.other.close)
            shutil.rmtree(self.root)

    def _check_at_the_end(self) -> None:
        """The chain holds with every receipt, and all that is derived is what the log derives."""
        receipts = [Receipt.read(text) for text in self.model.receipts]
        report = self.run(lambda: self.handles[0].verify(receipts=receipts))
        assert report.problems == ()
        assert list(report.held) == receipts
        for number, content in self.model.artifacts.items():
            assert self.run(lambda n=number: self.handles[0].artifact_bytes(n, 0, 10**9)).content == content  # type: ignore[misc]


def machine_settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("examples", "steps"), [(25, 25), pytest.param(80, 40, marks=pytest.mark.full)], ids=["some", "many"]
)
def test_whatever_happens_the_store_is_as_the_model_says(examples: int, steps: int) -> None:
    run_state_machine_as_test(StoreMachine, settings=machine_settings(examples, steps))
