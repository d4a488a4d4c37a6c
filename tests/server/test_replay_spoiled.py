"""Transcripts that are not as they should be: cut anywhere, with any value anywhere, each is replayed to its end."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import anyio
import pytest

from pinfold.context.lab.cost import Prices
from pinfold.context.lab.rent import dollars_by_kind, rent
from pinfold.context.lab.script import estimate
from pinfold.context.projection import Budget, Policy
from pinfold.server.transcripts.finding import Found, found_at
from pinfold.server.transcripts.replaying import Played, model_of, play
from tests.server.transcript_samples import CLAUDE, CODEX, lines_of

ANYTHING: tuple[Any, ...] = (
    None,
    True,
    -1,
    2.5,
    10**30,
    "",
    "9999-99-99",
    [],
    {},
    [[]],
    {"a": "b"},
    "\ud83d",
    "\0",
)
POLICY = Policy(Budget(300), spill=20, keep=50, stale_turns=1, size=estimate)


def _played(path: Path, like: Path) -> Played:
    known = found_at(like)
    assert known is not None
    found = Found(path, known.client, known.heading)
    assert model_of(found) is None or isinstance(model_of(found), str)
    played = anyio.run(play, found, POLICY)
    if played.usages:
        paid = rent(played.usages, Prices(), 300)
        assert sum(dollars_by_kind(paid.total, Prices()).values()) == pytest.approx(paid.total.dollars)
    return played


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("path", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_any_value_anywhere_stops_no_replay(path: Path, seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    lines = [json.loads(line) for line in lines_of(path)]
    spoiled = [_spoiled(line, draw) if draw.random() < 0.5 else line for line in lines]
    assert sum(one != other for one, other in zip(lines, spoiled, strict=True)) > len(lines) // 4
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in spoiled))
    assert len(_played(file, path).replayed.sent) > 0


@pytest.mark.parametrize("path", [CLAUDE, CODEX], ids=["claude", "codex"])
def test_a_transcript_that_was_cut_gives_the_beginning_of_the_whole_replay(
    path: Path, tmp_path: Path
) -> None:
    whole, file = path.read_bytes(), tmp_path / "t.jsonl"
    sent = [(each.raw, each.client, each.projected) for each in _played(path, path).replayed.sent]
    draw = random.Random(1)
    for _ in range(12):
        file.write_bytes(whole[: draw.randrange(len(whole))])
        found = [(each.raw, each.client, each.projected) for each in _played(file, path).replayed.sent]
        assert found == sent[: len(found)]


def _spoiled(value: Any, draw: random.Random) -> Any:
    """Put anything in the place of one value, at any depth."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice(sorted(value))
        return value | {key: _spoiled(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        place = draw.randrange(len(value))
        return [*value[:place], _spoiled(value[place], draw), *value[place + 1 :]]
    return draw.choice(ANYTHING)
