"""The verb `append_messages`: history as the client tells it, each message once."""

from __future__ import annotations

from collections.abc import Sequence

from pinfold.store.commands import Message
from pinfold.store.events import Kind
from pinfold.store.results import AppendedMessages
from pinfold.store.sqlite import sessions
from pinfold.store.sqlite.transaction import Draft, Transaction
from pinfold.store.values import Caller


def append_messages(tx: Transaction, caller: Caller, messages: Sequence[Message]) -> AppendedMessages:
    """Append the new ones in order; see `Store.append_messages`."""
    session = sessions.ensure(tx, caller)
    appended = 0
    for message in messages:
        if message.external_id and _is_known(tx, session, message.external_id):
            continue
        tx.append(Draft(Kind.MESSAGE_APPENDED, _body(message), session, caller.actor))
        appended += 1
    last = tx.db.execute("SELECT max(seq) FROM event").fetchone()[0]
    return AppendedMessages(appended, len(messages) - appended, int(last))


def _is_known(tx: Transaction, session: int, external_id: str) -> bool:
    query = "SELECT 1 FROM external WHERE session = ? AND external_id = ?"
    return tx.db.execute(query, (session, external_id)).fetchone() is not None


def _body(message: Message) -> dict[str, object]:
    """Return the event's body; what a message does not have is left out, since there are so many of them."""
    optional = {
        "external_id": message.external_id,
        "at": message.at,
        "tool": message.tool,
        "call_id": message.call_id,
        "files": list(message.files),
        "tokens": message.tokens,
    }
    given = {name: value for name, value in optional.items() if value}
    exact = {} if message.tokens_estimated else {"exact": True}
    return {"role": message.role, "text": message.text, **given, **exact}
