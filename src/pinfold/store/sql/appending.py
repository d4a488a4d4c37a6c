"""The verb `append_messages`: history as the client tells it, each message once, with what it says is to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pinfold.store.commands import Message, TranscriptMark
from pinfold.store.events import Body, Kind
from pinfold.store.results import AppendedMessages
from pinfold.store.sql import marks, sessions
from pinfold.store.sql.pinning import pin_decision
from pinfold.store.sql.spilling import spill_artifact
from pinfold.store.sql.transaction import Draft, Transaction
from pinfold.store.values import Caller

_KNOWN_TO_SESSION = "SELECT 1 FROM external WHERE external_id = ? AND session = ?"
_KNOWN_TO_CLIENT = (
    "SELECT 1 FROM external JOIN session ON session.number = external.session"
    " WHERE external.external_id = ? AND session.client = ?"
)
"""A forked conversation's transcript repeats what stands in another one's, under the same ids."""


def append_messages(
    tx: Transaction, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
) -> AppendedMessages:
    """Append the new ones in order; see `Store.append_messages`."""
    caller, opened = tx.clean(caller), dict[str, int]()
    appended = pinned = 0
    for message in messages:
        conversation = tx.clean(message.conversation) or caller.conversation
        if conversation not in opened:
            opened[conversation] = sessions.ensure(tx, replace(caller, conversation=conversation))
        session = opened[conversation]
        if message.external_id and _is_known(tx, message.external_id, caller.client if mark else session):
            continue
        tx.append(Draft(Kind.MESSAGE_APPENDED, _body(tx, message), session, caller.actor))
        appended += 1
        pinned += sum(not pin_decision(tx, pin).repeated for pin in message.pins)
    if mark is not None:
        marks.save(tx, mark)
    last = tx.db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0]
    return AppendedMessages(appended, len(messages) - appended, int(last), pinned)


def _is_known(tx: Transaction, name: str, whose: str | int) -> bool:
    """Whether a client, or a session, has a message of that name already."""
    query = _KNOWN_TO_CLIENT if isinstance(whose, str) else _KNOWN_TO_SESSION
    return tx.db.execute(query, (tx.clean(name), whose)).fetchone() is not None


def _body(tx: Transaction, message: Message) -> Body:
    """Return the event's body; what a message does not have is left out, since there are so many of them."""
    artifacts = [spill_artifact(tx, command).artifact for command in message.artifacts]
    optional = {
        "external_id": message.external_id,
        "at": message.at,
        "tool": message.tool,
        "call_id": message.call_id,
        "files": list(message.files),
        "tokens": message.tokens,
        "artifacts": [artifact.number for artifact in artifacts],
    }
    given = {name: value for name, value in optional.items() if value}
    exact = {} if message.tokens_estimated else {"exact": True}
    pointers = (f"[{artifact.pointer} {artifact.label}]" for artifact in artifacts)
    text = "\n".join(part for part in (message.text, *pointers) if part)
    return {"role": message.role, "text": text, **given, **exact}
