"""A conversation that is kept in the log of a store: every process that opens it goes on with the same requests.

What it decides stands in the log as events, so its history is what the log tells, and nothing else. Source: P39.
"""

from __future__ import annotations

from collections.abc import Sequence

from anyio import to_thread

from pinfold.context.projection.advancing import Advancing
from pinfold.context.projection.auditing import recorded
from pinfold.context.projection.entering import Entrance, let_go
from pinfold.context.projection.folding import Summarizer
from pinfold.context.projection.history import Decision, Folded, Hidden, Message, Shortened
from pinfold.context.projection.logged_history import LoggedHistory
from pinfold.context.projection.policy import Policy
from pinfold.context.projection.request import Request, project
from pinfold.context.tokens import count
from pinfold.store import Store
from pinfold.store.commands import CommitProjection, StartSession
from pinfold.store.errors import InvalidInputError
from pinfold.store.results import PinnedDecision
from pinfold.store.values import Caller, Pointer, PointerKind, Stale


async def open_conversation(
    store: Store, caller: Caller, policy: Policy, summarize: Summarizer
) -> KeptConversation:
    """Begin the caller's conversation, or go on where the log says that it is. The caller closes the store."""
    return await _opened(store, StartSession(caller), policy, summarize)


async def fork_conversation(
    store: Store, caller: Caller, at: int | Pointer, policy: Policy, summarize: Summarizer
) -> KeptConversation:
    """Begin the caller's conversation as what another one was at a seq, an entry, a checkpoint or a fold.

    Nothing is copied and nothing changes there; pins and pointers are the same. Asked for again, it goes on in the
    fork. Raises `NotFoundError`, `InvalidInputError` for other pointers, and `ConflictError` where the caller's
    conversation began elsewhere.
    """
    seq = at if isinstance(at, int) else await _seq_of(store, at)
    return await _opened(store, StartSession(caller, fork_at=seq), policy, summarize)


async def _seq_of(store: Store, at: Pointer) -> int:
    match at.kind:
        case PointerKind.ENTRY:
            return at.number
        case PointerKind.CHECKPOINT:
            return (await store.checkpoint(at.number)).seq
        case PointerKind.FOLD:
            return (await store.fold(at.number)).seq
    raise InvalidInputError(
        f"{at} is no place in a conversation.", "Fork at an entry, a checkpoint or a fold."
    )


async def _opened(
    store: Store, start: StartSession, policy: Policy, summarize: Summarizer
) -> KeptConversation:
    logged = LoggedHistory(store, (await store.start_session(start)).session)
    talk = KeptConversation(logged, start.caller, policy, summarize)
    await talk.read_on()
    return talk


class KeptConversation(Advancing):
    """A conversation in a store; made by `open_conversation` and `fork_conversation`.

    Live pins of the project stand in every request, where the log has them. What was sent stays as it was until the
    log says why not. Each method raises what the store raises; after any error the same call can be made again.
    """

    def __init__(self, logged: LoggedHistory, caller: Caller, policy: Policy, summarize: Summarizer) -> None:
        super().__init__(policy, summarize, logged.steps)
        self.caller = caller
        self._logged = logged
        self._entrance = Entrance(caller, logged.store.redactor, policy)
        self._counts_as_stored = policy.size is count

    @property
    def seq(self) -> int:
        """The seq up to which the log was read: `as_of` and a fork at it show what stands now."""
        return self._logged.seen

    async def append(self, *messages: Message, key: str | None = None) -> None:
        """Append messages in one transaction; their `number` and `pointer` are the log's to give.

        A result over `policy.spill` becomes an artifact, one over its cap is cut; a message that is pinned becomes a
        pin as well. With `key`, which names them in this conversation, a second call appends nothing.
        """
        entries = await to_thread.run_sync(self._entrance.entries, messages, key)
        try:
            await self._logged.store.append_messages(self.caller, entries)
        finally:
            let_go(entries)
        await self.read_on()

    async def pin(self, text: str, why: str = "", supersedes: Sequence[int] = ()) -> PinnedDecision:
        """Keep a text in every request, letter for letter; `supersedes` are numbers of pins that no longer hold."""
        command = await to_thread.run_sync(self._entrance.pin, text, why, tuple(supersedes))
        pinned = await self._logged.store.pin_decision(command)
        await self.read_on()
        return pinned

    async def as_of(self, seq: int) -> Request:
        """Return the request as it was at a seq, read from the log anew. Raises `NotFoundError` behind its end."""
        past = LoggedHistory(self._logged.store, self._logged.session)
        await past.read_on(seq)
        return project(past.steps, self.policy)

    async def read_on(self) -> None:
        """Take in what the log tells since, of this process and of others; every request begins with it."""
        await self._logged.read_on()
        if self._counts_as_stored:
            self.sizes.update(self._logged.tokens)

    async def _current(self) -> Request:
        await self.read_on()
        return self.projected()

    async def _take(self, decisions: Sequence[Decision]) -> None:
        """Record decisions, and take them in as the log has them."""
        hidden = [seq for each in decisions if isinstance(each, Hidden) for seq in each.messages]
        stale = {each.message: Stale(each.why) for each in decisions if isinstance(each, Shortened)}
        if hidden or stale:
            await self._logged.store.commit_projection(CommitProjection(self.caller, tuple(hidden), stale))
        for each in decisions:
            if isinstance(each, Folded):
                await self._record(each)
        await self.read_on()

    async def _record(self, fold: Folded) -> None:
        store, folded = self._logged.store, set(fold.messages)
        before = sum(self.policy.tokens(each) for each in self.projected().messages if each.number in folded)
        pins = [pin for pin in (await store.brief_state(self.caller)).pins if pin.superseded_by is None]
        sizes = before, self.policy.size(fold.text)
        command = await to_thread.run_sync(recorded, fold, self._logged.entries, pins, self._entrance, sizes)
        try:
            await store.record_fold(command)
        finally:
            if command.summary is not None:
                command.summary.content.close()
