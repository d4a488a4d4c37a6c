"""What a person typed into Claude Code, without what it wraps around that or writes in their name."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAGGED = re.compile(r"\s*<([a-z][a-z-]*(?:_[a-z]+)*)>(.*)</([a-z_-]+)>\s*", re.DOTALL)
_NOISE = re.compile(r"system-reminder|local-command-\w+|user-memory-input|ide_\w+")
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]*\]\s*")
_TASK = re.compile(r"\s*<task-notification>.*</task-notification>\s*", re.DOTALL)
_RESULT = re.compile(r"<result>(.*)</result>", re.DOTALL)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_CALL = re.compile(r"<tool-use-id>(.*?)</tool-use-id>")
_PRINTED = re.compile(r"\s*<bash-stdout>.*</bash-std(?:out|err)>\s*", re.DOTALL)
_STREAM = re.compile(r"<bash-std(out|err)>(.*?)</bash-std\1>", re.DOTALL)
_MOST_REMINDERS = 20
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"


@dataclass(frozen=True, slots=True)
class Report:
    """What a command of the person's own printed, or what ran in the background came to, and which call began it."""

    text: str
    call_id: str | None


def typed(text: str) -> str:
    """Return what a person wrote of a text that Claude Code keeps as theirs; empty if nothing of it is.

    A command is kept with its arguments (`/fix the port`), and left out without.
    """
    if _COMMAND.match(text):
        name, arguments = _inside(_NAME, text), _inside(_ARGUMENTS, text)
        return f"{name} {arguments}" if name and arguments else ""
    tagged = _TAGGED.fullmatch(text)
    if tagged and tagged[1] == tagged[3]:
        if _NOISE.fullmatch(tagged[1]):
            return ""
        if tagged[1] == "bash-input":
            return f"! {tagged[2]}"
    return "" if _INTERRUPTED.fullmatch(text) else without_reminders(text)


def reported(text: str) -> Report | None:
    """Return the report that Claude Code wrote in a person's name, None if a text is none."""
    if _PRINTED.fullmatch(text):
        return Report("\n".join(part for _, part in _STREAM.findall(text) if part), None)
    if not _TASK.fullmatch(text):
        return None
    return Report(_inside(_RESULT, text) or _inside(_SUMMARY, text), _inside(_CALL, text) or None)


def without_reminders(text: str) -> str:
    """Return a text without the reminders that Claude Code hangs behind it."""
    for _ in range(_MOST_REMINDERS):
        start = text.rfind(_REMINDER) if text.rstrip().endswith(_REMINDER_END) else -1
        if start < 0:
            break
        text = text[:start].rstrip()
    return text


def _inside(expression: re.Pattern[str], text: str) -> str:
    found = expression.search(text)
    return found[1].strip() if found else ""
