"""Servers that live for a short time on one store: killed at some moment, or ended as a client does."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.history import Diary
from tests.faults.lines import Call, Server
from tests.faults.noting import ask, look, pinning, saving, spilling

AT_ONCE = 3
LONGEST_LIFE_S = 0.25
STARTING_S = 0.6


@dataclass
class Writer:
    """One client whose server is killed again and again. Calls that got no answer are sent again first."""

    diary: Diary
    home: Path
    project: Path
    draw: random.Random
    kills: int = 0
    in_flight: int = 0
    unanswered: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._calls = self._new_calls()

    def _new_calls(self) -> Iterator[Call]:
        for number in itertools.count():
            key = f"{self.diary.worker}-{number}"
            match number % 5:
                case 3:
                    yield spilling(key, self.draw.randrange(1, 4_000))
                case 4:
                    yield saving(key)
                case _:
                    yield pinning(key)

    def live_once(self) -> None:
        """Start a server, write, and have it killed at a random moment: sometimes while it still starts."""
        starting = self.draw.random() < 0.2
        delay = self.draw.uniform(0, STARTING_S if starting else LONGEST_LIFE_S)
        with Server(self.home, self.project, self.diary.worker) as server:
            death = threading.Timer(delay, os.kill, (server.process.pid, signal.SIGKILL))
            if starting:
                death.start()
            if server.shake_hands() and self._write(server):
                if not starting:
                    death.start()
                while self._write(server):
                    pass
            death.join()
            server.process.wait()
            self.kills += server.process.returncode == -signal.SIGKILL

    def _write(self, server: Server) -> bool:
        """Send some calls at once, those without an answer first; False when the server is gone."""
        fresh = itertools.islice(self._calls, AT_ONCE - len(self.unanswered))
        calls = [*self.unanswered, *fresh]
        answers = ask(server, self.diary, calls)
        self.unanswered = [call for call, answer in zip(calls, answers, strict=True) if answer is None]
        self.in_flight += bool(self.unanswered)
        return not self.unanswered

    def settle(self) -> None:
        """Send what never got an answer to a server that lives, until nothing is open."""
        if not self.unanswered:
            return
        with Server(self.home, self.project, self.diary.worker) as server:
            assert server.shake_hands()
            while self.unanswered:
                assert self._write(server)
            assert server.leave() == 0


def live_and_leave(home: Path, project: Path, diary: Diary, lives: int) -> None:
    """Begin a server, let it write and read, end it as a client does, and again: the last one out checkpoints."""
    for life in range(lives):
        with Server(home, project, diary.worker) as server:
            assert server.shake_hands()
            name = f"{diary.worker} life {life}"
            answers = ask(
                server, diary, [pinning(f"{name} a"), spilling(f"{name} b", 900), saving(f"{name} c")]
            )
            assert [answer.text for answer in answers if answer and answer.failed] == []
            look(server, diary)
            assert server.leave() == 0
