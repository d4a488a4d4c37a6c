"""Decisions that are said: lines that begin with `DECISION:`, `CONSTRAINT:`, `DEAD END:` or `FACT:`.

Source: design 3 (Hooks).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinfold.store.values import MAX_PIN_CHARS, MAX_WHY_CHARS, PinKind

LABELS = ("DECISION", "CONSTRAINT", "DEAD END", "FACT")
USER_SAID = "The user said so."
AGENT_SAID = "The agent said so."
SOURCES = (USER_SAID, AGENT_SAID)
"""What stands in place of a reason where none was given."""

_LEAD = r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)*(?P<bold>\*\*|__)?"
_COLON = r"(?P<closed>\*\*|__)?[ \u00a0\u202f]?[:：](?P<closed_behind>\*\*|__)?\s*"
_LABEL = re.compile(rf"{_LEAD}(?P<kind>{'|'.join(LABELS)}){_COLON}(?P<text>.*)", re.DOTALL)
_WHY_LINE = re.compile(rf"{_LEAD}(?:why|because){_COLON}(?P<text>.*)", re.DOTALL | re.IGNORECASE)
_WHY_INSIDE = re.compile(rf"(?:\A|(?<=[\s.;,)!。；，！]))(?:\*\*|__)?(?:why|because){_COLON}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """One such line: its text word for word, and why. `fault` is a sentence on why it cannot be pinned, if so."""

    kind: PinKind
    text: str
    why: str
    fault: str | None = None


def said(text: str, source: str = USER_SAID) -> tuple[Said, ...]:
    """Return what a text says is to be kept, in order, each once; not what stands in code or in a quotation.

    A line begins with its label in capitals, after blanks, list markers or `**`. `why` is what follows `Why:` or
    `Because:` on the same line or on the next one, else the clause behind because, else `source`.
    """
    from pinfold.context.sentences import unfenced  # who reads a transcript seldom comes so far

    lines = unfenced(text)
    found = []
    for place, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            below = _WHY_LINE.match(lines[place + 1]) if place + 1 < len(lines) else None
            found.append(_said(label, below, source))
    return tuple(dict.fromkeys(found))


def _said(label: re.Match[str], below: re.Match[str] | None, source: str) -> Said:
    from pinfold.context.specifics import reason

    content = _content(label)
    inside = _WHY_INSIDE.search(content)
    stated = content[inside.end() :] if inside else _content(below) if below else ""
    text = content[: inside.start()].rstrip() if inside else content
    why = stated.strip() or reason(text) or source
    return Said(PinKind(label["kind"].lower().replace(" ", "_")), text, why, _fault(text, why))


def _content(line: re.Match[str]) -> str:
    """Return what stands behind the colon, without the end of emphasis that began before the label."""
    content = line["text"].strip()
    is_open = line["bold"] and not (line["closed"] or line["closed_behind"])
    return content.removesuffix(line["bold"]).rstrip() if is_open else content


def _fault(text: str, why: str) -> str | None:
    if not text:
        return "Nothing follows the colon on that line."
    if len(text) > MAX_PIN_CHARS:
        return f"It has {len(text):,} characters; a pin holds at most {MAX_PIN_CHARS:,}."
    if len(why) > MAX_WHY_CHARS:
        return f"Its reason has {len(why):,} characters; at most {MAX_WHY_CHARS:,} are kept."
    if "\0" in text + why or re.search("[\ud800-\udfff]", text + why):
        return "It holds characters that are no text (NUL or half of a surrogate pair)."
    return None
