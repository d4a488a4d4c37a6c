"""What `pinfold install` and `uninstall` say to a person, and as JSON to a script."""

from __future__ import annotations

import difflib
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import click

from pinfold.context.visible import visible
from pinfold.server.install.plan import Change, Plan

_COLUMNS = 200
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def difference(change: Change) -> str:
    """Return the unified difference of one file, empty when it stays as it is."""
    return _without_secrets("\n".join(_difference_lines(change)))


def _without_secrets(text: str) -> str:
    """Replace known secret shapes: around our lines other servers' keys may stand, and an agent may be reading."""
    from pinfold.store.redaction import Redactor

    return Redactor(secrets.token_bytes(32)).text(text).text


def _difference_lines(change: Change) -> Iterator[str]:
    old, new = _lines(change.before), _lines(change.after)
    name = str(change.file.path)
    names = (
        name if change.before is not None else "/dev/null",
        name if change.after is not None else "/dev/null",
    )
    for line in difflib.unified_diff(old, new, *names, lineterm=""):
        yield line.rstrip("\r\n")
        if line[:1] in "+- " and not line.endswith("\n") and not line.startswith(("+++", "---")):
            yield "\\ No newline at end of file"


def _lines(content: bytes | None) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", (content or b"").decode("utf-8", "replace"))


def as_json(plan: Plan, next_steps: Sequence[str], *, dry_run: bool) -> str:
    """Return one JSON object: `ok`, `client`, `scope`, `dry_run`, `changed`, `files`, `next`."""
    files = [_file(plan, change) for change in plan.changes]
    told: dict[str, Any] = {"ok": True, "client": plan.client, "scope": plan.scope, "dry_run": dry_run}
    told |= {"changed": bool(plan.changed), "files": files, "next": _next(plan, next_steps)}
    return json.dumps(told)


def _file(plan: Plan, change: Change) -> dict[str, Any]:
    return {
        "path": str(change.file.path),
        "action": change.action,
        "difference": difference(change),
        "backup": _backup(plan, change),
    }


def _backup(plan: Plan, change: Change) -> str | None:
    kept = change.receipt is not None and change.receipt.original is not None
    return str(plan.receipts.backup(plan.client, change.file.real)) if kept else None


def _next(plan: Plan, next_steps: Sequence[str]) -> list[str]:
    steps = next_steps if plan.changed and not plan.is_removal else ()
    return [*plan.cautions, *steps]


def as_text(plan: Plan, next_steps: Sequence[str], *, dry_run: bool) -> Iterator[str]:
    """Yield the lines for a person: the differences, what was written, where the backup is, what to do next."""
    if not plan.changed:
        yield "Nothing to take out." if plan.is_removal else "Already installed; nothing to change."
    for change in plan.changed:
        yield from (_coloured(line) for line in _difference_lines(change))
        yield ""
    for change in plan.changed:
        yield f"{'would be ' * dry_run}{change.action}: {change.file.path}"
        backup = _backup(plan, change)
        if backup:
            yield f"  {'would keep a ' * dry_run}backup: {backup}"
    for step in plan.cautions if dry_run else _next(plan, next_steps):
        yield f"Next: {step}"


def _coloured(line: str) -> str:
    shown = visible(line)
    if len(shown) > _COLUMNS:
        shown = f"{shown[:_COLUMNS]}…"
    return click.style(shown, fg=_COLOURS.get(line[:1]))
