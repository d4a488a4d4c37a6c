"""Matches in readable bytes with the lines around them, or with a window where a line is very long."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pinfold.context.visible import clip, counted, visible
from pinfold.store.errors import InvalidInputError
from pinfold.tools.ask import Ask
from pinfold.tools.body import Body
from pinfold.tools.fetch_slice import Subject
from pinfold.tools.fit import fitting_async
from pinfold.tools.render import NOTE, fenced, lean, lines
from pinfold.tools.scan import AROUND_BYTES, Hit, compiled, hits_in
from pinfold.tools.tool import Reply

_LINE_CHARS = 400
_GROUP_BYTES = 64 * 1024
_MOST_HITS = 200


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring hits that are shown together: lines `first` to `last`, or one window in a long line."""

    first: int
    last: int
    hits: tuple[Hit, ...]

    @property
    def is_wide(self) -> bool:
        """Whether it is one window in a long line."""
        return self.hits[0].is_wide


async def matches_of(body: Body, ask: Ask, subject: Subject, pattern: str) -> Reply:
    """Return the next page of matches in their surroundings; raises `InvalidInputError` for binary."""
    if body.is_binary:
        raise InvalidInputError(
            f"{subject.pointer} is binary.", f"Read it in ranges: {subject.pointer}#B0-4095."
        )
    hits = await hits_in(body, compiled(pattern), ask.at or 0, _MOST_HITS)
    groups = _grouped(hits, ask.context)
    blocks = await _blocks(body, groups, ask.room.chars)
    keep = await fitting_async(len(blocks), lambda size: _both("\n".join(blocks[:size])), ask.room)
    text = "\n".join(blocks[:keep])
    if blocks and not keep:
        keep, text = 1, await _cut(blocks[0], ask)
    more = keep < len(groups) or len(hits) == _MOST_HITS
    return _reply(body, ask, subject, _Found(groups[:keep], text, more))


def _grouped(hits: list[Hit], context: int) -> list[_Group]:
    groups: list[_Group] = []
    for hit in hits:
        around = 0 if hit.is_wide else context
        first, last = max(1, hit.line - around), hit.line + around
        before = groups[-1] if groups else None
        if before and not hit.is_wide and not before.is_wide and first <= before.last + 1:
            groups[-1] = _Group(before.first, last, (*before.hits, hit))
        else:
            groups.append(_Group(first, last, (hit,)))
    return groups


async def _blocks(body: Body, groups: list[_Group], chars: int) -> list[str]:
    """Return the groups as text, until there is more than the room holds."""
    blocks: list[str] = []
    for group in groups:
        blocks.append(await (_window(body, group.hits[0]) if group.is_wide else _numbered(body, group)))
        chars -= len(blocks[-1])
        if chars < 0:
            break
    return blocks


async def _window(body: Body, hit: Hit) -> str:
    """Return `LINE@OFFSET: ...text...`: the match and what stands around it on its line."""
    start = max(0, hit.start - AROUND_BYTES)
    stop = min(hit.stop, hit.start + AROUND_BYTES) + AROUND_BYTES
    content = (await body.read(start, stop - start)).content
    first = content.rfind(b"\n", 0, hit.start - start) + 1
    newline = content.find(b"\n", hit.start - start)
    text = _whole_characters(content[first : newline if newline >= 0 else len(content)])
    return f"{hit.line}@{hit.start}: ...{text}..."


def _whole_characters(content: bytes) -> str:
    """Decode a window that may begin or end within a character, leaving those halves out."""
    first = next((place for place in range(min(4, len(content))) if content[place] & 0xC0 != 0x80), 0)
    for dropped in range(4):
        try:
            return content[first : len(content) - dropped].decode()
        except UnicodeDecodeError:
            continue
    return content[first:].decode("utf-8", "backslashreplace")


async def _numbered(body: Body, group: _Group) -> str:
    """Return the lines of a group, `12: match` and `13- context`."""
    piece = await body.read_lines(group.first, group.last, _GROUP_BYTES)
    matching = {hit.line for hit in group.hits}
    text = piece.content.decode("utf-8", "backslashreplace").removesuffix("\n")
    return "\n".join(
        f"{number}{':' if number in matching else '-'} {_short(line)}"
        for number, line in enumerate(text.split("\n"), start=group.first)
    )


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else clip(line, _LINE_CHARS) + "..."


def _both(text: str) -> tuple[str, str]:
    return visible(text), json.dumps(text, ensure_ascii=False)


async def _cut(block: str, ask: Ask) -> str:
    """Return the start of a block that alone is more than the room holds."""
    keep = await fitting_async(len(block), lambda size: _both(block[:size] + "..."), ask.room)
    return clip(block, keep) + "..."


@dataclass(frozen=True, slots=True)
class _Found:
    """The groups that a reply shows, their text, and whether the search can go on behind them."""

    groups: list[_Group]
    text: str
    more: bool


def _reply(body: Body, ask: Ask, subject: Subject, found: _Found) -> Reply:
    hits = [hit for group in found.groups for hit in group.hits]
    resume = hits[-1].resume if hits else body.size_bytes
    left = body.size_bytes - resume
    facts = lean(
        {
            "pointer": subject.pointer,
            **subject.facts,
            "matches": len(hits),
            "of": {"lines": body.line_count, "bytes": body.size_bytes},
            "left": {"bytes": left} if found.more else None,
            "next": ask.next_cursor(resume) if found.more else None,
            "text": found.text,
            "note": NOTE if hits else None,
        }
    )
    shown = f"{counted(len(hits), 'matching line')} in {counted(body.line_count, 'line')}"
    head = f"{subject.pointer} {shown}{subject.title and f': {subject.title}'}"
    tail = f"{counted(left, 'byte')} not searched yet; next: {ask.next_call(resume)}" if found.more else None
    return Reply(lines([head, fenced(ask.desk.store, found.text) if found.text else None, tail]), facts)
