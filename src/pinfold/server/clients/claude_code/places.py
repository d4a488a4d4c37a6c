"""Where Claude Code keeps its transcripts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pinfold.server.clients.claude_code.transcript import heading as _heading
from pinfold.server.transcripts.items import Heading
from pinfold.server.transcripts.lenient import parsed, word
from pinfold.server.transcripts.lines import first_lines

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's settings and transcripts."""
    return Path(environment.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")


def transcripts(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the transcripts of all projects, sub-agents' own too, in no order."""
    for project in _folders(config_folder(environment) / "projects"):
        yield from project.glob("*.jsonl")
        for session in _folders(project):
            yield from (session / "subagents").rglob("agent-*.jsonl")


def transcript_of(conversation: str, environment: Mapping[str, str]) -> Path | None:
    """Return the transcript of a conversation, None if there is none."""
    if not re.fullmatch(_ID, conversation):
        return None
    paths = (folder / f"{conversation}.jsonl" for folder in _folders(config_folder(environment) / "projects"))
    return next((path for path in paths if path.is_file()), None)


def agents_of(transcript: Path) -> tuple[Path, ...]:
    """Return the transcripts of a conversation's sub-agents."""
    return tuple(sorted((transcript.with_suffix("") / "subagents").rglob("agent-*.jsonl")))


def heading(path: Path) -> Heading:
    """Return what a transcript says of itself; a file beside a sub-agent's one knows the call that began it.

    Raises `OSError`.
    """
    found = _heading(first_lines(path))
    if not found.agent:
        # Lines that a resumed conversation took over may still carry the id of the former one.
        is_named = re.fullmatch(_ID, path.stem) or not found.conversation
        return replace(found, conversation=path.stem) if is_named else found
    try:
        about = parsed(path.with_suffix(".meta.json").read_bytes()) or {}
    except OSError:
        about = {}
    return replace(found, call_id=word(about.get("toolUseId")))


def _folders(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return [parent / entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []
