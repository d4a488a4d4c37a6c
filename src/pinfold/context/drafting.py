"""Bytes on their way behind a pointer: redacted, sketched, counted and packed in one pass over them.

Needs neither a model of arguments nor the protocol, so that hooks and commands spill as the tool does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pinfold.context.estimate import ceiling, guess
from pinfold.context.preview import Sketch
from pinfold.context.read_ahead import read_ahead
from pinfold.context.tokens import Gauge
from pinfold.store.commands import Outline
from pinfold.store.content import Content, collect
from pinfold.store.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Draft:
    """What one pass over the bytes gave: content to be stored, its outline, secrets replaced by rule."""

    content: Content
    outline: Outline
    redacted: tuple[tuple[str, int], ...]


def draft(redactor: Redactor, blocks: Iterable[bytes], max_bytes: int, *, exact: bool = True) -> Draft:
    """Read all blocks; the caller closes the draft's content. Belongs on a worker thread: it takes seconds per GB.

    Without `exact` tokens are guessed, which loads no vocabulary: for those whom a client waits for.
    Raises `TooLargeError` as soon as more than `max_bytes` have come, and whatever the blocks raise. Source: P24.
    """
    sketch, gauge = (Sketch(), Gauge()) if exact else (Sketch(ceiling), Gauge(guess))

    def observed(stream: Iterable[bytes]) -> Iterator[bytes]:
        for block in stream:
            sketch.feed(block)
            gauge.feed(block)
            yield block

    redaction = redactor.stream(blocks)
    content = collect(read_ahead(observed(redaction)), max_bytes)
    tokens, estimated = gauge.result()
    return Draft(content, sketch.outline(tokens, estimated=estimated), redaction.found)
