"""Which specifics a fold lost, of those that the user, the model and former summaries had said.

They go into reports that are sent to others, so secrets are replaced before they are looked for. Source: P24.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.context.specifics import Kept, specifics
from pinfold.store.redaction import Redactor

MOST_WATCHED = 20_000
"""Specifics between two folds beyond which no more are watched."""

MOST_NAMED = 12
_KEY = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Loss:
    """How many specifics stood in what was folded, how many of them are not in its summary, and the first of these."""

    had: int
    lost: int
    named: tuple[str, ...]


class Watch:
    """The specifics of what was said since the last fold, each once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._seen: dict[str, None] = {}
        self._redactor = Redactor(_KEY)
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in what was said."""
        if len(self._seen) < MOST_WATCHED:
            self._seen.update(dict.fromkeys(specifics(self._redactor.text(text).text)))

    def loss(self, summary: str) -> Loss:
        """Return what a summary of all that was taken in has lost."""
        kept = Kept(self._redactor.text(summary).text)
        gone = [each for each in self._seen if not kept.holds(each)]
        return Loss(len(self._seen), len(gone), tuple(gone[:MOST_NAMED]))
