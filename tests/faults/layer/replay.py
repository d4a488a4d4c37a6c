"""A recording played again with the power cut at its steps; each cut leaves the files that might be found then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.faults.layer.power import Disk
from tests.faults.layer.recording import Acknowledged, Asked, Recording, Step

Chosen = Callable[[Step], bool]
"""Whether to cut behind this step."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is found after a cut, and what had been asked for and acknowledged by then."""

    files: dict[str, bytes]
    is_a_loss: bool
    """Whether the disk lost anything that the program had written."""

    asked: frozenset[str]
    acknowledged: dict[str, str]

    def lay_out(self, folder: Path) -> None:
        """Write the files into a new folder."""
        folder.mkdir(parents=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


def everywhere(_: Step) -> bool:
    """Cut behind each step."""
    return True


def acknowledged_only(step: Step) -> bool:
    """Cut where a result just went to the caller."""
    return isinstance(step, Acknowledged)


def about(number: int, recording: Recording, draw: Random) -> Chosen:
    """Cut about so often, evenly from a drawn step on."""
    every = max(1, len(recording.steps) // number)
    count = draw.randrange(every)

    def chosen(_: Step) -> bool:
        nonlocal count
        count += 1
        return count % every == 0

    return chosen


def cuts(recording: Recording, draw: Random, chosen: Chosen) -> Iterator[Cut]:
    """Cut the power behind the chosen steps, where anything is at stake."""
    disk = Disk.holding(recording.before)
    asked: set[str] = set()
    acknowledged: dict[str, str] = {}
    for step in recording.steps:
        disk.apply(step)
        if isinstance(step, Asked):
            asked.add(step.key)
        elif isinstance(step, Acknowledged):
            acknowledged[step.key] = step.receipt
        if (acknowledged or not disk.is_at_rest) and chosen(step):
            files = disk.after_cut(draw)
            yield Cut(files, files != disk.now(), frozenset(asked), dict(acknowledged))
