"""Which specifics of a pin a reader still finds: in the brief, and in what the last compaction's summary kept.

The recall test of the article on forgetting, on one's own sessions. Source: design 3 (Folds and their audit).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pinfold.context.specifics import survives
from pinfold.context.visible import visible
from pinfold.store.results import Pin


@dataclass(frozen=True, slots=True)
class Recall:
    """Of one pin, the specifics that neither text shows; `not_in_summary` is None where there is no summary."""

    pin: Pin
    not_in_brief: tuple[str, ...]
    not_in_summary: tuple[str, ...] | None


def recall(pin: Pin, brief: str, summary: str | None) -> Recall:
    """Look for each specific of a pin in the brief and in a summary."""
    lost = None if summary is None else absent(pin.specifics, summary)
    return Recall(pin, absent(pin.specifics, brief), lost)


def absent(specifics: Iterable[str], text: str) -> tuple[str, ...]:
    """Return those that a text does not hold; what is hidden in them counts as a reader sees it."""
    return tuple(each for each in specifics if not (survives(each, text) or survives(visible(each), text)))
