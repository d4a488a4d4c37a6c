"""What `pinfold brief` prints, read without the machinery for writing: some call it where a client waits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from pinfold.context.brief import render_brief
from pinfold.server.clients import identify
from pinfold.server.settings import Settings
from pinfold.store.results import BriefState
from pinfold.store.values import Caller


def brief_report(settings: Settings, as_of: int | None, *, as_json: bool) -> str:
    """Return the brief as text, or as an object with text, tokens and the seq it stands for.

    Raises `NotFoundError` when nothing has been kept for the project yet, or for an `as_of` behind the log's end.
    """
    caller = Caller(*identify("", {}, os.environ), actor="cli")
    state, fence = _looked_up(settings, caller, as_of)
    shown = render_brief(state, fence)
    if not as_json:
        return shown.text.rstrip("\n")
    found = {"project": state.project, "seq": state.seq, "tokens": shown.tokens, "text": shown.text}
    return json.dumps(found, ensure_ascii=False)


def _looked_up(
    settings: Settings, caller: Caller, as_of: int | None
) -> tuple[BriefState, Callable[[str], str]]:
    if settings.store is None:
        from pinfold.store.sqlite.glance import glance

        return glance(settings.existing_store(), caller, as_of)
    from pinfold.server.stores import open_direct_of

    store = open_direct_of(settings)
    try:
        return store.brief_state(caller, as_of), store.fence
    finally:
        store.close()
