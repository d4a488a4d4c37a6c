"""Known secret shapes are replaced before anything is stored: `[redacted:github-token:9f31c2aa]`.

One combined RE2 search finds where a secret could begin; its shape is tried only there, in a window of
bounded length, so that time is linear in the input whatever it holds. `secret_shapes` is the table.
Source: P24.
"""

from __future__ import annotations

import functools
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pinfold.store.secret_shapes import BARE, ESCAPED, QUOTED, RULES, Reading, Shape

WINDOW_BYTES = 17 * 1024
"""How far a shape may reach with its surroundings: secrets to 8 KiB and private key blocks to 16 KiB fit."""

GLANCE_BYTES = 512
"""How much of a value is looked at to tell whether it is a secret."""

_AUTOMATON_BYTES = 16 * 1024 * 1024
"""What RE2 may keep of the states it met; with its default of 8 MiB varied text takes four times as long."""

_CONTEXT_BYTES = 192
_BETWEEN = "\0"
_GULP_BYTES = 256 * 1024
_OPENER = re.compile(rb"\\{0,7}[\"'`]")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many were found by rule name, in alphabetical order."""

    text: str
    found: tuple[tuple[str, int], ...]


class Redactor:
    """Replaces secrets by the name of their rule and a digest keyed with `key`: equal ones stay equal."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def text(self, text: str) -> Redacted:
        """Return `text` redacted; JSON stays JSON, and what was redacted before stays as it is."""
        plain = text.encode("utf-8", "surrogatepass")
        if next(_finds(plain, 0, len(plain)), None) is None:
            return Redacted(text, ())
        stream = self.stream([plain])
        redacted = b"".join(stream)
        return Redacted(redacted.decode("utf-8", "surrogatepass"), stream.found)

    def is_plain(self, texts: Iterable[str]) -> bool:
        """Whether nothing in any of these texts begins as a secret does: then each of them redacted is itself.

        One search for all: what is between two texts begins and ends words just as their ends do.
        """
        return _trigger().search(_BETWEEN.join(texts).encode("utf-8", "surrogatepass")) is None

    def stream(self, blocks: Iterable[bytes]) -> RedactedStream:
        """Return the blocks redacted, as `text` would redact them in one piece, wherever they are cut."""
        return RedactedStream(blocks, self.key)


class RedactedStream:
    """Redacted blocks, to be iterated once; holds at most one gulp and one window of the input."""

    def __init__(self, blocks: Iterable[bytes], key: bytes) -> None:
        self._blocks = blocks
        self._key = key
        self._counts: Counter[str] = Counter()

    @property
    def found(self) -> tuple[tuple[str, int], ...]:
        """How many secrets were found so far, by rule name."""
        return tuple(sorted(self._counts.items()))

    def __iter__(self) -> Iterator[bytes]:
        """Yield redacted blocks, none of them empty."""
        held, at = b"", 0
        for block in _gulps(self._blocks):
            # A little of what is out already stays in front: whether a word begins there depends on it.
            context = min(at, _CONTEXT_BYTES)
            held, at = held[at - context :] + block, context
            settled, at = self._settle(held, at, len(held) - WINDOW_BYTES - 1)
            if settled:
                yield settled
        settled, _ = self._settle(held, at, len(held))
        if settled:
            yield settled

    def _settle(self, held: bytes, at: int, limit: int) -> tuple[bytes, int]:
        """Return what is certain of `held` from `at` on, and where it ends: at `limit` or behind a secret."""
        pieces: list[bytes] = []
        for find in _finds(held, at, limit):
            pieces += held[at : find.start], self._mark(find.rule, held[find.start : find.stop])
            at = find.stop
        if at < limit:
            pieces.append(held[at:limit])
            at = limit
        return b"".join(pieces), at

    def _mark(self, rule: str | None, found: bytes) -> bytes:
        if rule is None:
            return found
        self._counts[rule] += 1
        digest = hmac.digest(self._key, found, "sha256").hex()[:8]
        return f"[redacted:{rule}:{digest}]".encode("ascii")


@dataclass(frozen=True, slots=True)
class _Find:
    """A secret's place; without a rule it is a placeholder of an earlier redaction, which stays."""

    rule: str | None
    start: int
    stop: int


_SHAPES = tuple((rule.name, shape) for rule in RULES for shape in rule.shapes)
_EARLIER = rb"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]"


