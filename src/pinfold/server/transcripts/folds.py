"""Recording a compaction: what it folded is read from the log, audited against its summary, and written down."""

from __future__ import annotations

from pinfold.context.folds import audit
from pinfold.server.transcripts.items import Compacted
from pinfold.server.transcripts.keeping import Keeper
from pinfold.store.commands import RecordFold
from pinfold.store.sync import SyncStore


def record(store: SyncStore, keeper: Keeper, compacted: Compacted, *, live: bool = False) -> bool:
    """Record one compaction of the keeper's conversation, unless it is; return whether it was new.

    `live`: a hook tells of it, so the session was given the brief, and the client's own figures are not known yet.
    """
    part = store.folded_part(keeper.caller, compacted.external_id)
    if part is None:
        return False
    found = audit(part, compacted.summary, briefed=live)
    tokens_before = compacted.tokens_before or sum(entry.tokens for entry in part.entries) or None
    summary = keeper.artifact([compacted.summary.encode()], "summary of a compaction", "compaction")
    try:
        outcome = store.record_fold(
            RecordFold(
                keeper.caller,
                compacted.external_id,
                compacted.trigger,
                live,
                compacted.at,
                tokens_before,
                compacted.tokens_after or (len(compacted.summary) + 3) // 4,
                len(part.entries) + part.left_out,
                summary,
                found.present,
                found.lost,
                found.offered,
                found.strings,
            )
        )
    finally:
        summary.content.close()
    return not outcome.repeated
