"""What stands behind a pointer, for a person: exact bytes in a pipe; on a terminal safe text, and of much a preview."""

from __future__ import annotations

import base64
import codecs
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import click

from pinfold.context.visible import counted, size_text, visible
from pinfold.server.commands import listings
from pinfold.server.commands.brief_report import brief_report
from pinfold.server.commands.finding import desk_of
from pinfold.server.commands.folds import folds_report
from pinfold.server.commands.reports import ask
from pinfold.server.commands.tables import Report, tell, tolerate_encoding
from pinfold.server.own_command import command_name
from pinfold.server.settings import Settings
from pinfold.server.terminals import is_terminal, standard_output
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError
from pinfold.store.results import Artifact
from pinfold.store.values import PointerKind
from pinfold.tools.ask import Ask
from pinfold.tools.body import ArtifactBody, Body
from pinfold.tools.fetch_json import json_matches
from pinfold.tools.fetch_match import matches_of
from pinfold.tools.fetch_record import record_of
from pinfold.tools.fetch_slice import Subject, wanted_bytes, wanted_lines
from pinfold.tools.fit import Room
from pinfold.tools.pointers import BriefAt, Listing, ListingName, Place, Target, parse, parse_lines

_PIECE = 1024 * 1024
_SCREEN_BYTES = 16 * 1024
"""What a terminal is given whole, a few screens: more is shown by its preview, unless a part or all is asked for."""
_CONTEXT = 2
_ALL = Room(tokens=2**40, chars=2**40)
_LISTINGS: Mapping[ListingName, Callable[[Settings, int | None], Report]] = {
    "pins": lambda settings, limit: listings.pins_report(settings, limit, superseded=True),
    "artifacts": listings.artifacts_report,
    "checkpoints": listings.checkpoints_report,
    "folds": folds_report,
    "misses": listings.misses_report,
}


@dataclass(frozen=True, slots=True)
class Form:
    """How something is to be shown: as one JSON object, as exact bytes, or as its reader needs it."""

    as_json: bool = False
    raw: bool = False


def show(settings: Settings, pointer: str, arguments: Mapping[str, str], form: Form) -> None:
    """Print what a pointer leads to; `arguments` are those of fetch_pointer: lines, match, json_path.

    Raises `NotFoundError`, and `InvalidInputError` for what cannot be shown so.
    """
    tolerate_encoding()
    target = _target(pointer, arguments)
    match target:
        case Listing(name):
            tell(_LISTINGS[name](settings, None), as_json=form.as_json)
        case BriefAt(as_of):
            click.echo(brief_report(settings, as_of, as_json=form.as_json))
        case Place() if "match" in arguments or "json_path" in arguments:
            ask(settings, lambda store: _looked_up(store, target, arguments, form))
        case Place():
            ask(settings, lambda store: _whole(store, target, form))


def _target(pointer: str, arguments: Mapping[str, str]) -> Target:
    target = parse(pointer)
    if not isinstance(target, Place):
        if arguments:
            raise InvalidInputError(f"{target} has no parts.", "Leave the options out.")
        return target
    if "lines" in arguments and target.part is not None:
        raise InvalidInputError(f"{target} already names a part.", "Leave --lines out, or the part.")
    part = parse_lines(arguments["lines"]) if "lines" in arguments else target.part
    if part is not None and ("match" in arguments or "json_path" in arguments):
        raise InvalidInputError("--match and --json-path look through everything.", "Leave the lines out.")
    return Place(target.pointer, part)


async def _looked_up(store: Store, place: Place, arguments: Mapping[str, str], form: Form) -> None:
    """Print all that a JSONPath finds, or a regular expression in that or in everything."""
    body = await _body(store, place)
    pointer = str(place.pointer)
    if "json_path" in arguments:
        body = (await json_matches(body, pointer, arguments["json_path"])).body
    if "match" in arguments:
        pages = _matches(Ask(desk_of(store), place, _ALL, match=arguments["match"], context=_CONTEXT), body)
    else:
        pages = _texts(body)
    if form.as_json:
        text = "\n".join([page async for page in pages])
        click.echo(json.dumps({"project": store.project, "pointer": pointer, "text": text}))
        return
    found = False
    async for page in pages:
        found = True
        click.echo(visible(page))
    if not found:
        click.echo("No match.", err=True)


