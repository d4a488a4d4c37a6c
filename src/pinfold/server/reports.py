"""What the commands print: each opens the project's store, asks once, and renders plain text or JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TypeVar

import anyio

from pinfold.context.brief import render_brief
from pinfold.server.clients import identify
from pinfold.server.settings import Settings
from pinfold.store import Progress, Store
from pinfold.store.errors import NotFoundError
from pinfold.store.sqlite.opening import Place
from pinfold.store.sqlite.store import open_store
from pinfold.store.values import Caller

T = TypeVar("T")


def _ask(settings: Settings, question: Callable[[Store], Awaitable[T]]) -> T:
    """Open the project's store, which must exist, ask, and close it."""

    async def ask() -> T:
        if not Place(settings.store_folder).database.exists():
            project = settings.project
            raise NotFoundError(
                f"project {project.name} ({project.root})",
                "pinfold has kept nothing for it yet",
                "A store is made at an agent's first call; PINFOLD_HOME and --project choose another one.",
            )
        store = await open_store(settings.store_folder, settings.project.name)
        try:
            return await question(store)
        finally:
            await store.close()

    return anyio.run(ask)


def brief_report(settings: Settings, as_of: int | None, *, as_json: bool) -> str:
    """Return the brief as text, or as an object with text, tokens and the seq it stands for."""

    async def question(store: Store) -> str:
        client, conversation = identify("", {})
        state = await store.brief_state(Caller(client, conversation, "cli"), as_of)
        shown = render_brief(state, store.fence)
        if not as_json:
            return shown.text
        found = {"project": state.project, "seq": state.seq, "tokens": shown.tokens, "text": shown.text}
        return json.dumps(found, ensure_ascii=False)

    return _ask(settings, question)


def verify_report(settings: Settings, progress: Progress | None, *, as_json: bool) -> tuple[str, bool]:
    """Return what `verify` found as text or JSON, and whether nothing is wrong."""

    async def question(store: Store) -> tuple[str, bool]:
        report = await store.verify(progress)
        if as_json:
            found = asdict(report) | {"ok": report.ok, "tip": str(report.tip) if report.tip else None}
            return json.dumps(found), report.ok
        verdict = "ok" if report.ok else f"{len(report.problems)} problems"
        head = f"{verdict}: {report.events:,} events, {report.artifacts:,} artifacts, tip {report.tip or 'none'}"
        return "\n".join([head, *report.problems]), report.ok

    return _ask(settings, question)


def rebuild_report(settings: Settings, progress: Progress | None) -> str:
    """Rebuild and return one line that says how much."""

    async def question(store: Store) -> str:
        return f"rebuilt views and index from {await store.rebuild(progress):,} events"

    return _ask(settings, question)
