"""A disk that remembers what it may forget: what was not synced is kept, lost or torn when the power is cut.

The bytes of a file last once it is synced; its name, or that it has none any more, once its folder is. Everything
else is decided by a seed at each cut: a write is there, is not there, or is there by sectors in any mixture; room that
a lost write would have filled may hold anything; a name may be missing or may be that of the file before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from tests.faults.layer.recording import (
    Acknowledged,
    Asked,
    Created,
    Deleted,
    FolderSynced,
    Resized,
    Step,
    Synced,
    Written,
)

SECTOR = 512


@dataclass
class _File:
    """One file whatever it is called: its bytes as they last, and what was done to them since."""

    lasting: bytes = b""
    waiting: list[Written | Resized] = field(default_factory=list)
    name_lasts: bool = False

    def now(self) -> bytes:
        content = bytearray(self.lasting)
        for step in self.waiting:
            _apply(content, step)
        return bytes(content)

    def after_cut(self, draw: Random, kept: float) -> bytes:
        content = bytearray(self.lasting)
        for step in self.waiting:
            if draw.random() < kept:
                _apply(content, step)
            elif isinstance(step, Written) and draw.random() < 0.5:
                _tear(content, step, draw)
        return bytes(content)


def _apply(content: bytearray, step: Written | Resized) -> None:
    if isinstance(step, Resized):
        del content[step.size :]
        return
    content.extend(bytes(max(0, step.offset - len(content))))
    content[step.offset : step.offset + len(step.content)] = step.content


def _tear(content: bytearray, step: Written, draw: Random) -> None:
    """Write some sectors of it; of the others, those behind the old end hold whatever lay there."""
    end = len(content)
    for start in range(0, len(step.content), SECTOR):
        piece = step.content[start : start + SECTOR]
        place = step.offset + start
        if draw.random() < 0.5:
            _apply(content, Written(step.name, place, piece))
        elif place >= end:
            _apply(content, Written(step.name, place, draw.randbytes(len(piece))))


@dataclass
class Disk:
    """One folder, as the process sees it and as it lasts."""

    lasting: dict[str, _File]
    present: dict[str, _File]
    renamed: list[tuple[str, _File | None]] = field(default_factory=list)

    @classmethod
    def holding(cls, files: Mapping[str, bytes]) -> Disk:
        """Begin with these files, all of which last."""
        lasting = {name: _File(content) for name, content in files.items()}
        return cls(lasting, dict(lasting))

    def apply(self, step: Step) -> None:
        """Take one step."""
        match step:
            case Created(name, name_lasts):
                self._rename(name, _File(name_lasts=name_lasts))
            case Written(name) | Resized(name):
                self.present[name].waiting.append(step)
            case Synced(name):
                self._sync(self.present[name])
            case Deleted(name, lasts):
                self._rename(name, None)
                if lasts:
                    self._sync_names()
            case FolderSynced():
                self._sync_names()
            case Asked() | Acknowledged():
                pass

    def _rename(self, name: str, file: _File | None) -> None:
        self.renamed.append((name, file))
        if file is None:
            self.present.pop(name, None)
        else:
            self.present[name] = file

    def _sync(self, file: _File) -> None:
        file.lasting, file.waiting = file.now(), []
        if file.name_lasts:
            self._sync_names()
            file.name_lasts = False

    def _sync_names(self) -> None:
        self.lasting, self.renamed = dict(self.present), []

    @property
    def is_at_rest(self) -> bool:
        """Whether a cut now would change nothing."""
        return not self.renamed and not any(file.waiting for file in self.present.values())

    def now(self) -> dict[str, bytes]:
        """Return the files as the program sees them."""
        return {name: file.now() for name, file in self.present.items()}

    def after_cut(self, draw: Random) -> dict[str, bytes]:
        """Return the files as they might be found after a cut of the power now."""
        names_kept, bytes_kept = draw.choice((0.0, 0.5, 1.0)), draw.choice((0.0, 0.5, 0.9, 1.0))
        found = dict(self.lasting)
        for name, file in self.renamed:
            if draw.random() < names_kept:
                found.pop(name, None)
                if file is not None:
                    found[name] = file
        return {name: file.after_cut(draw, bytes_kept) for name, file in found.items()}
