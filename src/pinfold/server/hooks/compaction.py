"""PreCompact and PostCompact: nothing is folded unread, and what the summary lost is known at once."""

from __future__ import annotations

from pinfold.server.hooks.catching_up import catch_up
from pinfold.server.hooks.occasion import Occasion
from pinfold.server.transcripts.folds import record
from pinfold.server.transcripts.items import Compacted
from pinfold.server.transcripts.keeping import Keeper
from pinfold.store.sync import SyncStore


def before(occasion: Occasion) -> str:
    """Read to the end of the transcript; return what is added to the summary's prompt, where the client does that."""
    with occasion.store() as store:
        with occasion.attempt():
            catch_up(occasion, store)
        return str(occasion.particulars.summary_prompt(store, store.brief_state(occasion.caller)))


def after(occasion: Occasion) -> str:
    """Record the fold: from the event where it holds the summary, else from the transcript."""
    with occasion.store() as store:
        told = occasion.particulars.told_fold(occasion)
        if told is None:
            catch_up(occasion, store)
        else:
            tell(occasion, store, told)
    return ""


def tell(occasion: Occasion, store: SyncStore, told: Compacted) -> None:
    """Record a fold that the client has not written into its transcript yet.

    Where there was no time to read all that came before it, earlier folds may be among that: then the transcript
    alone tells of this one.
    """
    if catch_up(occasion, store):
        record(store, Keeper(occasion.caller, store.redactor), told, told_by_hook=True, briefed=True)
