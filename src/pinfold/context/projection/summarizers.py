"""The extractive summarizer: the first words of each message, without a model and without a network."""

from __future__ import annotations

from collections.abc import Sequence

from pinfold.context.projection.folding import Summarizer
from pinfold.context.projection.history import Message

WORDS = 12


def extractive(words: int = WORDS) -> Summarizer:
    """Return a summarizer that keeps the first `words` words of each message, whatever it may take in tokens.

    Words are parted by spaces alone. Of a tool's result only the first line counts: the others may hold no space.
    """

    async def summarize(messages: Sequence[Message], _budget: int) -> str:
        return "\n".join(_line(each, words) for each in messages).rstrip()

    return summarize


def _line(message: Message, words: int) -> str:
    text = message.text or message.inputs
    found = (text.strip().partition("\n")[0] if message.role == "tool" else text).split(" ")
    return f"- {message.role}: {' '.join(found[:words])}{'...' if len(found) > words else ''}"
