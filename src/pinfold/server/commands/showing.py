"""What stands behind a pointer, for a person: exact bytes in a pipe, safe text on a terminal, whole in either case."""

from __future__ import annotations

import base64
import codecs
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import click

from pinfold.context.visible import size_text, visible
from pinfold.server.brief_report import brief_report
from pinfold.server.commands import listings
from pinfold.server.commands.finding import desk_of
from pinfold.server.commands.folds import folds_report
from pinfold.server.commands.tables import Report, tell, tolerate_encoding
from pinfold.server.reports import ask
from pinfold.server.settings import Settings
from pinfold.store import Store
from pinfold.store.errors import InvalidInputError
from pinfold.store.values import PointerKind
from pinfold.tools import call
from pinfold.tools.body import ArtifactBody, Body
from pinfold.tools.fetch_record import record_of
from pinfold.tools.fetch_slice import wanted_bytes, wanted_lines
from pinfold.tools.pointers import BriefAt, Listing, ListingName, Place, Target, parse, parse_lines

_PIECE = 1024 * 1024
_PAGE_TOKENS = 20_000
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
            ask(settings, lambda store: _looked_up(store, {"pointer": str(target), **arguments}, form))
        case Place():
            ask(settings, lambda store: _whole(store, target, form))


def _target(pointer: str, arguments: Mapping[str, str]) -> Target:
    target = parse(pointer)
    if not isinstance(target, Place):
        if arguments:
            raise InvalidInputError(f"{target} has no parts.", "Leave the options out.")
        return target
    if "lines" not in arguments or "match" in arguments or "json_path" in arguments:
        return target
    if target.part is not None:
        raise InvalidInputError(f"{target} already names a part.", "Leave --lines out, or the part.")
    return Place(target.pointer, parse_lines(arguments["lines"]))


async def _looked_up(store: Store, arguments: Mapping[str, object], form: Form) -> None:
    """Print all pages of what a regular expression or a JSONPath finds."""
    pages: list[str] = []
    desk, cursor = desk_of(store), ""
    while True:
        given = {**arguments, "cursor": cursor, "max_tokens": _PAGE_TOKENS}
        facts = (await call(desk, "fetch_pointer", given)).structured
        pages.append(facts.get("text", ""))
        cursor = facts.get("next", "")
        if not cursor:
            break
    text = ("\n" if "match" in arguments else "").join(pages)
    if form.as_json:
        click.echo(json.dumps({"project": store.project, "pointer": facts["pointer"], "text": text}))
    elif text:
        click.echo(visible(text))
    else:
        click.echo("No match.", err=True)


async def _whole(store: Store, place: Place, form: Form) -> None:
    if place.pointer.kind is PointerKind.ARTIFACT:
        artifact = await store.artifact(place.pointer.number)
        body = ArtifactBody(store, artifact)
        facts = {"pointer": str(place), **asdict(artifact)}
        await _print_body(body, place, facts, form)
    else:
        await _print_record(store, place, form)


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
    elif form.raw or not sys.stdout.isatty():
        async for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    elif body.is_binary:
        raise InvalidInputError(
            f"{place} is binary, {size_text(body.size_bytes)}.",
            f"Save it: pinfold show '{place}' > FILE; --raw prints it all the same.",
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
