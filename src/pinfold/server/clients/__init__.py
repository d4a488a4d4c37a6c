"""What differs between clients: one module each, and who is asking, told from all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pinfold.server.clients import claude_code, codex
from pinfold.store.values import COMMAND_LINE, MAX_LABEL_CHARS, Caller

_OWN_CONVERSATION = f"process-{os.getpid()}-{time.time_ns():x}"


def identify(
    client: str,
    meta: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    otherwise: str = _OWN_CONVERSATION,
) -> tuple[str, str]:
    """Return (client, conversation) of a call.

    `client` is the name it gave itself, `meta` the call's `_meta`. Where a client gives no session id, the
    conversation is `otherwise`, which names this process. A name beyond `MAX_LABEL_CHARS`, or with control characters
    in it, stands as its digest. Source: design 3, Which session, which project.
    """
    name, conversation = _told(client, meta, os.environ if environment is None else environment, otherwise)
    return _as_label(name), _as_label(conversation)


def _told(
    client: str, meta: Mapping[str, Any], environment: Mapping[str, str], otherwise: str
) -> tuple[str, str]:
    thread = codex.conversation(meta)
    if thread is not None:
        return codex.NAME, thread
    session = claude_code.conversation(environment)
    if session is not None and (not client or client.startswith("claude")):
        return claude_code.NAME, session
    return client or "unknown", otherwise


def _as_label(name: str) -> str:
    if len(name) <= MAX_LABEL_CHARS and name.isprintable():
        return name
    return f"sha256-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def in_shell(head: str | None = None, branch: str | None = None) -> Caller:
    """Return who enters a command: the conversation whose shell this is, else the one that all commands share."""
    conversation = claude_code.conversation(os.environ)
    if conversation is not None:
        return Caller(claude_code.NAME, conversation, "cli", head, branch)
    return Caller(COMMAND_LINE, COMMAND_LINE, "cli", head, branch)
