"""What `pinfold copy` does between two stores, and what it says of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import anyio

from pinfold.context.visible import counted, size_text
from pinfold.server.commands.progress import bar
from pinfold.server.commands.tables import Report
from pinfold.server.copying.beginnings import common_beginning, digest_at
from pinfold.server.copying.joining import NAMES, Joining
from pinfold.server.copying.places import destination_at, place_of, source_at
from pinfold.server.copying.reading import events_between
from pinfold.server.copying.sending import Sending
from pinfold.store import Store
from pinfold.store.errors import ConflictError, DamagedError, NotFoundError
from pinfold.store.logged import LogEnd
from pinfold.store.results import VerifyReport
from pinfold.store.values import Receipt

_STAYS = "Pointers that stand in texts are still those of the source."


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for: `joins` also to another log, `looks` and changes nothing, `verifies` at the end."""

    joins: bool
    looks: bool
    verifies: bool


@dataclass(frozen=True, slots=True)
class _Ends:
    """The two stores; `end` is how far the source is copied, `reached` where the destination ends, `common` how far
    both are the same. `destination` None: it would be made at `place`.
    """

    source: Store
    place: str
    destination: Store | None
    end: LogEnd
    reached: int = 0
    common: int = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`way` is copied, joined or nothing; `facts` and `rows` what is told of it."""

    way: str
    facts: Mapping[str, Any]
    rows: tuple[tuple[str, str], ...]
    remark: str = ""


def copy_report(source: str, destination: str, wish: Wish) -> tuple[Report, bool]:
    """Copy, and return what was done and whether the destination is well.

    Raises `NotFoundError` where there is no source, `ConflictError` where the destination holds another log and is not
    to be joined, `DamagedError` for what is damaged in the source, and what the stores raise.
    """
    return anyio.run(_run, source, destination, wish)


async def _run(source: str, destination: str, wish: Wish) -> tuple[Report, bool]:
    async with source_at(place_of(source)) as opened:
        place = place_of(destination)
        ends = _Ends(opened, place.address, None, await opened.log_end())
        if not ends.end.seq:
            raise NotFoundError(
                f"The source {(await opened.status()).location}",
                "its log is empty",
                "Look whether it is the right one.",
            )
        async with destination_at(place, opened.project, makes=not wish.looks) as other:
            if other is not None:
                reached = (await other.log_end()).seq
                ends = replace(
                    ends, destination=other, reached=reached, common=await common_beginning(opened, other)
                )
            outcome = await _outcome(ends, wish)
            found = await _verified(other) if wish.verifies and not wish.looks and other else None
            return await _report(ends, outcome, wish, found), found is None or found.ok


async def _outcome(ends: _Ends, wish: Wish) -> _Outcome:
    if ends.common >= ends.end.seq:
        return _Outcome("nothing", {}, (("copied", "nothing: all of the source is there already"),))
    if ends.common < ends.reached:
        if not wish.joins:
            raise ConflictError(
                f"The destination holds another log ({_likeness(ends)}); nothing was copied.",
                "Name another destination, or say --join to tell it what is only in the source, under new pointers.",
            )
        return await (_joinable(ends) if wish.looks else _joined(ends))
    return await (_sendable(ends) if wish.looks else _sent(ends))


def _likeness(ends: _Ends) -> str:
    if not ends.common:
        return f"none of its {counted(ends.reached, 'event')} is the source's"
    return f"of its {counted(ends.reached, 'event')} only the first {ends.common:,} are the source's"


async def _sendable(ends: _Ends) -> _Outcome:
    missing = ends.end.seq - ends.reached
    return _Outcome(
        "copied", {"events": missing}, (("would be copied", f"{counted(missing, 'event')}{_behind(ends)}"),)
    )


def _behind(ends: _Ends) -> str:
    return f", behind the {ends.reached:,} that are there" if ends.reached else ""


async def _sent(ends: _Ends) -> _Outcome:
    assert ends.destination is not None
    with bar("copy") as progress:
        sending = Sending(ends.source, ends.destination, ends.reached, ends.end, progress)
        await sending.run()
    if await digest_at(ends.destination, ends.end.seq) != ends.end.digest:
        raise DamagedError("The copy", "Run `pinfold verify` on both.", "its end is not that of the source")
    facts: dict[str, Any] = {
        "events": sending.events,
        "artifacts": sending.artifacts,
        "bytes": sending.size_bytes,
        "forgotten": sending.forgotten,
        "receipt": str(Receipt.of(ends.end.seq, ends.end.digest)),
    }
    events = f"{counted(sending.events, 'event')}{_behind(ends)}"
    rows = [
        (
            "copied",
            f"{events}; {counted(sending.artifacts, 'artifact')}, {size_text(sending.size_bytes)}",
        ),
        ("both at", facts["receipt"]),
    ]
    if sending.forgotten:
        scrubbed = await ends.destination.scrub()
        facts["scrub_owed"] = scrubbed.owed
        rows.append(("forgotten there, too", counted(sending.forgotten, "event")))
    return _Outcome("copied", facts, tuple(rows))


async def _joinable(ends: _Ends) -> _Outcome:
    kinds: Counter[str] = Counter()
    async for events in events_between(ends.source, ends.common, ends.end.seq):
        told = (event for event in events if event.body is not None)
        kinds.update(NAMES[event.kind] for event in told if event.kind in NAMES)
    return _Outcome("joined", {"told": dict(kinds)}, (("would be joined", _counts(kinds)),))


async def _joined(ends: _Ends) -> _Outcome:
    assert ends.destination is not None
    with bar("join") as progress:
        joining = Joining(ends.source, ends.destination, ends.common, ends.end, progress)
        await joining.run()
    facts = {
        "told": dict(joining.told),
        "repeated": dict(joining.repeated),
        "pointers": joining.pointers,
        "remarks": joining.remarks,
    }
    rows = [("joined", _counts(joining.told)), ("known there already", _counts(joining.repeated))]
    rows += [("remark", remark) for remark in joining.remarks]
    return _Outcome("joined", facts, (*rows, *joining.pointers.items()), _STAYS)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(counted(count, name) for name, count in counts.items() if count) or "nothing"


async def _verified(destination: Store) -> VerifyReport:
    with bar("verify") as progress:
        return await destination.verify(progress)


async def _report(ends: _Ends, outcome: _Outcome, wish: Wish, found: VerifyReport | None) -> Report:
    rows = [("from", await _told(ends.source, ends.end.seq))]
    if ends.destination is None:
        rows.append(("to", f"{ends.place}, which would be made"))
    else:
        rows.append(("to", await _told(ends.destination, (await ends.destination.log_end()).seq)))
    facts = {
        "ok": found is None or found.ok,
        "way": outcome.way,
        "dry_run": wish.looks,
        "source": {"project": ends.source.project, "events": ends.end.seq},
        "destination": {"events_before": ends.reached, "same_events": ends.common},
        **outcome.facts,
        "verified": None if found is None else found.ok,
        "problems": [] if found is None else found.problems,
    }
    return Report(facts, ("", ""), [*rows, *outcome.rows, *_verdict(found)], outcome.remark)


async def _told(store: Store, events: int) -> str:
    return f"{store.project}, {(await store.status()).location}, {counted(events, 'event')}"


def _verdict(found: VerifyReport | None) -> Iterable[tuple[str, str]]:
    if found is None:
        return []
    verdict = "ok" if found.ok else counted(len(found.problems), "problem")
    sizes = f"{counted(found.events, 'event')}, {counted(found.artifacts, 'artifact')}"
    return [("verified", f"{verdict}: {sizes}"), *(("problem", each) for each in found.problems)]
