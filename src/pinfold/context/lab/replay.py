"""`pinfold replay`: a conversation that was, through a policy, with the projection that everything else uses.

What no later request can show is let go, so memory is bounded by the window, whatever the length. Source: design 4.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pinfold.context.lab.losses import Watch
from pinfold.context.lab.replayed import STRATEGIES, FoldMade, Replayed, Sent, Won
from pinfold.context.projection import (
    Conversation,
    Folded,
    Hidden,
    Message,
    OverBudgetError,
    Policy,
    Shortened,
    Step,
    Summarizer,
    extractive,
)
from pinfold.context.projection.request import standing

_RECENT = 8
"""Texts whose size is remembered: each is measured more than once when it comes."""


class Replay:
    """Takes a conversation in order: what was said, when the model was asked, when its client folded."""

    def __init__(self, policy: Policy, summarize: Summarizer | None = None) -> None:
        self._policy = replace(policy, size=lru_cache(_RECENT)(policy.size))
        self._summarize = summarize or extractive()
        self._talk = Conversation(self._policy, self._summarize)
        self._fresh = 0
        self._fixed = policy.budget.system_prompt + policy.budget.tool_definitions
        self._raw = self._client = 0
        self._said = Watch()
        self._sent: list[Sent] = []
        self._client_folds: list[FoldMade] = []
        self._folds: list[FoldMade] = []
        self._won = dict.fromkeys(STRATEGIES, Won())

    def say(self, message: Message) -> None:
        """Take in a message; a pin is pinfold's own, so that only the projection pays for it."""
        stands = self._talk.append(message)
        if not message.pinned:
            tokens = self._talk.policy.tokens(message)
            self._raw += tokens
            self._client += tokens
            self._fresh += max(1, tokens)
            if message.role in ("user", "assistant"):
                self._said.add(message.text)
        if stands.text != message.text:
            self._note(self._talk.history[-1], {stands.number: replace(message, number=stands.number)})

    async def ask(self, at: str | None, idle_s: float = 0.0) -> None:
        """Send the next request, `idle_s` after the one before."""
        known, is_over = len(self._talk.history), False
        try:
            request = await self._talk.request(idle_s)
        except OverBudgetError:
            request, is_over = self._talk.projected(), True
        self._note_all(known)
        fixed, projected = self._fixed, request.used.total
        self._sent.append(
            Sent(at, self._raw + fixed, self._client + fixed, projected + fixed, is_over=is_over)
        )
        self._let_go()

    def report(self, tokens: int) -> None:
        """Take in what the client wrote down of the last request, unless that is known."""
        if self._sent and self._sent[-1].reported is None:
            self._sent[-1] = replace(self._sent[-1], reported=tokens)

    def fold(self, summary: str, tokens_after: int | None = None) -> None:
        """The client folded all that it had; `tokens_after`: its figure, for a summary it keeps to itself."""
        before = self._client
        told = self._policy.tokens(Message(0, "system", summary)) if summary else None
        hidden = max(0, (tokens_after or 0) - self._fixed)
        self._client = hidden if told is None else told
        loss = self._said.loss(summary) if summary else None
        self._client_folds.append(FoldMade(len(self._sent) + 1, before, self._client, loss))
        self._said = Watch([summary])

    def result(self) -> Replayed:
        """Return what was found up to here."""
        return Replayed(
            self._fixed,
            self._policy.budget.history,
            tuple(self._sent),
            tuple(self._client_folds),
            tuple(self._folds),
            dict(self._won),
        )

    def _note_all(self, known: int) -> None:
        """Count what each decision won that stands behind the first `known` steps."""
        decisions = self._talk.history[known:]
        if not decisions:
            return
        stood = {each.number: each for each in standing(self._talk.history[:known])}
        for each in decisions:
            if isinstance(each, Folded):
                self._note_fold(each, stood)
            else:
                self._note(each, stood)

    def _note(self, decision: Step, stood: dict[int, Message]) -> None:
        """Count what a decision won, and change what stands as it says."""
        tokens = self._policy.tokens
        if isinstance(decision, Shortened):
            old = stood[decision.message]
            new = stood[decision.message] = replace(old, text=decision.text)
            self._won[decision.way] = self._won[decision.way].plus(tokens(old) - tokens(new))
        elif isinstance(decision, Hidden):
            gone = [stood.pop(number) for number in decision.messages]
            self._won["clipped"] = self._won["clipped"].plus(sum(map(tokens, gone)))

    def _note_fold(self, fold: Folded, stood: dict[int, Message]) -> None:
        gone = [stood.pop(number) for number in fold.messages]
        summary = Message(fold.number, "system", fold.text)
        said = Watch(each.text for each in gone if each.role != "tool")
        stood[fold.number] = summary
        left = "\n".join([fold.text, *(each.text for each in stood.values() if each.pinned)])
        tokens = self._policy.tokens
        before, after = sum(map(tokens, gone)), tokens(summary)
        self._folds.append(FoldMade(len(self._sent) + 1, before, after, said.loss(left)))

    def _let_go(self) -> None:
        """Go on from the messages that stand, once as much was said as a window holds: the requests are the same."""
        if self._fresh > self._policy.budget.window:
            self._talk = Conversation(self._policy, self._summarize, standing(self._talk.history))
            self._fresh = 0
