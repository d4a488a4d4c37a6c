"""Generated conversations: turns with calls and results, pins, sub-agents, long and repeated output, broken ends."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from pinfold.context.projection import Budget, Message, Policy

TOOLS = ("Read", "Bash", "Grep")


def rough(text: str) -> int:
    return max(1, len(text) // 4)


def tight(window: int = 1_500, **more: object) -> Policy:
    return Policy(Budget(window), spill=200, stale_turns=3, keep=400, size=rough, **more)  # type: ignore[arg-type]


def generated(seed: int, turns: int) -> Iterator[Message]:
    """Yield messages with number 0, for a `Conversation` to number."""
    draw = random.Random(seed)
    for turn in range(turns):
        yield Message(
            0, "user", f"turn {turn} " + "please " * draw.randrange(20), pinned=draw.random() < 0.02
        )
        for step in range(draw.randrange(4)):
            yield from _exchange(draw, f"{turn}-{step}")
        if draw.random() < 0.2:
            yield Message(0, "assistant", "exploring " * 30, agent=f"agent {turn}")
        yield Message(0, "assistant", f"done {turn} " + "so " * draw.randrange(30))


def _exchange(draw: random.Random, name: str) -> Iterator[Message]:
    calls = tuple(f"call {name} {n}" for n in range(draw.randrange(1, 4)))
    yield Message(0, "assistant", draw.choice(("", "let me look")), calls=calls)
    for call in draw.sample(calls, len(calls)):
        if draw.random() < 0.02:
            continue  # a run that was killed
        text = "line of output\n" * draw.choice((1, 5, 20, 400))
        subject = f"src/{draw.randrange(6)}.py"
        pointer = f"A{draw.randrange(1, 9)}" if draw.random() < 0.8 else ""
        yield Message(
            0, "tool", text, answers=call, tool=draw.choice(TOOLS), subject=subject, pointer=pointer
        )


def orphans(messages: Sequence[Message]) -> set[str]:
    """Return the ids of calls without their result and of results without their call."""
    calls = [call for each in messages for call in each.calls]
    answers = [each.answers for each in messages if each.answers]
    assert len(set(calls)) == len(calls)
    return set(calls) ^ set(answers)
