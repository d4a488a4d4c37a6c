"""One simulated coding agent, a process of its own: what its client and its hooks ask of the server, turn by turn."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

from benchmarks.team.line import AwayError, FailedError, Line
from benchmarks.text import Prose
from pinfold.store.commands import Message
from pinfold.store.errors import BusyError, PinfoldError, UnknownOutcomeError, UnreachableError
from pinfold.store.remote.address import read_address
from pinfold.store.remote.direct import RemoteSyncStore, open_remote_direct
from pinfold.store.values import Caller

TURN = (
    (
        "brief search fetch import pin fetch spill search fetch import checkpoint fetch"  # hooks: brief and import
    ).split()
)
"""What an agent asks in one turn; each agent begins at another place of it."""

MESSAGES = 6
"""How many messages one import brings, of about 400 characters each."""

SPILLED_CHARS = 16_000
_AGAIN_S = 0.1
_AWAY = (AwayError, UnreachableError, UnknownOutcomeError)


@dataclass(frozen=True, slots=True)
class Orders:
    """What one agent is to do: `calls` in all, with a pause of `pause_s` between two at the middle."""

    number: int
    port: int
    project: str
    token: str
    calls: int
    pause_s: float


@dataclass(slots=True)
class Told:
    """What an agent saw: seconds of each answered call, what failed, and how often it asked again."""

    took: dict[str, list[float]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    retried: int = 0


class Agent:
    """Carries out its orders; what was not answered is asked again, with the same key, until it is."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._name = f"agent-{orders.number}"
        self._line = Line(orders.port, orders.project, orders.token, self._name)
        self._hooks: RemoteSyncStore | None = None
        self._prose = Prose(orders.number)
        self._chance = random.Random(orders.number)
        self._caller = Caller("benchmark", self._name, actor="hook")
        self._acts: dict[str, Callable[[str], object]] = {
            "brief": lambda _: self._store().brief_state(self._caller),
            "import": self._import,
            "pin": self._pin,
            "spill": self._spill,
            "checkpoint": self._checkpoint,
            "search": lambda _: self._line.call("search_history", query=self._prose.words(2)),
            "fetch": lambda _: self._line.call("fetch_pointer", pointer=self._pointer),
        }
        self._pointer = "brief"

    def work(self, count: Callable[[], None]) -> Told:
        """Do everything, calling `count` after each answer."""
        told = Told()
        for at in range(self._orders.calls):
            act = TURN[(at + self._orders.number) % len(TURN)]
            time.sleep(self._chance.uniform(0, 2 * self._orders.pause_s))
            try:
                told.took.setdefault(act, []).append(self._timed(act, f"{self._name}-{at}", told))
            except (FailedError, PinfoldError) as error:
                told.failed.append(f"{act}: {error}")
            count()
        return told

    def _timed(self, act: str, key: str, told: Told) -> float:
        """Do one thing until it is answered; return the seconds of the attempt that was."""
        ends = time.monotonic() + 120
        while True:
            began = time.perf_counter()
            try:
                self._acts[act](key)
                return time.perf_counter() - began
            except _AWAY:
                if time.monotonic() > ends:
                    raise FailedError(f"{act}: away for two minutes") from None
            except BusyError:
                pass
            told.retried += 1
            time.sleep(_AGAIN_S)

    def _store(self) -> RemoteSyncStore:
        """Return the store as hooks open it, over a connection of its own."""
        if self._hooks is None:
            url = f"http://127.0.0.1:{self._orders.port}/p/{self._orders.project}"
            self._hooks = open_remote_direct(read_address(url, self._orders.token), "benchmark")
        return self._hooks

    def _import(self, key: str) -> None:
        messages = [
            Message(("user", "assistant")[n % 2], _said(f"{key}-{n}"), f"{key}-{n}", tokens=100)
            for n in range(MESSAGES)
        ]
        self._store().append_messages(self._caller, messages)

    def _pin(self, key: str) -> None:
        text = f"{_said(key)[:160]} at {self._orders.number} ms"
        self._pointer = self._line.call("pin_decision", text=text, why="it was measured", key=key)["pointer"]

    def _spill(self, key: str) -> None:
        content = (_said(key) + "\n") * (SPILLED_CHARS // 400)
        self._line.call("spill_artifact", label=key, content=content, key=key)

    def _checkpoint(self, key: str) -> None:
        self._line.call("checkpoint_state", goal=_said(key)[:120], key=key)

    def close(self) -> None:
        """Let go of its connections."""
        self._line.close()
        if self._hooks is not None:
            self._hooks.close()


def _said(key: str) -> str:
    """Return a text of about 400 characters, the same for the same key."""
    return f"{key}: {Prose(crc32(key.encode())).words(50)}"
