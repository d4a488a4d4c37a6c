"""What the log of a store tells of one conversation: the steps of its history, in the order of the log.

A conversation that was forked begins with what its origins had up to there. The same log gives the same steps, whoever
reads it and in however many parts. Source: design 1 (Resume, Fork), design 4.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from operator import itemgetter

from pinfold.context.projection.history import Folded, Hidden, Message, Role, Shortened, Step, Superseded
from pinfold.context.projection.shortening import one_line
from pinfold.store import Store
from pinfold.store.errors import DamagedError, NotFoundError
from pinfold.store.events import Body, Kind, body_of, digest_of
from pinfold.store.logged import LoggedEvent
from pinfold.store.results import Pin
from pinfold.store.values import Stale

Placed = tuple[int, Step]
"""A step and the seq at which it stands in the log."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_PAGE = 200
_SUMMARY_BYTES = 4 * 1024 * 1024
_NOW = 2**62


class LoggedHistory:
    """The steps of a session up to the seq `seen`.

    `entries` are its messages and summaries by number, as they are stored; `tokens` those of texts that were counted.
    """

    def __init__(self, store: Store, session: int) -> None:
        self.store = store
        self.session = session
        self.steps: list[Step] = []
        self.entries: dict[int, Message] = {}
        self.tokens: dict[str, int] = {}
        self._line: tuple[tuple[int, int], ...] = ()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.seen = 0
        self.steps.clear()
        self.tokens.clear()
        self.entries.clear()
        self._pins: dict[int, int] = {}

    async def read_on(self, until: int | None = None) -> None:
        """Take in what the log tells behind `seen`, up to a seq (default: its end).

        From the beginning where something was forgotten meanwhile. Raises `NotFoundError` for a seq behind the end,
        `DamagedError` for an event that is not as it was written.
        """
        end = await self._end(until)
        found, kinds = list[Placed](), set[str]()
        async for event, last in self._events(end):
            kinds.add(event.kind)
            if event.session == self.session or not self.seen:
                found.extend(await self._steps(event, last))
        if self.seen and Kind.ENTRY_FORGOTTEN in kinds:
            self._begin_anew()
            return await self.read_on(end)
        if not self.seen or Kind.DECISION_PINNED in kinds:
            found.extend([step async for step in self._pinned(end)])
        self.steps.extend(step for _, step in sorted(found, key=itemgetter(0)))
        self.seen = end
        return None

    async def _end(self, until: int | None) -> int:
        end = (await self.store.log_end()).seq
        if until is not None and until > end:
            raise NotFoundError(f"as of {until}", f"the log has {end} events", "Name an earlier seq.")
        return end if until is None else until

    async def _events(self, end: int) -> AsyncIterator[tuple[LoggedEvent, int]]:
        """Yield what is new in the log, of whatever session, and up to where it counts; at first only what may count.

        Folds are told anew behind that, without what was forgotten.
        """
        if self.seen:
            async for event in _log(self.store, self.seen):
                yield event, end
            return
        for session, last in await self._heritage():
            async for event in _log(self.store, 0, session):
                yield event, min(last, end)

    async def _steps(self, event: LoggedEvent, last: int) -> list[Placed]:
        if event.body is None:
            return []
        if digest_of(event.body) != event.body_digest:
            raise DamagedError(f"Event {event.seq}")
        body = body_of(event.body, event.version)
        place = body.get("of", {}).get("seq", event.seq) if event.kind == Kind.FOLD_RECORDED else event.seq
        if place > last:
            return []
        match event.kind:
            case Kind.MESSAGE_APPENDED:
                return [(event.seq, self._message(event.seq, body))]
            case Kind.PROJECTION_COMMITTED:
                return [(event.seq, step) for step in self._left_out(body)]
            case Kind.FOLD_RECORDED if body.get("summary"):
                return [(place, await self._fold(place, body))]
        return []

    def _message(self, seq: int, body: Body) -> Message:
        if body.get("exact") and not body.get("artifacts"):  # whose pointers follow what was counted
            self.tokens[body["text"]] = body.get("tokens", 0)
        message = self.entries[seq] = _message(seq, body)
        return message

    def _left_out(self, body: Body) -> Iterator[Step]:
        if body["hidden"]:
            yield Hidden(tuple(body["hidden"]))
        for seq, why in body["reclaimed"]:
            if seq in self.entries:
                yield Shortened(seq, one_line(self.entries[seq], Stale(why)), "reclaimed", why)

    async def _fold(self, place: int, body: Body) -> Folded:
        """Return a fold; a client's compaction stands for all that was said before."""
        summary = await self.store.artifact_bytes(body["summary"]["artifact"], 0, _SUMMARY_BYTES)
        text = summary.content.decode("utf-8", "replace")
        folded = tuple(body.get("folded") or (seq for seq in self.entries if seq < place))
        pointer = f"A{body['summary']['artifact']}"
        self.entries[place] = Message(place, "system", text, pointer=pointer)
        return Folded(place, folded, text)

    async def _pinned(self, end: int) -> AsyncIterator[Placed]:
        """Yield the pins that count here and are new, and which ones no longer hold."""
        inherited = dict(await self._heritage())
        known = dict(self._pins)
        for pin in reversed([pin async for pin in self._new_pins() if pin.seq <= end]):
            for place, old in enumerate(pin.supersedes, pin.seq + 1):
                if old in known:
                    yield place, Superseded(known[old])
            if pin.session_only and pin.seq > inherited.get(pin.session, 0):
                continue
            self._pins[pin.number] = pin.seq
            yield pin.seq, _pin(pin)
            if pin.superseded_seq is not None and pin.superseded_seq <= end:
                yield pin.superseded_seq, Superseded(pin.seq)

    async def _new_pins(self) -> AsyncIterator[Pin]:
        before: int | None = None
        while page := await self.store.pins(before, _PAGE):
            for pin in page:
                if pin.seq <= self.seen:
                    return
                yield pin
            before = page[-1].number

    async def _heritage(self) -> tuple[tuple[int, int], ...]:
        """Return the sessions that count and the seq up to which each does, the oldest first."""
        if not self._line:
            self._line = tuple([part async for part in _origins(self.store, self.session)])[::-1]
        return self._line


