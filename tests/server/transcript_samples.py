"""Transcripts that the real clients wrote while a scripted model answered them, shortened where nothing is read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.items import Compacted, Format, Item, Spoken
from pinfold.server.transcripts.lines import Lines

FOLDER = Path(__file__).parent / "transcripts"
CLAUDE_HOME, CODEX_HOME = FOLDER / "claude", FOLDER / "codex"
_CLAUDE, _CODEX = CLAUDE_HOME / "projects" / "-home-anna-shop", CODEX_HOME / "sessions" / "2026" / "11" / "30"

CLAUDE = _CLAUDE / "951ca3bd-09cb-4eca-82aa-7367821b0a84.jsonl"
"""A picture, commands, a replaced output, pinfold's tools, a sub-agent, a resume, compactions of both kinds."""
CLAUDE_AGENT = CLAUDE.with_suffix("") / "subagents" / "agent-a88a9ff27327c5a42.jsonl"
CLAUDE_FORK = _CLAUDE / "d4050e6c-85ce-4036-93f7-bd4925e00100.jsonl"
CLAUDE_PROMPTS = _CLAUDE / "ca0b9728-213d-4004-81b7-9b94ec364134.jsonl"
"""A prompt while the agent was busy, a picture beside text, a command with arguments."""
CLAUDE_CLEARED = _CLAUDE / "bae66917-0745-47e4-9224-271081de69fe.jsonl"
"""What `/clear` began, with half of a surrogate pair in a prompt."""

CODEX = _CODEX / "rollout-2026-11-30T01-31-34-01a22a14-2b0d-70d2-9aa6-6ea2a5951392.jsonl"
"""A picture, commands, a replaced output, pinfold's tools, an automatic compaction, a resume."""
CODEX_FORK = _CODEX / "rollout-2026-11-30T01-35-09-01a22a17-70c9-73e1-a913-b5e6f0507820.jsonl"
CODEX_PARENT = _CODEX / "rollout-2026-11-30T01-36-23-01a22a18-935d-7500-beb0-f12c6f2b914b.jsonl"
CODEX_AGENT = _CODEX / "rollout-2026-11-30T01-36-24-01a22a18-990a-71b3-ad07-fea348c710b3.jsonl"
CODEX_SCRIPTS = _CODEX / "rollout-2026-11-30T01-36-25-01a22a18-9b55-7990-a941-35eab9ca71df.jsonl"
"""Code mode: tools called from scripts."""

ALL = (
    CLAUDE,
    CLAUDE_AGENT,
    CLAUDE_FORK,
    CLAUDE_PROMPTS,
    CLAUDE_CLEARED,
    CODEX,
    CODEX_FORK,
    CODEX_PARENT,
    CODEX_AGENT,
    CODEX_SCRIPTS,
)


def format_of(path: Path) -> Format:
    found = found_at(path)
    assert found is not None
    return found.format()


def lines_of(path: Path) -> list[bytes]:
    return [line.content for line in Lines(path)]


def read(lines: Iterable[bytes], form: Format) -> list[Item]:
    return [item for line in lines for item in form.items(line)]


def items_of(path: Path) -> list[Item]:
    return read(lines_of(path), format_of(path))


def told(items: Iterable[Item]) -> list[str]:
    """Each item in a line: its role, its tool, its text; a compaction by its trigger."""
    return [_line(item) for item in items]


def _line(item: Item) -> str:
    if isinstance(item, Compacted):
        return f"compacted {item.trigger} {item.tokens_before} → {item.tokens_after}"
    tool = f" {item.tool}" if item.tool else ""
    pictures = "".join(f" [{picture.media_type}]" for picture in item.pictures)
    return f"{item.role}{tool}: {item.text}{pictures}"


def spoken(items: Iterable[Item]) -> list[Spoken]:
    return [item for item in items if isinstance(item, Spoken)]


def waits(form: Format) -> bool:
    """Whether a line waits for a later one; asked anew each time, which a type checker does not expect."""
    return form.is_open
