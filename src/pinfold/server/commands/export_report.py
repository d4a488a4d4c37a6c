"""What `pinfold export` writes, and what it says of that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pinfold.context.visible import counted
from pinfold.server.commands.among_stores import keep_out_of_stores
from pinfold.server.commands.reports import ask
from pinfold.server.export.destination import destination
from pinfold.server.export.json_lines import json_lines
from pinfold.server.export.markdown import markdown
from pinfold.server.export.source import Format, Source
from pinfold.server.settings import Settings
from pinfold.store import Progress, Store
from pinfold.store.errors import NotFoundError

_FORMATS: dict[str, Format] = {"jsonl": json_lines, "markdown": markdown}


@dataclass(frozen=True, slots=True)
class Choice:
    """What to export, and where to; `overwrite` a file that is there. `output` None: standard output."""

    form: str
    session: int | None
    output: Path | None
    overwrite: bool


def export_report(
    settings: Settings, choice: Choice, progress: Progress | None, *, as_json: bool
) -> tuple[str, bool]:
    """Export; return what is to be said of it, and whether all of it could be read.

    Raises `NotFoundError` for a session that is not there, `InvalidInputError` for a file among the stores, and what a
    destination and the store raise.
    """
    keep_out_of_stores(settings, choice.output)

    async def question(store: Store) -> tuple[str, bool]:
        source = Source(store, await store.log_end(), choice.session, progress)
        if choice.session is not None and not await store.logged(0, choice.session):
            raise NotFoundError(f"session s{choice.session}", "there is no such session", "")
        with destination(choice.output, overwrite=choice.overwrite) as file:
            async for piece in _FORMATS[choice.form](source):
                file.write(piece)
        return _told(source, choice, as_json=as_json), not source.damaged

    return ask(settings, question)


def _told(source: Source, choice: Choice, *, as_json: bool) -> str:
    if as_json:
        facts = {"ok": not source.damaged, "file": str(choice.output), "events": source.events}
        return json.dumps(facts | {"artifacts": source.artifacts, "damaged": source.damaged})
    where = f" to {choice.output}" if choice.output else ""
    lines = [f"exported {counted(source.events, 'event')}{where}"]
    if source.damaged:
        lines.append(f"too damaged to be read: {', '.join(source.damaged)}; run `pinfold verify`")
    return "\n".join(lines)
