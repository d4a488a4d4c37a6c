"""Strings in play: paths, identifiers, commits, issues and numbers of what was said and done, by decayed frequency.

Taken from messages and tool inputs, not from tool results. Source: design 2 (The brief).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from pinfold.context.paths import merged_paths
from pinfold.context.specifics import Kept, specifics
from pinfold.store.results import Entry

HALF_LIFE = 40
MOST_STRINGS = 300
_LONGEST = 160
_ENTRY_CHARS = 20_000
_ENTRY_STRINGS = 400
_MOST_CHARS = 1_000_000
_MOST_COMPARED = 1_000
_MOST_SEQS = 20
_COMMON = 0.1
"""What counts a number without a unit, and a name of no project: `time.Now`, `HEAD`, `Step 2`, `.body`."""

_OVERHEAD = 12
"""Characters that a string takes beside its own: blanks, its part of labels and pointers."""


class Kind(StrEnum):
    """What a string is; the value is the heading under which the brief shows it."""

    PATH = "files"
    NAME = "names"
    COMMIT = "commits"
    ISSUE = "issues"
    NUMBER = "numbers"


_COMMIT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_ISSUE = re.compile(r"[\w./-]*#\d+")
_NUMBER = re.compile(
    r"[~±<>≤≥=$€£¥+-]{0,3}(?:\d[\d.,_]*[\s-]?(?:[^\W\d_]{1,20}(?:/[^\W\d_]{1,12})?|[%‰€$£×]|°[CF]?)?"
    r"|v?\d+(?:\.\d+)+(?:[-+.]\w+)*|\d{1,4}(?:[-:T.]\d+)+Z?)"
)
_EXTENSIONS = (
    "bat|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|cxx|dart|db|env|erl|ex|exs|go|gradle|graphql|h|hcl|hpp|hs|html|ini"
    "|ipynb|java|jpe?g|js|json5?|jsonl|jsx|kts?|less|lock|log|lua|md|mjs|ml|nix|php|pl|png|proto|ps1|py|pyi|rb|rs|rst"
    "|sass|scala|scss|sh|sql|sqlite|svelte|svg|swift|tex|tf|toml|tsx?|txt|vue|xml|ya?ml|zig|zsh"
)
_FILE = re.compile(rf"[\w@+.-]*\w\.(?:{_EXTENSIONS})(?::\d+(?:[:-]\d+)?)?|\.[a-z]\w+ignore", re.IGNORECASE)
_PLACE = re.compile(r"(?::\d+)(?:[:-]\d+)?\Z")

_BARE = re.compile(r"(?!v?\d+\.\d+\.\d)[-+~<>=≤≥±\d.,:_\s]+p?")
"""A number without a unit, which in a tool's input is a range of lines or a limit; not a version."""

_CHAIN = re.compile(r"[^\W\d]\w*(?:(?:\.|::|->)[^\W\d]\w*)+")
_LINK = re.compile(r"\.|::|->")
_RECEIVER = re.compile(r"(?<![\w./])[a-z]\.(?=[a-zA-Z]\w*[A-Z_])")
_COMMON_NAME = re.compile(rf"{_CHAIN.pattern}|\.\w+|[A-Z]+|.*\s.*")
_PATTERN = re.compile(r"[*$]|\\(?!\w)")

_ESCAPED = re.compile(r'\\(["\\/bfnrt])')
_KEY = re.compile(r'(?<!\\)"[\w-]{1,40}"\s*:')
_ARGUMENT = re.compile(r"(?m)^\w{1,40}: (.*)")
_ESCAPED_BREAK = re.compile(r"(?<![\w:.])\\[nrt]|\\[nrt](?![a-z_])|\\(?=\s|\Z)")
_OPENED = str.maketrans("\"'`=“”«»「」", "          ")
_PATCH_MARK = re.compile(r"(?m)^[+-](?=\w)")


@dataclass(slots=True)
class _Use:
    """How much a string was in play: its decayed frequency, and the newest entries that hold it."""

    score: float = 0.0
    seqs: list[int] = field(default_factory=list)

    def add(self, score: float, seqs: Sequence[int]) -> None:
        self.score += score
        self.seqs.extend(seqs[: _MOST_SEQS - len(self.seqs)])


_Uses = dict[str, _Use]


def kind_of(string: str) -> Kind | None:
    """Return what a specific is; None for flags, addresses, patterns and what is too long to be offered."""
    if len(string) > _LONGEST or "://" in string or not string.isprintable():
        return None
    if _COMMIT.fullmatch(string):
        return Kind.COMMIT
    if _NUMBER.fullmatch(string):
        return Kind.NUMBER
    if _ISSUE.fullmatch(string):
        return Kind.ISSUE
    if string.startswith("-") or len(string) < 3:
        return None
    if "/" in string or "\\" in string or _FILE.fullmatch(string):
        return None if _PATTERN.search(string) else Kind.PATH
    return Kind.NAME


