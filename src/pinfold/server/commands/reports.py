"""What the commands print: each opens the project's store, asks once, and renders plain text or JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import TypeVar

import anyio

from pinfold.context.visible import counted
from pinfold.server.settings import Settings
from pinfold.server.stores import open_existing
from pinfold.store import Progress, Store
from pinfold.store.values import Receipt

T = TypeVar("T")


def ask(settings: Settings, question: Callable[[Store], Awaitable[T]]) -> T:
    """Open the project's store, which must exist where it is this machine's, ask, and close it."""

    async def opened() -> T:
        store = await open_existing(settings)
        try:
            return await question(store)
        finally:
            await store.close()

    return anyio.run(opened)


def verify_report(
    settings: Settings, progress: Progress | None, receipts: Sequence[Receipt], *, as_json: bool
) -> tuple[str, bool]:
    """Return what `verify` found as text or JSON, and whether nothing is wrong."""

    async def question(store: Store) -> tuple[str, bool]:
        report = await store.verify(progress, receipts)
        if as_json:
            tip = str(report.tip) if report.tip else None
            found = asdict(report) | {"ok": report.ok, "tip": tip, "held": list(map(str, report.held))}
            return json.dumps(found), report.ok
        verdict = "ok" if report.ok else counted(len(report.problems), "problem")
        sizes = f"{counted(report.events, 'event')}, {counted(report.artifacts, 'artifact')}"
        held = [f"receipt {receipt} holds" for receipt in report.held]
        return "\n".join(
            [f"{verdict}: {sizes}, tip {report.tip or 'none'}", *held, *report.problems]
        ), report.ok

    return ask(settings, question)


def rebuild_report(settings: Settings, progress: Progress | None, *, as_json: bool) -> str:
    """Rebuild and return one line, or an object, that says how much."""

    async def question(store: Store) -> str:
        events = await store.rebuild(progress)
        if as_json:
            return json.dumps({"ok": True, "project": store.project, "events": events})
        return f"rebuilt views and index from {counted(events, 'event')}"

    return ask(settings, question)


def stale_report(settings: Settings, progress: Progress | None, *, as_json: bool) -> str:
    """Return what a rebuild would change, as a line each or as an object."""

    async def question(store: Store) -> str:
        stale = await store.stale_views(progress)
        if as_json:
            return json.dumps({"ok": True, "project": store.project, "differs": stale})
        return "\n".join(f"{name}: differs from the log" for name in stale) or "nothing differs from the log"

    return ask(settings, question)
