"""The verb `commit_projection`: what the requests of a conversation leave out from now on."""

from __future__ import annotations

import json

from pinfold.store.commands import CommitProjection
from pinfold.store.errors import InvalidInputError, NotFoundError
from pinfold.store.events import Body, Kind
from pinfold.store.results import CommittedProjection
from pinfold.store.sql import sessions
from pinfold.store.sql.lineage import inherits, lineage
from pinfold.store.sql.transaction import Draft, Transaction, receipt_of, request_digest


def commit_projection(tx: Transaction, command: CommitProjection) -> CommittedProjection:
    """Append what is decided, or find it; see `Store.commit_projection`."""
    command = tx.clean(command)
    decided = _decided(command)
    request = request_digest(decided)
    earlier = tx.earlier((Kind.PROJECTION_COMMITTED,), command.key, request)
    if earlier is not None:
        return CommittedProjection(receipt_of(earlier), repeated=True)
    session = sessions.ensure(tx, command.caller)
    _check(tx, session, {*command.hidden, *command.reclaimed})
    body = decided | {"request": request}
    made = tx.append(Draft(Kind.PROJECTION_COMMITTED, body, session, command.caller.actor, command.key))
    return CommittedProjection(receipt_of(made), repeated=False)


def _decided(command: CommitProjection) -> Body:
    return {
        "hidden": list(command.hidden),
        "reclaimed": [[seq, why] for seq, why in sorted(command.reclaimed.items())],
    }


def _check(tx: Transaction, session: int, seqs: set[int]) -> None:
    """Refuse what is no message of the session or of what it was forked from."""
    if not seqs:
        raise InvalidInputError("Nothing is hidden or reclaimed.", "Name at least one message.")
    query = "SELECT seq, session FROM event WHERE kind = ? AND seq IN (SELECT value FROM json_each(?))"
    heritage = lineage(tx.db, session)
    rows = tx.db.execute(query, (Kind.MESSAGE_APPENDED, json.dumps(sorted(seqs))))
    unknown = seqs - {row["seq"] for row in rows if inherits(heritage, row["session"], row["seq"])}
    if unknown:
        why = "it is no message of this conversation"
        raise NotFoundError(f"H{min(unknown)}", why, "Name messages by the seqs that the log gave them.")
