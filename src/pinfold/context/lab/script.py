"""The conversation of the published fold-of-a-fold experiment: one decision, then 40 turns of other work."""

from __future__ import annotations

from collections.abc import Iterator

from pinfold.context.lab.draws import Draws
from pinfold.context.projection import Message
from pinfold.context.projection.policy import Size

TURNS = 40
SEED = 42
SPILL_TOKENS = 120
WATCHED = ("Redis", "15 minute", "rotate", "mobile")

_DECISION = (
    "DECISION: We will store refresh tokens in Redis with a 15 minute TTL and rotate them on every use, because the "
    "mobile team's client can't reliably persist tokens between app restarts."
)
_ANSWER = (
    "Acknowledged. I'll wire the token service to Redis with a 15 minute TTL and rotate-on-use, and flag any code path "
    "that assumes long-lived tokens."
)
_TOPICS = (
    "Ran the integration suite against the staging cluster.",
    "Investigated a flaky test in the billing module.",
    "Reviewed the PR that touches the rate limiter.",
    "Checked memory usage on the worker pool overnight.",
    "Updated the changelog for the upcoming release.",
)
_WORDS = range(20, 2_000)
_PREVIEW_CHARS = 160
_PATH = "spilled".ljust(61, "-")
_ID = "00000000-0000-4000-8000-000000000000"


def estimate(text: str) -> int:
    """The publication's estimate of tokens: a quarter of the characters, at least one."""
    return max(1, len(text) // 4)


def conversation(size: Size, *, pinned: bool, turns: int = TURNS, seed: int = SEED) -> Iterator[Message]:
    """Yield the messages; a tool's output is spilled by its `size` as a line that quotes its beginning."""
    draws = Draws(seed)
    yield Message(0, "user", _DECISION, pinned=pinned)
    yield Message(0, "assistant", _ANSWER)
    for turn in range(turns):
        topic = _TOPICS[draws.below(len(_TOPICS))]
        output = " ".join(["token"] * draws.below(_WORDS.stop, _WORDS.start))
        yield Message(0, "user", f"Turn {turn}: {topic}")
        yield Message(0, "tool", _result(f"tool_call_{turn}", output, size(output)))
        yield Message(0, "assistant", f"Turn {turn}: done, no issues found.")


def _result(name: str, output: str, tokens: int) -> str:
    if tokens <= SPILL_TOKENS:
        return f"[inline] {output}"
    return (
        f"[spilled] [spilled tool result: {name}] ~{tokens} tokens written to {_PATH} (id={_ID}). "
        f"Preview: {output[:_PREVIEW_CHARS]}..."
    )
