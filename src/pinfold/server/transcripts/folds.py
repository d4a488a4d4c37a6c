"""Recording a compaction: what it folded is read from the log, audited against its summary, and written down."""

from __future__ import annotations

from pinfold.context.estimate import rough
from pinfold.context.folds import audit
from pinfold.server.transcripts.items import Compacted
from pinfold.server.transcripts.keeping import Keeper
from pinfold.store.commands import RecordFold
from pinfold.store.results import FoldedPart
from pinfold.store.sync import SyncStore


def record(
    store: SyncStore, keeper: Keeper, compacted: Compacted, *, briefed: bool, told_by_hook: bool = False
) -> bool:
    """Record one compaction of the keeper's conversation, unless it is; return whether it was new.

    `briefed`: the conversation was given the brief when it began. `told_by_hook`: the client's own figures are not
    known yet.
    """
    part = store.folded_part(keeper.caller, compacted.external_id)
    if part is None:
        return False
    found = audit(part, compacted.summary, briefed=briefed, at=compacted.at)
    summary = keeper.artifact([compacted.summary.encode()], "summary of a compaction", "compaction")
    before, after = (None, None) if told_by_hook else _tokens(part, compacted)
    try:
        outcome = store.record_fold(
            RecordFold(
                caller=keeper.caller,
                key=compacted.external_id,
                trigger=compacted.trigger,
                live=told_by_hook,
                at=compacted.at,
                tokens_before=before,
                tokens_after=after,
                messages=len(part.entries) + part.left_out,
                summary=summary,
                present=found.present,
                lost=found.lost,
                offered=found.offered,
                strings=found.strings,
            )
        )
    finally:
        summary.content.close()
    return not outcome.repeated


def _tokens(part: FoldedPart, compacted: Compacted) -> tuple[int | None, int]:
    """Return the tokens before and after: the client's figures, else estimates of what the log holds.

    Nothing stands in the log where a hook has told of the compaction, so of that one no size before is known.
    """
    before = compacted.tokens_before or sum(entry.tokens for entry in part.entries) or None
    return before, compacted.tokens_after or rough(compacted.summary)
