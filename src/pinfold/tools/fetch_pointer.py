"""fetch_pointer: read back any pointer or a part of it, the brief, and the listings."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pinfold.context.brief import Budget, render_brief
from pinfold.context.quoting import quoted
from pinfold.context.repository_lines import moved_since
from pinfold.context.visible import counted, shorten
from pinfold.store.errors import InvalidInputError
from pinfold.store.results import Artifact
from pinfold.store.values import Pointer, PointerKind
from pinfold.tools.arguments import Arguments
from pinfold.tools.ask import Ask
from pinfold.tools.body import ArtifactBody, Body
from pinfold.tools.checks import Check, Query, Whole
from pinfold.tools.coverage import coverage
from pinfold.tools.fetch_json import MAX_PATH_CHARS, json_matches
from pinfold.tools.fetch_listing import listing_reply
from pinfold.tools.fetch_match import matches_of
from pinfold.tools.fetch_record import Record, record_of, record_reply
from pinfold.tools.fetch_slice import Subject, slice_of
from pinfold.tools.fit import DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS, room_for
from pinfold.tools.pointers import SHAPES, BriefAt, LineRange, Listing, Place, Target, parse, parse_lines
from pinfold.tools.render import NAME_CHARS, NOTE, lean, lines, named
from pinfold.tools.tool import READS, Desk, Reply, Tool

_MAX_CONTEXT = 20
_MAX_PATTERN_CHARS = 1_000
_LEAST_BRIEF_TOKENS = 300


class _AnyPointer(Check):
    """Any pointer, the brief, or a listing."""

    takes_null = False

    def read(self, name: str, value: object) -> Target:
        """Return what it points to."""
        return parse(value)

    def schema(self) -> dict[str, Any]:
        """Describe it as a string."""
        return {"type": "string"}


class _Lines(Check):
    """A range of lines."""

    def read(self, name: str, value: object) -> LineRange:
        """Return the range."""
        return parse_lines(value)

    def schema(self) -> dict[str, Any]:
        """Describe it as a string."""
        return {"type": "string"}


class FetchPointer(Arguments):
    """Arguments of fetch_pointer."""

    pointer: Annotated[Target, _AnyPointer()]
    lines: Annotated[LineRange | None, _Lines(), Field(description="10-40, or -50 for the last 50")] = None
    match: Annotated[str, Query(_MAX_PATTERN_CHARS), Field(description="regex (RE2)")] = ""
    context: Annotated[int, Whole(0, _MAX_CONTEXT), Field(description="lines around a match")] = 2
    json_path: Annotated[str, Query(MAX_PATH_CHARS), Field(description="$.a[0].b")] = ""
    cursor: Annotated[str, Query(_MAX_PATTERN_CHARS), Field(description="`next` of the last reply")] = ""
    max_tokens: Annotated[int, Whole(LEAST_TOKENS, MOST_TOKENS)] = DEFAULT_TOKENS


async def run(desk: Desk, arguments: FetchPointer) -> Reply:
    """Read what the pointer leads to; raises `NotFoundError` with the reason and what to call instead."""
    ask = _ask(desk, arguments)
    match ask.target:
        case Listing() as listing:
            return await listing_reply(ask, listing)
        case BriefAt() as brief:
            return await _brief(ask, brief, _brief_budget(desk, arguments))
        case Place(pointer):
            reply = await _opened(ask, pointer)
            if pointer.kind is not PointerKind.SEARCH:
                await desk.store.note_opened(desk.caller, pointer)
            return reply


async def _opened(ask: Ask, pointer: Pointer) -> Reply:
    if pointer.kind is PointerKind.ARTIFACT:
        return await _artifact(ask, pointer.number)
    return await _record(ask, await record_of(ask.desk.store, pointer))


def _ask(desk: Desk, arguments: FetchPointer) -> Ask:
    target, lines_ = arguments.pointer, arguments.lines
    part = target.part if isinstance(target, Place) else None
    if part and lines_:
        raise InvalidInputError(f"{target} already names a part.", "Leave `lines` out, or the part.")
    if (part or lines_) and arguments.match:
        raise InvalidInputError("`match` searches everything.", "Leave the lines out, or `match`.")
    if not isinstance(target, Place) and (lines_ or arguments.match or arguments.json_path):
        raise InvalidInputError(f"{target} has no parts.", f"Use it alone. {SHAPES}")
    room = room_for(arguments.max_tokens, asked="max_tokens" in arguments.model_fields_set)
    return Ask(
        desk,
        target,
        room,
        part=part or lines_,
        match=arguments.match or None,
        context=arguments.context,
        json_path=arguments.json_path or None,
        given_cursor=arguments.cursor or None,
    )


async def _artifact(ask: Ask, number: int) -> Reply:
    artifact = await ask.desk.store.artifact(number)
    body: Body = ArtifactBody(ask.desk.store, artifact)
    subject = _subject(ask, artifact)
    if ask.json_path is not None:
        found = await json_matches(body, artifact.pointer, ask.json_path)
        if not found.count:
            return Reply(
                f"{artifact.pointer} no match of json_path", {"pointer": artifact.pointer, "matches": 0}
            )
        title = f"{counted(found.count, 'match', 'matches')}{' or more' if found.more else ''} of json_path"
        body = found.body
        subject = Subject(artifact.pointer, title, {"matches": found.count}, is_derived=True)
    return await _part_of(body, ask, subject)


def _subject(ask: Ask, artifact: Artifact) -> Subject:
    """Say what it is on the first page; later ones are known to continue it and only name it."""
    names = {"label": artifact.label, "path": artifact.path or "", "source": artifact.source}
    if ask.given_cursor is not None:
        name = next((name for name in names.values() if name), "")
        return Subject(artifact.pointer, quoted(name, NAME_CHARS))
    media_type = artifact.outline.media_type
    title = ", ".join(part for part in (named(names), media_type, coverage(artifact)) if part)
    shown = {word: shorten(name, NAME_CHARS) for word, name in names.items()}
    covered = {"searchable_bytes": artifact.indexed_bytes} if artifact.is_part_searchable else {}
    return Subject(artifact.pointer, title, shown | {"type": media_type} | covered)


async def _part_of(body: Body, ask: Ask, subject: Subject) -> Reply:
    if ask.match is not None:
        return await matches_of(body, ask, subject, ask.match)
    return await slice_of(body, ask, subject)


async def _record(ask: Ask, record: Record) -> Reply:
    if ask.json_path is not None:
        raise InvalidInputError(f"{record.pointer} is not JSON.", "`json_path` reads artifacts.")
    if ask.match is not None:
        return await matches_of(record.body, ask, record.subject, ask.match)
    return await record_reply(ask, record)


def _brief_budget(desk: Desk, arguments: FetchPointer) -> Budget:
    """Return the brief's own budget; `max_tokens` only makes it smaller, down to what a brief needs."""
    budget = desk.limits.brief
    if "max_tokens" not in arguments.model_fields_set:
        return budget
    tokens = max(_LEAST_BRIEF_TOKENS, arguments.max_tokens)
    return Budget(tokens=min(budget.tokens, tokens), chars=budget.chars)


async def _brief(ask: Ask, target: BriefAt, budget: Budget) -> Reply:
    desk = ask.desk
    state = await desk.store.brief_state(desk.caller, target.as_of)
    brief = render_brief(state, desk.store.fence, budget)
    moved = moved_since(state, desk.caller)
    facts = lean(
        {"brief": brief.text, "seq": state.seq, "tokens": brief.tokens, "moved": moved, "note": NOTE}
    )
    return Reply(lines([brief.text.rstrip("\n"), moved]), facts)


TOOL = Tool(
    name="fetch_pointer",
    title="Fetch pointer",
    description=(
        "Read back a pointer: P7, A12, A12#L10-40, C3, H142, F2, S9; or brief (pins and state; call it "
        "after a compaction), pins, artifacts, checkpoints, folds, misses. Parts of anything long by lines, "
        "match or json_path. A cut reply says what is left and gives the next call."
    ),
    arguments=FetchPointer,
    annotations=READS,
    run=run,
    meta={"anthropic/alwaysLoad": True, "anthropic/maxResultSizeChars": 500_000},
)
