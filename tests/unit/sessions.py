"""Sessions made up for tests: what an agent reads, edits and says about a project, with work that drifts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

from pinfold.store.results import Entry

AT = "2026-01-02T03:04:05.000000Z"
ROOT = "/home/ada/tidewater"
_STEMS = (
    "auth token session cache queue worker proxy index search render parse schema store config client"
    " server router metric report export import retry lease shard ledger invoice order user account mail".split()
)
_VERBS = "get set load save open close build parse merge rotate purge fetch apply check count".split()


@dataclass
class Session:
    """A seeded conversation. `needed` collects the strings that entries use, as they were used."""

    seed: int
    entries: list[Entry] = field(default_factory=list)
    used: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._recent: list[str] = []
        folders = ["src", "tests", "docs", *(f"src/{stem}" for stem in self._random.sample(_STEMS, 9))]
        folders += [f"{folder}/{stem}" for folder in folders[3:7] for stem in self._random.sample(_STEMS, 2)]
        self._fresh = [
            f"{self._random.choice(folders)}/{stem}_{verb}.py" for stem in _STEMS for verb in _VERBS[:4]
        ]
        self._fresh += [f"{verb}_{stem}" for verb in _VERBS for stem in _STEMS]
        self._fresh += [f"{stem.title()}{verb.title()}er" for verb in _VERBS[:6] for stem in _STEMS]
        self._fresh += [f"{number} {unit}" for number in range(11, 61) for unit in ("seconds", "rows")]
        self._fresh += [f"{self._random.getrandbits(28):07x}" for _ in range(60)]
        self._fresh += [f"#{number}" for number in range(400, 440)]
        self._random.shuffle(self._fresh)

    def _pick(self, count: int) -> list[str]:
        """Return strings, two in three of them used lately."""
        picked: dict[str, None] = {}
        while len(picked) < count:
            lately = len(self._recent) > 20 and self._random.random() < 0.66
            back = min(len(self._recent), 1 + int(self._random.expovariate(1 / 60)))
            picked[
                self._recent[-back] if lately else self._fresh[len(set(self._recent)) % len(self._fresh)]
            ] = None
            self._recent.append(list(picked)[-1])
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
