"""pin_decision: keep a decision verbatim, show it after every compaction until it is superseded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from pinfold.context.pin_lines import pin_text
from pinfold.context.specifics import specifics
from pinfold.context.tokens import count_async
from pinfold.context.visible import counted, shorten
from pinfold.store.commands import PinDecision as Command
from pinfold.store.results import Likeness, PinnedDecision
from pinfold.store.values import MAX_PIN_CHARS, MAX_WHY_CHARS, PinKind, Pointer, PointerKind
from pinfold.tools.arguments import Arguments
from pinfold.tools.checks import KEY, PATHS, Choice, Flag, Items, PointerTo, Text
from pinfold.tools.render import NOTE, fenced, lean, lines
from pinfold.tools.tool import WRITES, Desk, Reply, Tool

_SIMILAR_CHARS = 160


class PinDecision(Arguments):
    """Arguments of pin_decision."""

    text: Annotated[str, Text(MAX_PIN_CHARS), Field(description="with exact values")]
    why: Annotated[str, Text(MAX_WHY_CHARS), Field(description="reason or source")]
    kind: Annotated[PinKind, Choice(tuple(PinKind))] = PinKind.DECISION
    supersedes: Annotated[
        tuple[Pointer, ...], Items(PointerTo(PointerKind.PIN)), Field(description="P3")
    ] = ()
    session_only: Annotated[bool, Flag()] = False
    files: Annotated[tuple[str, ...], PATHS] = ()
    key: Annotated[str, KEY, Field(description="idempotency")] = ""


async def run(desk: Desk, arguments: PinDecision) -> Reply:
    """Pin it and tell what resembles it. Raises as `Store.pin_decision`."""
    result = await desk.store.pin_decision(
        Command(
            caller=desk.caller,
            text=arguments.text,
            why=arguments.why,
            kind=PinKind(arguments.kind),
            supersedes=tuple(dict.fromkeys(pointer.number for pointer in arguments.supersedes)),
            session_only=arguments.session_only,
            files=arguments.files,
            specifics=specifics(f"{arguments.text}\n{arguments.why}"),
            tokens=await count_async(pin_text(arguments.text, arguments.why, arguments.files)),
            key=arguments.key or None,
        )
    )
    return _reply(desk, result)


def _reply(desk: Desk, result: PinnedDecision) -> Reply:
    pin, budget = result.pin, desk.limits.brief.tokens
    status = "repeated" if result.repeated else "pinned"
    superseded = [f"P{number}" for number in pin.supersedes]
    alike = [*_alike(result.dead_ends, "a dead end"), *_alike(result.similar, "close")]
    facts = lean(
        {
            "pointer": pin.pointer,
            "status": status,
            "kind": pin.kind.value,
            "receipt": str(result.receipt),
            "watched": list(pin.specifics),
            "superseded": superseded,
            "similar": _told(result.similar),
            "dead_ends": _told(result.dead_ends),
            "live": {"pins": result.live_pins, "tokens": result.live_tokens, "of": budget},
            "note": NOTE if alike else None,
        }
    )
    text = lines(
        [
            f"{pin.pointer} {pin.kind.value} {status}, receipt {result.receipt}",
            f"superseded: {', '.join(superseded)}" if superseded else None,
            fenced(desk.store, f"watched: {', '.join(pin.specifics)}") if pin.specifics else None,
            "Resembles live pins; supersede what no longer holds:" if alike else None,
            fenced(desk.store, "\n".join(alike)) if alike else None,
            _share(result, budget),
        ]
    )
    return Reply(text, facts)


def _alike(likenesses: Sequence[Likeness], word: str) -> list[str]:
    return [f"{like.pin.pointer} ({word}) {shorten(like.pin.text, _SIMILAR_CHARS)}" for like in likenesses]


def _told(likenesses: Sequence[Likeness]) -> list[dict[str, Any]]:
    return [
        {"pointer": like.pin.pointer, "text": shorten(like.pin.text, _SIMILAR_CHARS)} for like in likenesses
    ]


def _share(result: PinnedDecision, budget: int) -> str:
    share = f"{counted(result.live_pins, 'live pin')}: {result.live_tokens:,} of {budget:,} tokens"
    return (
        share
        if result.live_tokens <= budget
        else f"{share}; over the brief's budget, older ones are shortened: supersede or merge some"
    )


TOOL = Tool(
    name="pin_decision",
    title="Pin decision",
    description=(
        "Write down a decision, constraint, fact or dead end the moment it is settled "
        '("we will", "must", "because", "does not work"). It is shown verbatim after every compaction and in '
        "every session until superseded. "
        "Text at most 2,000 characters. Returns its pointer (P7) and similar pins."
    ),
    arguments=PinDecision,
    annotations=WRITES,
    run=run,
    meta={"anthropic/alwaysLoad": True},
)
