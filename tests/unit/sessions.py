"""Sessions made up for tests: what an agent reads, edits and says about a project, with work that drifts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import Any

from pinfold.context.specifics import specifics
from pinfold.store.results import Entry, FoldedPart, Pin
from pinfold.store.values import PinKind

AT = "2026-01-02T03:04:05.000000Z"
ROOT = "/home/ada/tidewater"
_STEMS = (
    "auth token session cache queue worker proxy index search render parse schema store config client"
    " server router metric report export import retry lease shard ledger invoice order user account mail".split()
)
_VERBS = "get set load save open close build parse merge rotate purge fetch apply check count".split()


def entry(seq: int, role: str, text: str) -> Entry:
    return Entry(seq, AT, 1, role, text, None, None, None, 0, tokens_estimated=True)


def pin(number: int, text: str, why: str = "", **more: Any) -> Pin:
    about: dict[str, Any] = {
        "seq": 2,
        "session": 1,
        "kind": PinKind.DECISION,
        "specifics": specifics(f"{text} {why}"),
    } | more
    return Pin(
        number, at=AT, actor="agent", text=text, why=why, session_only=False, files=(), tokens=9, **about
    )


def part(*entries: Entry, pins: tuple[Pin, ...] = ()) -> FoldedPart:
    """Build what a fold takes of session 1, which began at seq 5."""
    return FoldedPart(1, 5, entries, pins)


@dataclass
class Session:
    """A seeded conversation. `used` are the strings that each of its entries uses."""

    seed: int
    entries: list[Entry] = field(default_factory=list)
    used: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._used: list[str] = []
        pick = self._random.choice
        folders = [
            "src",
            "tests",
            *(f"src/{stem}" for stem in self._random.sample(_STEMS, 7)),
            "docs",
            "tests/unit",
        ]
        often = [1 / place for place in range(1, len(folders) + 1)]
        files = [f"{stem}_{verb}.py" for stem in _STEMS for verb in _VERBS[:4]]
        strings = [f"{self._random.choices(folders, often)[0]}/{file}" for file in files]
        strings += [f"{verb}_{stem}" for verb in _VERBS[:6] for stem in _STEMS]
        strings += [f"{verb}_{stem}_{pick(_STEMS)}" for verb in _VERBS[6:] for stem in _STEMS]
        strings += [f"{stem.title()}{pick(_STEMS).title()}Error" for _ in range(5) for stem in _STEMS]
        strings += [f"{number} {unit}" for number in range(11, 61) for unit in ("seconds", "rows")]
        strings += [f"{self._random.getrandbits(28):07x}" for _ in range(60)]
        strings += [f"#{number}" for number in range(400, 440)]
        self._random.shuffle(strings)
        self._fresh = cycle(strings)

    def _pick(self, count: int) -> list[str]:
        """Return strings, two in three of them used before: some lately, some at any time."""
        picked: dict[str, None] = {}
        while len(picked) < count:
            used = len(self._used) > 20 and self._random.random() < 0.66
            reach = self._random.choice((30, 100, len(self._used)))
            each = self._random.choice(self._used[-reach:]) if used else next(self._fresh)
            picked[each] = None
            self._used.append(each)
        return list(picked)

    def go_on(self, count: int) -> None:
        """Append entries: a prompt now and then, remarks, calls and their results."""
        for _ in range(count):
            role = self._random.choice(("assistant", "tool_call", "tool_call", "tool_result", "tool_result"))
            role = "user" if len(self.entries) % 15 == 0 else role
            picked = [] if role == "tool_result" else self._pick(self._random.randint(1, 7))
            text = {"tool_call": self._call, "tool_result": self._result}.get(role, self._remark)(picked)
            self.used.append(picked)
            self.entries.append(
                Entry(1_000 + 3 * len(self.entries), AT, 1, role, text, None, None, None, 0, True)
            )

    def _call(self, picked: list[str]) -> str:
        paths = [each for each in picked if "/" in each]
        code = "\n".join(f"    value = {each}(row, '{self._random.choice(_STEMS)}')" for each in picked)
        if paths and self._random.random() < 0.6:
            return json.dumps(
                {"file_path": f"{ROOT}/{paths[0]}", "old_string": "", "new_string": code, "limit": 200}
            )
        return f"cd {ROOT} && pytest -q {' '.join(picked)}"

    def _result(self, _: list[str]) -> str:
        return "\n".join(f"{place}: line of output {self._random.getrandbits(40):x}" for place in range(40))

    def _remark(self, picked: list[str]) -> str:
        return f"The next step concerns {', '.join(picked)} since the earlier one went well."
