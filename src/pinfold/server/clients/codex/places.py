"""Where Codex keeps its transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pinfold.server.clients.codex import transcript
from pinfold.server.transcripts.items import Heading
from pinfold.server.transcripts.lines import first_lines

_THREAD = r"[0-9a-f-]{36}"


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Codex's configuration and rollouts."""
    return Path(environment.get("CODEX_HOME") or Path.home() / ".codex")


def transcripts(environment: Mapping[str, str], thread: str = "") -> Iterator[Path]:
    """Yield all rollouts, sub-agents' and archived ones too, in no order; those of one thread if it is named.

    Codex packs old ones (`.zst`); while it takes one up again, both forms lie there and the plain one counts.
    """
    for folder in ("sessions", "archived_sessions"):
        for path in (config_folder(environment) / folder).rglob(f"rollout-*{thread}.jsonl*"):
            if path.suffix == ".jsonl" or (path.suffix == ".zst" and not path.with_suffix("").exists()):
                yield path


def transcript_of(conversation: str, environment: Mapping[str, str]) -> Path | None:
    """Return the rollout of a thread, None if there is none."""
    return next(transcripts(environment, conversation), None) if re.fullmatch(_THREAD, conversation) else None


def agents_of(_: Path) -> tuple[Path, ...]:
    """Return nothing: sub-agents are threads beside the others, and their headings say whom they work for."""
    return ()


def heading(path: Path) -> Heading:
    """Return what a rollout says of itself. Raises `OSError`."""
    return transcript.heading(first_lines(path))
