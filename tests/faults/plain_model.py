"""What a store is meant to hold, kept in plain dictionaries: the other side of the stateful test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pinfold.store.commands import PinDecision


@dataclass
class ModelPin:
    """A pin as it was acknowledged; `by` is the pin that took its place."""

    command: PinDecision
    receipt: str
    by: int | None = None


@dataclass
class Model:
    """Everything acknowledged so far, by pointer number or by key."""

    pins: dict[int, ModelPin] = field(default_factory=dict)
    artifacts: dict[int, bytes] = field(default_factory=dict)
    checkpoints: dict[int, str] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    messages: dict[int, str] = field(default_factory=dict)
    known_ids: dict[str, set[str]] = field(default_factory=dict)
    folds: dict[int, str] = field(default_factory=dict)
    receipts: list[str] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)

    @property
    def live(self) -> dict[int, ModelPin]:
        """The pins that stand."""
        return {number: pin for number, pin in self.pins.items() if pin.by is None}

    def next_number(self, letter: str, numbers: Iterable[int]) -> int:
        """Return the number that the next thing of a kind gets: no number comes twice, not even a forgotten one."""
        gone = [int(pointer[1:]) for pointer in self.forgotten if pointer[0] == letter]
        return max([0, *numbers, *gone]) + 1
