"""Thousands of generated lines at one real server: requests among mutated ones, noise and cancels. P19, P20."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.server.peer import Answer, Peer, call, request, serving

BATCH_LINES = 50
_MOST_GROWTH_BYTES = 96 * 1024 * 1024
_TEXTS = ("gazebo", "数据库 🎉", "\u2028\u2029\x85", "\x1b[2J", "a" * 5_000, "", "\\ud800", "null")
_METHODS = ("ping", "tools/list", "resources/list", "prompts/list", "no/such", "", "tools/call", "initialize")
_PARAMS: tuple[Any, ...] = (
    {},
    [],
    None,
    "x",
    7,
    {"name": 1},
    {"name": "pin_decision"},
    {"cursor": []},
    {"_meta": 1},
)


@dataclass
class Generated:
    """Lines. `owed` must be answered once, `cancelled` at most once; `noise` counts what may get an error."""

    dice: random.Random
    lines: list[bytes] = field(default_factory=list)
    owed: list[object] = field(default_factory=list)
    cancelled: list[object] = field(default_factory=list)
    noise: int = 0

    def add(self) -> None:
        """Add one line of some kind."""
        self.dice.choice((self._sound, self._sound, self._odd, self._mutated, self._bytes, self._cancelled))()

    def _id(self) -> object:
        number = self.dice.getrandbits(52)
        return self.dice.choice((number, f"r-{number:x}", -number, f"ü {number} \u2028"))

    def _message(self, request_id: object) -> Answer:
        text = self.dice.choice(_TEXTS)
        return self.dice.choice(
            (
                call(request_id, "search_history", query=f"{text} gazebo"),
                call(request_id, "pin_decision", text=f"pergola {text}", why="measured"),
                call(request_id, "fetch_pointer", pointer=text),
                request(request_id, "tools/list"),
                request(request_id, "no/such"),
            )
        )

    def _line(self, message: Answer) -> bytes:
        return json.dumps(message, ensure_ascii=self.dice.random() < 0.5).encode() + b"\n"

    def _sound(self) -> None:
        request_id = self._id()
        self.owed.append(request_id)
        self.lines.append(self._line(self._message(request_id)))

    def _odd(self) -> None:
        """A JSON-RPC request with anything for its parameters; its id is readable, so it is answered."""
        request_id = self._id()
        self.owed.append(request_id)
        odd = {"jsonrpc": "2.0", "id": request_id, "method": self.dice.choice(_METHODS)}
        self.lines.append(self._line(odd | {"params": self.dice.choice(_PARAMS)}))

    def _mutated(self) -> None:
        line = bytearray(self._line(self._message(self._id())))
        for _ in range(self.dice.randrange(1, 6)):
            at = self.dice.randrange(len(line) - 1)
            line[at : at + self.dice.randrange(3)] = self.dice.randbytes(self.dice.randrange(3))
        self._noise(bytes(line))

    def _bytes(self) -> None:
        kinds = (
            b"{",
            b"[]",
            b"[" * 200,
            b'{"id": 1',
            b"null",
            b'"text"',
            b"\xff\xfe",
            b"{}",
            b"1e999",
            b"NaN",
        )
        self._noise(self.dice.choice((*kinds, self.dice.randbytes(self.dice.randrange(200)))) + b"\n")

    def _noise(self, line: bytes) -> None:
        line = line if line.endswith(b"\n") else line + b"\n"
        self.lines.append(line)
        self.noise += line.count(b"\n") + line.count(b"\r")

    def _cancelled(self) -> None:
        request_id = self._id()
        self.cancelled.append(request_id)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
        self.lines += [self._line(self._message(request_id)), self._line(cancel)]


def _answers(peer: Peer, lines: list[bytes], last: str) -> list[Answer]:
    """Send lines and then one more; return all answers up to and with that one's."""
    peer.send(*lines, request(last, "tools/list"))
    found: list[Answer] = []
    while not found or found[-1].get("id") != last:
        answer = peer.receive()
        assert answer is not None, peer.noted
        found.append(answer)
    return found


def _settle(peer: Peer, seen: Counter[object], owed: list[object]) -> None:
    """Read on until all that is owed has come; a search may be slower than what was asked later."""
    while any(not seen[each] for each in owed):
        answer = peer.receive()
        assert answer is not None, peer.noted
        seen[answer["id"]] += 1


def _resident_bytes(peer: Peer) -> int:
    status = Path(f"/proc/{peer.server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("batches", [12, pytest.param(100, marks=pytest.mark.full)])
def test_each_readable_id_is_answered_once_whatever_else_is_sent(
    home: Path, project: Path, batches: int
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    dice = random.Random(seed)
    seen: Counter[object] = Counter()
    known: set[object] = set()
    noise = sent = 0
    with serving(PINFOLD_HOME=str(home), PINFOLD_PROJECT=str(project)) as peer:
        for batch in range(batches):
            made = Generated(dice)
            for _ in range(BATCH_LINES):
                made.add()
            last = f"last of {batch}"
            seen.update(each["id"] for each in _answers(peer, made.lines, last))
            _settle(peer, seen, made.owed)
            noise += made.noise
            sent += len(made.lines)
            known |= {last, *made.owed, *made.cancelled}
            assert [each for each in made.owed if seen[each] != 1] == [], seed
            if batch == 2:
                before = _resident_bytes(peer)
        grown = _resident_bytes(peer) - before
        assert peer.server.poll() is None
        peer.stdin.close()
        assert peer.server.wait(10) == 0
    print(f"seed {seed}: {sent} lines, {noise} of noise, {seen.total()} answers, {grown // 1024} KiB grown")
    assert noise > sent / 5
    assert max(count for each, count in seen.items() if each in known) == 1, seed
    assert sum(count for each, count in seen.items() if each not in known) <= noise, seed
    assert grown < _MOST_GROWTH_BYTES, seed
