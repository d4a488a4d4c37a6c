"""The verb `append_messages`: history as the client tells it, each message once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pinfold.store.commands import Message, TranscriptMark
from pinfold.store.events import Body, Kind
from pinfold.store.results import AppendedMessages
from pinfold.store.sqlite import marks, sessions
from pinfold.store.sqlite.spilling import spill_artifact
from pinfold.store.sqlite.transaction import Draft, Transaction
from pinfold.store.values import Caller


def append_messages(
    tx: Transaction, caller: Caller, messages: Sequence[Message], mark: TranscriptMark | None = None
) -> AppendedMessages:
    """Append the new ones in order; see `Store.append_messages`."""
    session = sessions.ensure(tx, caller) if messages else 0
    is_known = _known_to_client(tx, caller) if mark else _known_to_session(tx, session)
    appended = 0
    for message in messages:
        if message.external_id and is_known(message.external_id):
            continue
        tx.append(Draft(Kind.MESSAGE_APPENDED, _body(tx, message), session, caller.actor))
        appended += 1
    if mark is not None:
        marks.save(tx, mark)
    last = tx.db.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()[0]
    return AppendedMessages(appended, len(messages) - appended, int(last))


def _known_to_session(tx: Transaction, session: int) -> Callable[[str], bool]:
    query = "SELECT 1 FROM external WHERE session = ? AND external_id = ?"
    return lambda name: tx.db.execute(query, (session, name)).fetchone() is not None


def _known_to_client(tx: Transaction, caller: Caller) -> Callable[[str], bool]:
    """A forked conversation's transcript repeats what stands in another one's, under the same ids."""
    query = (
        "SELECT 1 FROM external JOIN session ON session.number = external.session"
        " WHERE external.external_id = ? AND session.client = ?"
    )
    return lambda name: tx.db.execute(query, (name, caller.client)).fetchone() is not None


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
