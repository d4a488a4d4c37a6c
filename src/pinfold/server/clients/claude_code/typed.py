"""What a person typed into Claude Code, without what it wraps around that or writes in their name."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAGGED = r"(?s)\s*<([a-z][a-z-]*(?:_[a-z]+)*)>(.*)</([a-z_-]+)>\s*"
_NOISE = r"system-reminder|local-command-\w+|user-memory-input|ide_\w+"
_LED = rf"(?s)\s*<({_NOISE})>.*?</\1>\s*"
_COMMAND = r"\s*<command-(?:name|message)>"
_INTERRUPTED = r"\s*\[Request interrupted by user[^\]\n]*\]\s*"
_TASK_BEGINS = "<task-notification>"
_TASK = rf"(?s)\s*{_TASK_BEGINS}.*</task-notification>\s*"
_PRINTED = r"(?s)\s*<bash-stdout>.*</bash-std(?:out|err)>\s*"
_STREAM = r"(?s)<bash-std(out|err)>(.*?)</bash-std\1>"
_MOST_REMINDERS = 20
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"


@dataclass(frozen=True, slots=True)
class Report:
    """What a command of the person's own printed, or what ran in the background came to, and which call began it.

    `agent` is the id of the task whose result it is, which is a sub-agent's.
    """

    text: str
    call_id: str | None
    agent: str | None = None


def typed(text: str) -> str:
    """Return what a person wrote of a text that Claude Code keeps as theirs; empty if nothing of it is.

    A command is kept with its arguments (`/fix the port`), and left out without.
    """
    if re.match(_COMMAND, text):
        name, arguments = _inside("command-name", text), _inside("command-args", text)
        return f"{name} {arguments}" if name and arguments else ""
    tagged = re.fullmatch(_TAGGED, text)
    if tagged and tagged[1] == tagged[3]:
        if re.fullmatch(_NOISE, tagged[1]):
            return ""
        if tagged[1] == "bash-input":
            return f"! {tagged[2]}"
    if re.fullmatch(_INTERRUPTED, text) or text.lstrip().startswith(_TASK_BEGINS):
        return ""
    return without_reminders(_without_what_leads(text))


def reported(text: str) -> Report | None:
    """Return the report that Claude Code wrote in a person's name, None if a text is none."""
    if re.fullmatch(_PRINTED, text):
        return Report("\n".join(part for _, part in re.findall(_STREAM, text) if part), None)
    if not re.fullmatch(_TASK, text):
        return None
    result, summary = _inside("result", text), _inside("summary", text)
    agent = _inside("task-id", text) if result else ""
    return Report(result or summary, _inside("tool-use-id", text) or None, agent or None)


def _without_what_leads(text: str) -> str:
    """Return a text without what Claude Code puts before it, such as what is selected in an editor."""
    for _ in range(_MOST_REMINDERS):
        led = re.match(_LED, text)
        if not led:
            break
        text = text[led.end() :]
    return text


def without_reminders(text: str) -> str:
    """Return a text without the reminders that Claude Code hangs behind it."""
    for _ in range(_MOST_REMINDERS):
        start = text.rfind(_REMINDER) if text.rstrip().endswith(_REMINDER_END) else -1
        if start < 0:
            break
        text = text[:start].rstrip()
    return text


def _inside(tag: str, text: str) -> str:
    """Return what stands between a tag and the last end of it."""
    _, _, rest = text.partition(f"<{tag}>")
    return rest.rpartition(f"</{tag}>")[0].strip()