def _options() -> Any:
    import re2  # 6 ms that a process without anything to redact need not spend

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _AUTOMATON_BYTES
    return options


@functools.cache
def _compiled(pattern: bytes) -> Any:
    import re2

    return re2.compile(pattern, _options())


@functools.cache
def _trigger() -> Any:
    """Return the pattern of all places where a secret could begin, and of what an earlier redaction left."""
    return _compiled(b"|".join([_EARLIER, *(shape.before + shape.start for _, shape in _SHAPES)]))


@functools.cache
def _begun() -> Any:
    """Return the set that tells which shape a hit is of; groups in the trigger would be far slower."""
    import re2

    begun = re2.Set.FullMatchSet(_options())
    for _, shape in _SHAPES:
        begun.Add(shape.before + shape.start)
    begun.Compile()
    return begun


@functools.cache
def _divided(shape: Shape) -> re.Pattern[bytes]:
    return re.compile(shape.before + b"(" + shape.start + b")")


def _finds(held: bytes, at: int, limit: int) -> Iterator[_Find]:
    """Yield, in order and without overlap, what begins between `at` and `limit`."""
    trigger = _trigger()
    while (hit := trigger.search(held, at)) and hit.start() < limit:
        find = _find(held, *hit.span())
        if find is None:
            at = hit.start() + 1
            continue
        # A token may stand in the surroundings of a password, e.g. as the user in a URL.
        yield from (inner for inner in _finds(held, hit.start() + 1, find.start) if inner.stop <= find.start)
        yield find
        at = find.stop


def _find(held: bytes, hit: int, hit_stop: int) -> _Find | None:
    if held.startswith(b"[redacted:", hit):
        return _Find(None, hit, hit_stop)
    rule, shape = _kind(held[hit:hit_stop])
    span = _span(held, hit, hit_stop, shape)
    if span is None:
        return None
    return (_by_its_form(held, *span) if shape.by_context else None) or _Find(rule, *span)


def _kind(hit: bytes) -> tuple[str, Shape]:
    """Return the rule and the shape that a hit begins: the first in the table, as in the trigger."""
    return _SHAPES[min(_begun().Match(hit))]


def _by_its_form(held: bytes, start: int, stop: int) -> _Find | None:
    """Return the find of a value that is a secret by its own form too, under that better name."""
    hit = _trigger().match(held, start, stop)
    if hit is None or _kind(hit[0])[1].by_context:
        return None
    find = _find(held, *hit.span())
    return find and _Find(find.rule, start, max(stop, find.stop))


def _span(held: bytes, hit: int, hit_stop: int, shape: Shape) -> tuple[int, int] | None:
    """Return where the secret of a shape that was hit stands, if all of it is there and it holds."""
    divided = _divided(shape).fullmatch(held[hit:hit_stop])
    if divided is None:
        return None
    start = hit + divided.start(1)
    opener, reading = _reading(held, start, shape)
    start += len(opener)
    end = min(hit + WINDOW_BYTES, len(held))
    glance = _stop(held, start, end if reading.far else min(start + GLANCE_BYTES, end), reading)
    if glance is None or not shape.holds(held[max(hit - _CONTEXT_BYTES, 0) : start], held[start:glance]):
        return None
    stop = _stop(held, start, end, reading)
    if stop is None or not (held.startswith(opener, stop) or stop == len(held)):
        return None
    return start, stop


def _reading(held: bytes, start: int, shape: Shape) -> tuple[bytes, Reading]:
    """Return the quote that opens the secret, if any, and how to read what follows."""
    if shape.reading is not None:
        return b"", shape.reading
    opened = _OPENER.match(held, start)
    if opened is None:
        return b"", BARE
    return opened[0], QUOTED.get(opened[0], ESCAPED)


def _stop(held: bytes, start: int, end: int, reading: Reading) -> int | None:
    match = _compiled(reading.pattern).match(held, start, end)
    if match is None:
        return None
    stop: int = start + len(match[0].rstrip(reading.trim))
    is_barred = stop < len(held) and held[stop] in reading.barred
    return None if is_barred else stop


def _gulps(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Join small blocks, so that what is held is not copied for each of them."""
    waiting: list[bytes] = []
    size_bytes = 0
    for block in blocks:
        waiting.append(block)
        size_bytes += len(block)
        if size_bytes >= _GULP_BYTES:
            yield b"".join(waiting)
            waiting, size_bytes = [], 0
    yield b"".join(waiting)
