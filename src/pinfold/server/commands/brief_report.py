"""What `pinfold brief` prints, read without the machinery for writing: some call it where a client waits."""

from __future__ import annotations

import json
import os

from pinfold.context.brief import render_brief
from pinfold.server.clients import identify
from pinfold.server.settings import Settings
from pinfold.store.sqlite.glance import glance
from pinfold.store.values import Caller


def brief_report(settings: Settings, as_of: int | None, *, as_json: bool) -> str:
    """Return the brief as text, or as an object with text, tokens and the seq it stands for.

    Raises `NotFoundError` when nothing has been kept for the project yet, or for an `as_of` behind the log's end.
    """
    caller = Caller(*identify("", {}, os.environ), actor="cli")
    state, fence = glance(settings.existing_store(), caller, as_of)
    shown = render_brief(state, fence)
    if not as_json:
        return shown.text.rstrip("\n")
    found = {"project": state.project, "seq": state.seq, "tokens": shown.tokens, "text": shown.text}
    return json.dumps(found, ensure_ascii=False)
