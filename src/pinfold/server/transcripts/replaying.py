"""A transcript as a replay takes it: what was said, when the model was asked, when its client folded.

In one pass and in the memory of its longest line. Pictures and a model's thoughts are not counted.
Source: design 4 (replay).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pinfold.context.lab.rent import Usage
from pinfold.context.lab.replay import Replay
from pinfold.context.lab.replayed import Replayed
from pinfold.context.pin_lines import pin_text
from pinfold.context.projection import Message, Policy
from pinfold.context.said import LABELS, said
from pinfold.server.transcripts.finding import Found
from pinfold.server.transcripts.follow import said as items_of
from pinfold.server.transcripts.items import Compacted, Spoken
from pinfold.server.transcripts.lenient import parsed
from pinfold.server.transcripts.lines import LeftOut, Lines, first_lines
from pinfold.server.transcripts.usage import Figures
from pinfold.store import Progress

_MAX_SUBJECT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Played:
    """A transcript that was replayed. `unknown` are lines that could not be read, or say what nothing is known of."""

    replayed: Replayed
    usages: list[Usage]
    unknown: LeftOut


def model_of(found: Found) -> str | None:
    """Return the model that a transcript's beginning names, None where it names none. Raises `OSError`."""
    for line in first_lines(found.path):
        match parsed(line):
            case {"type": "assistant", "message": {"model": str(model)}} if model != "<synthetic>":
                return model
            case {"type": "turn_context", "payload": {"model": str(model)}}:
                return model
    return None


async def play(found: Found, policy: Policy, progress: Progress | None = None) -> Played:
    """Replay a transcript; `progress` is told the bytes read, of how many. Raises `OSError`."""
    reading = _Reading(found, policy)
    lines = Lines(found.path)
    for line in lines.telling(progress):
        for item in items_of(reading.form, line, lines.left_out):
            await reading.take(item)
        reading.count(line.content)
    return Played(reading.replay.result(), reading.figures.in_order(), lines.left_out)


class _Reading:
    """One reading of one transcript."""

    def __init__(self, found: Found, policy: Policy) -> None:
        self.form = found.format(own_tools=True)
        self.replay = Replay(policy)
        self.figures = Figures(found.client)
        self._speaker = found.heading.agent
        self._request: str | None = None
        self._is_answering = False
        self._asked_at: datetime | None = None
        self._figure: tuple[str, Usage] | None = None
        self._calls: dict[str, str] = {}
        self._pinned: set[str] = set()
        self._number = 0

    async def take(self, item: Spoken | Compacted) -> None:
        """Take in one item; sub-agents speak in conversations of their own."""
        if isinstance(item, Compacted):
            self._is_answering = False
            self._calls.clear()
            self.replay.fold(item.summary, item.tokens_after)
        elif item.agent in (None, self._speaker):
            await self._hear(item)

    def count(self, line: bytes) -> None:
        """Take in a line's figures. Some clients write them before what was said, some behind it."""
        figure = self.figures.take(line)
        if figure is None:
            return
        self._figure = figure
        if self._request in (None, figure[0]):
            self.replay.report(figure[1].prompt)

    async def _hear(self, item: Spoken) -> None:
        if item.role in ("assistant", "tool_call"):
            if self._begins(item):
                await self._ask(item)
            self._is_answering = True
        else:
            self._is_answering = False
        self.replay.say(self._message(item))
        self._pin(item)

    def _begins(self, item: Spoken) -> bool:
        """Whether the model says this in answer to another request than what it said before."""
        if item.request is None:
            return not self._is_answering
        return item.request != self._request

    async def _ask(self, item: Spoken) -> None:
        at = None if item.at is None else datetime.fromisoformat(item.at)
        idle_s = (at - self._asked_at).total_seconds() if at and self._asked_at else 0.0
        self._asked_at = at or self._asked_at
        await self.replay.ask(item.at, idle_s)
        self._request = item.request
        if self._figure is not None and self._figure[0] == item.request:
            self.replay.report(self._figure[1].prompt)

    def _message(self, item: Spoken) -> Message:
        match item.role:
            case "tool_call":
                calls = (self._call(item.call_id),) if item.call_id else ()
                return Message(0, "assistant", "", calls, inputs=item.text)
            case "tool_result":
                return self._result(item)
            case "user":
                return Message(0, "user", item.text)
        return Message(0, "assistant", item.text)

    def _call(self, call_id: str) -> str:
        """Return a name of its own for a call: some providers give the same one to several."""
        self._number += 1
        self._calls[call_id] = name = f"{call_id} {self._number}"
        return name

    def _result(self, item: Spoken) -> Message:
        """A result as if kept behind a pointer. What comes later of a call that was answered stands alone."""
        self._number += 1
        shown = " ".join(item.ran.split())
        return Message(
            0,
            "tool",
            item.text,
            answers=self._calls.pop(item.call_id or "", ""),
            tool=item.tool or "",
            subject=shown if len(shown) <= _MAX_SUBJECT_CHARS else "",
            pointer=f"H{self._number}",
        )

    def _pin(self, item: Spoken) -> None:
        """Pin the decisions that were said, each once, as pinfold shows them."""
        if item.role not in ("user", "assistant") or not any(label in item.text for label in LABELS):
            return
        for each in said(item.text):
            if each.fault is None and each.text not in self._pinned:
                self._pinned.add(each.text)
                self.replay.say(Message(0, "system", pin_text(each.text, each.why), pinned=True))
