"""LoCoMo: questions about long dialogues, over their turns or over whole conversations (CC BY-NC 4.0: never shipped).

Right are the turns that the data set names as evidence; of its categories the fifth, whose questions have no answer,
is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.retrieval.task import Case, Question, Text

_ANSWERABLE = (1, 2, 3, 4)
_TURN = re.compile(r"D:?(\d+):(\d+)")
_CONVERSATION = re.compile(r"session_(\d+)")


def turn_cases(path: Path) -> Iterator[Case]:
    """Yield a case for each dialogue of `locomo10.json`, or of a folder with one file for each."""
    for number, sample in enumerate(_samples(path)):
        texts = tuple(_turns(sample.get("conversation", sample)))
        yield Case(texts, tuple(_questions(sample["qa"], {text.name for text in texts}, number)))


def conversation_cases(path: Path) -> Iterator[Case]:
    """Yield the same cases where each turn counts as the conversation it stands in."""
    for case in turn_cases(path):
        group_of = {text.name: text.said_in for text in case.texts}
        questions = tuple(
            Question(asked.name, asked.text, frozenset(group_of[name] for name in asked.right))
            for asked in case.questions
        )
        yield Case(case.texts, questions, group_of)


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from json.loads(path.read_text("utf-8"))
        return
    for file in sorted(path.rglob("*.json")):
        yield json.loads(file.read_text("utf-8"))


def _turns(dialogue: dict[str, Any]) -> Iterator[Text]:
    numbers = sorted(int(match[1]) for key in dialogue if (match := _CONVERSATION.fullmatch(key)))
    for number in numbers:
        date = dialogue.get(f"session_{number}_date_time", "")
        for turn in dialogue[f"session_{number}"]:
            seen = f" [shared {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"({date}) {turn['speaker']}: {turn.get('text', '')}{seen}"
            yield Text(turn["dia_id"], text, "turn", f"D{number}")


def _questions(asked: list[dict[str, Any]], known: set[str], dialogue: int) -> Iterator[Question]:
    for number, one in enumerate(asked):
        named = {turn for evidence in one.get("evidence") or () for turn in _named(str(evidence))}
        if one["category"] in _ANSWERABLE and named & known:
            yield Question(f"{dialogue}-{number}", one["question"], frozenset(named & known))


def _named(evidence: str) -> Iterator[str]:
    for conversation, turn in _TURN.findall(evidence):
        yield f"D{int(conversation)}:{int(turn)}"
