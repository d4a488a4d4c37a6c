"""Small values that every layer speaks: pointers, receipts, callers, limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from pinfold.store.errors import InvalidInputError

Actor = Literal["agent", "user", "hook", "import", "cli"]

COMMAND_LINE = "command-line"
"""The client, and its only conversation, of all commands that a person enters outside of an agent's client."""

MAX_PIN_CHARS = 2_000
MAX_WHY_CHARS = 1_000
MAX_LABEL_CHARS = 500
MAX_KEY_CHARS = 200
MAX_ITEM_CHARS = 1_000
MAX_ITEMS = 200
MAX_PATH_CHARS = 4_096
MAX_ARTIFACT_BYTES = 256 * 1024 * 1024

_RECEIPT_DIGITS = 12


def stamp(at: datetime) -> str:
    """Return an instant of UTC as the log spells it: ISO 8601 with microseconds and a Z."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


class PointerKind(StrEnum):
    """The letter in front of a pointer's number, and what stands behind it."""

    PIN = "P"
    ARTIFACT = "A"
    CHECKPOINT = "C"
    ENTRY = "H"
    FOLD = "F"
    SEARCH = "S"


class PinKind(StrEnum):
    """What a pin states; the brief shows them in the order of `BRIEF_ORDER`."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    FACT = "fact"
    DEAD_END = "dead_end"


class Stale(StrEnum):
    """Why a tool's result is shown as one line from now on, in the words that stand in that line."""

    OLD = "old"
    REPLACED = "a newer one is below"


BRIEF_ORDER = (PinKind.CONSTRAINT, PinKind.DECISION, PinKind.DEAD_END, PinKind.FACT)


@dataclass(frozen=True, slots=True, order=True)
class Pointer:
    """A short handle such as `P7`: a kind and a number that is counted per project and never reused."""

    kind: PointerKind
    number: int

    def __str__(self) -> str:
        """Return the spelling a caller sees, e.g. `P7`."""
        return f"{self.kind.value}{self.number}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of one acknowledged write: its `seq` in the log and the first 12 hex digits of the chain there."""

    seq: int
    digest: str

    @classmethod
    def of(cls, seq: int, digest: bytes) -> Receipt:
        """Return the receipt of the event `seq`, at which the chain has this digest."""
        return cls(seq, digest.hex()[:_RECEIPT_DIGITS])

    def __str__(self) -> str:
        """Return `seq:digest`, the form in which `verify` accepts it."""
        return f"{self.seq}:{self.digest}"

    @classmethod
    def read(cls, text: str) -> Receipt:
        """Read `seq:digest`; raises `InvalidInputError`."""
        found = re.fullmatch(r"([0-9]{1,18}):([0-9a-f]{12,64})", text.strip())
        if found is None:
            raise InvalidInputError("This is not a receipt.", "A receipt looks like 42:9f31c2aa07d4.")
        return cls(int(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: which client, which of its conversations, and on whose behalf.

    `conversation` is the client's own session id (or one made up per process where a client gives none); the store
    maps it to the session that it continues. `runs` name the processes that started the caller, nearest first, where
    it only knows in which conversation that began: what a session start said of one of them since goes first. `head`
    and `branch` are the repository's, as the server read them.
    """

    client: str
    conversation: str
    actor: Actor = "agent"
    head: str | None = None
    branch: str | None = None
    runs: tuple[str, ...] = ()