async def _body(store: Store, place: Place) -> Body:
    if place.pointer.kind is PointerKind.ARTIFACT:
        return ArtifactBody(store, await store.artifact(place.pointer.number))
    return (await record_of(store, place.pointer)).body


async def _matches(ask: Ask, body: Body) -> AsyncIterator[str]:
    """Yield page after page of matches with the lines around them."""
    assert ask.match is not None
    while True:
        facts = (await matches_of(body, ask, Subject(str(ask.target), ""), ask.match)).structured
        if facts.get("text"):
            yield facts["text"]
        if "next" not in facts:
            return
        ask = replace(ask, given_cursor=facts["next"])


async def _texts(body: Body) -> AsyncIterator[str]:
    content = (await body.read(0, body.size_bytes)).content
    if content:
        yield content.decode("utf-8", "backslashreplace")


async def _whole(store: Store, place: Place, form: Form) -> None:
    if place.pointer.kind is PointerKind.ARTIFACT:
        artifact = await store.artifact(place.pointer.number)
        body = ArtifactBody(store, artifact)
        facts = {"pointer": str(place), **asdict(artifact)}
        is_asked_for = place.part is not None or form.as_json or form.raw or body.is_binary
        if is_asked_for or body.size_bytes <= _SCREEN_BYTES or not is_terminal(sys.stdout):
            await _print_body(body, place, facts, form)
        else:
            _print_preview(artifact)
    else:
        await _print_record(store, place, form)


def _print_preview(artifact: Artifact) -> None:
    shown = f"{command_name()} show {artifact.pointer}"
    click.echo(visible(artifact.outline.preview))
    click.echo(
        f"That is a part of {counted(artifact.lines, 'line')}, {size_text(artifact.size_bytes)}. All: {shown} --raw, or"
        f" {shown} > FILE. A part: --lines 1-100, --match PATTERN.",
        err=True,
    )


async def _print_record(store: Store, place: Place, form: Form) -> None:
    """Print a record as a short document; a part of it, or all of it raw, without what stands around it."""
    record = await record_of(store, place.pointer)
    if form.as_json and place.part is None:
        click.echo(json.dumps({"project": store.project, "pointer": record.pointer, **record.facts}))
    elif form.as_json or form.raw or place.part is not None:
        await _print_body(record.body, place, {"pointer": str(place)}, form)
    else:
        parts = (f"{record.pointer} {record.head}", record.document, record.tail)
        click.echo("\n".join(visible(part) for part in parts if part))


async def _print_body(body: Body, place: Place, facts: Mapping[str, Any], form: Form) -> None:
    pieces = _pieces(body, place)
    if form.as_json:
        click.echo(json.dumps({**facts, **_content(b"".join([piece async for piece in pieces]))}))
    elif form.raw or not is_terminal(sys.stdout):
        async for piece in pieces:
            standard_output().buffer.write(piece)
        standard_output().buffer.flush()
    elif body.is_binary:
        raise InvalidInputError(
            f"{place} is binary, {size_text(body.size_bytes)}.",
            f"Save it: {command_name()} show '{place}' > FILE; --raw prints it all the same.",
        )
    else:
        await _print_safely(pieces)


def _content(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


async def _pieces(body: Body, place: Place) -> AsyncIterator[bytes]:
    """Yield the bytes of a place in order. Raises `NotFoundError` for a part behind the end."""
    start, stop = await _span(body, place)
    while start < stop:
        piece = await body.read(start, min(_PIECE, stop - start))
        start = piece.stop
        yield piece.content


async def _span(body: Body, place: Place) -> tuple[int, int]:
    lines = wanted_lines(body, place.part, str(place.pointer))
    if lines is None:
        return wanted_bytes(body, place.part, str(place.pointer))
    first, last = lines
    start = (await body.read_lines(first, first, 1)).start
    if last >= body.line_count:
        return start, body.size_bytes
    return start, (await body.read_lines(last + 1, last + 1, 1)).start


async def _print_safely(pieces: AsyncIterator[bytes]) -> None:
    """Print text with what is hidden spelled out, in whole lines: what hides is known by its neighbours."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    held = ""
    async for piece in pieces:
        whole, newline, held = (held + decoder.decode(piece)).rpartition("\n")
        click.echo(visible(whole + newline), nl=False)
    held += decoder.decode(b"", final=True)
    if held:
        click.echo(visible(held))