def strings_in_play(entries: Sequence[Entry], kept: Iterable[Kept]) -> tuple[tuple[str, str], ...]:
    """Return at most `MOST_STRINGS` (string, pointer), most in play first, without what any of `kept` holds.

    `entries` are oldest first; of older ones only what the newest million characters leave room for is read. Of the
    entries that hold a string, its pointer names the one that holds most others too.
    """
    texts = tuple(kept)
    ranked = _ranked(_uses(entries))
    absent = (each for each in ranked if not any(_holds(text, each[0]) for text in texts))
    merged = _merged(dict(islice(absent, _MOST_COMPARED)))
    return _with_pointers(_not_inside(_ranked(merged)))


def _holds(text: Kept, form: str) -> bool:
    """Whether a text holds a form; a name in its own case only, since `sessionId` and `SessionId` are two of them."""
    is_name = kind_of(form) is Kind.NAME and " " not in form
    return text.spells(form) if is_name else text.holds(form)


def _ranked(uses: _Uses) -> list[tuple[str, _Use]]:
    return sorted(uses.items(), key=lambda item: (-item[1].score, len(item[0]), item[0]))


def _uses(entries: Sequence[Entry]) -> _Uses:
    uses: _Uses = {}
    room = _MOST_CHARS
    for age, entry in enumerate(reversed(entries)):
        if entry.role == "tool_result":
            continue
        for form in _forms(entry):
            uses.setdefault(form, _Use()).add(_worth(form) * 2 ** (-age / HALF_LIFE), [entry.seq])
        room -= len(entry.text)
        if room < 0:
            break
    return uses


def _worth(form: str) -> float:
    """Return what a use of a string counts: short ones, and those that are a project's own, serve most in the room."""
    is_common = _BARE.fullmatch(form) or (kind_of(form) is Kind.NAME and _COMMON_NAME.fullmatch(form))
    return (_COMMON if is_common else 1) * _OVERHEAD / (_OVERHEAD + len(form))


def _forms(entry: Entry) -> set[str]:
    """Return what one entry holds, quoted text opened."""
    text = entry.text[:_ENTRY_CHARS]
    is_input = entry.role == "tool_call"
    if is_input:
        text = _opened_input(text)
    found = specifics(_RECEIVER.sub(" ", text.translate(_OPENED)), _ENTRY_STRINGS)
    return {part for form in found for part in _parts(form) if not (is_input and _BARE.fullmatch(part))}


def _parts(form: str) -> Iterable[str]:
    """Return a path without line numbers, and of a chain such as `self.store.read_all` the names that are its own."""
    kind = kind_of(form)
    if kind is Kind.PATH:
        return [_PLACE.sub("", form)]
    if kind is Kind.NAME and _CHAIN.fullmatch(form):
        return [part for part in _LINK.split(form) if specifics(part, 1) == (part,)] or [form]
    return [form] if kind else []


def _opened_input(text: str) -> str:
    """Return a tool's input as the text that it carries, without names of arguments, JSON's keys and escapes."""
    text = _opened_json(text) if text.lstrip()[:1] in ("{", "[") else _ARGUMENT.sub(_value, text)
    return _PATCH_MARK.sub(" ", _ESCAPED_BREAK.sub("\n", text))


def _value(argument: re.Match[str]) -> str:
    return _opened_json(argument[1]) if argument[1][:1] in ("{", "[") else argument[1]


def _opened_json(text: str) -> str:
    return _ESCAPED.sub(_plain, _KEY.sub(" ", text))


def _plain(escape: re.Match[str]) -> str:
    return escape[1] if escape[1] in '"\\/' else "\n"


def _merged(uses: _Uses) -> _Uses:
    """Count spellings of one path as one."""
    paths = merged_paths([form for form in uses if kind_of(form) is Kind.PATH])
    merged: _Uses = {}
    for form, use in uses.items():
        shown = paths.get(form, form)
        if kind_of(shown):
            merged.setdefault(shown, _Use()).add(use.score, use.seqs)
    return merged


def _not_inside(ranked: Iterable[tuple[str, _Use]]) -> _Uses:
    """Return the first ones, without names that a better one already contains as a word."""
    chosen: _Uses = {}
    joined = ""
    for form, use in ranked:
        if kind_of(form) is not Kind.PATH and form in joined and Kept(joined).spells(form):
            continue
        chosen[form] = use
        joined += f"{form}\n"
        if len(chosen) == MOST_STRINGS:
            break
    return chosen


def _with_pointers(chosen: _Uses) -> tuple[tuple[str, str], ...]:
    """Name for each string an entry that holds it, so that few entries serve many strings of a kind."""
    pointers: dict[str, str] = {}
    for kind in Kind:
        unserved = {form: use.seqs for form, use in chosen.items() if kind_of(form) is kind}
        while unserved:
            shared = Counter(seq for seqs in unserved.values() for seq in set(seqs))
            best = max(shared, key=lambda seq: (shared[seq], seq))
            pointers |= {form: f"H{best}" for form, seqs in unserved.items() if best in seqs}
            unserved = {form: seqs for form, seqs in unserved.items() if form not in pointers}
    return tuple((form, pointers[form]) for form in chosen)
