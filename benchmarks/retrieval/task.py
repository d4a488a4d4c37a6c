"""What is asked of every way of looking: texts in the order they came, and questions with what answers them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Half = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a history, known by its `name`; `said_in` is the conversation it stood in, if any."""

    name: str
    text: str
    kind: str
    said_in: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for, and the names of all that is right."""

    name: str
    text: str
    right: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """One history with its questions. What `group_of` names counts as its group, and `right` are groups."""

    texts: tuple[Text, ...]
    questions: tuple[Question, ...]
    group_of: Mapping[str, str] = field(default_factory=dict)


class Searcher(Protocol):
    """A way of looking: holds texts, and names those that answer, best first."""

    name: str

    def hold(self, texts: Iterable[Text]) -> None:
        """Forget what was held, and hold these texts."""

    def find(self, question: str, limit: int) -> list[str]:
        """Return the names of at most `limit` texts, best first."""

    def index_bytes(self) -> int:
        """Return how large is what was made of the texts in order to find them."""

    def close(self) -> None:
        """Let go of everything."""


def half_of(question: Question) -> Half:
    """Return the half that a question always belongs to: choices are made on one, reported from the other."""
    return "a" if hashlib.sha256(question.name.encode()).digest()[0] < 128 else "b"