async def _origins(store: Store, session: int) -> AsyncIterator[tuple[int, int]]:
    last = _NOW
    while True:
        yield session, last
        [begun, *_] = await store.logged(0, session)
        if not begun.parent:
            return
        last = begun.parent
        [before, *_] = await store.logged(last - 1)
        session = before.session


async def _log(store: Store, after: int, session: int | None = None) -> AsyncIterator[LoggedEvent]:
    """Yield the events behind `after`, of one session or of all."""
    while slice_ := await store.logged(after, session):
        for event in slice_:
            yield event
        after = slice_[-1].seq


def _message(seq: int, body: Body) -> Message:
    text, tool = body["text"], body.get("tool", "")
    call = body.get("call_id") or f"H{seq}"
    pointer = f"A{body['artifacts'][0]}" if body.get("artifacts") else f"H{seq}"
    if body["role"] == "tool_call":
        return Message(seq, "assistant", "", calls=(call,), tool=tool, pointer=pointer, inputs=text)
    if body["role"] == "tool_result":
        [subject] = body["files"] if len(body.get("files", ())) == 1 else [""]
        return Message(seq, "tool", text, answers=call, tool=tool, subject=subject, pointer=pointer)
    return Message(seq, _ROLES.get(body["role"], "user"), text, pointer=pointer)


def _pin(pin: Pin) -> Message:
    """Return a pin as it is shown: its text and reason letter for letter."""
    why = f"\nWhy: {pin.why}" if pin.why else ""
    kind = pin.kind.value.replace("_", " ")
    text = f"[{pin.pointer} {kind}] {pin.text}{why}"
    return Message(pin.seq, "system", text, pointer=pin.pointer, pinned=True)
