"""checkpoint_state: save the working state, so that any later session continues from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from pinfold.context.brief import render_brief
from pinfold.context.repository_lines import spot
from pinfold.context.tokens import count_async
from pinfold.context.visible import shorten
from pinfold.store.commands import CheckpointState as Command
from pinfold.store.results import SavedCheckpoint
from pinfold.store.values import MAX_ITEM_CHARS, Pointer, PointerKind
from pinfold.tools.arguments import Arguments
from pinfold.tools.checks import KEY, LINES, PATHS, PointerTo, Text
from pinfold.tools.render import NOTE, fenced, lean, lines
from pinfold.tools.tool import WRITES, Desk, Reply, Tool

_SHOWN_ITEMS = 10
_ITEM_CHARS = 160


class CheckpointState(Arguments):
    """Arguments of checkpoint_state."""

    goal: Annotated[str, Text(MAX_ITEM_CHARS)] = ""
    done: Annotated[tuple[str, ...], LINES] = ()
    pending: Annotated[tuple[str, ...], LINES] = ()
    facts: Annotated[tuple[str, ...], LINES] = ()
    constraints: Annotated[tuple[str, ...], LINES] = ()
    next_step: Annotated[str, Text(MAX_ITEM_CHARS)] = ""
    files: Annotated[tuple[str, ...], PATHS] = ()
    fork_of: Annotated[Pointer | None, PointerTo(PointerKind.CHECKPOINT), Field(description="C4")] = None
    key: Annotated[str, KEY, Field(description="idempotency")] = ""


async def run(desk: Desk, arguments: CheckpointState) -> Reply:
    """Save it and tell what changed. Raises as `Store.checkpoint_state`."""
    saved = await desk.store.checkpoint_state(
        Command(
            caller=desk.caller,
            goal=arguments.goal,
            done=arguments.done,
            pending=arguments.pending,
            facts=arguments.facts,
            constraints=arguments.constraints,
            next_step=arguments.next_step,
            files=arguments.files,
            fork_of=arguments.fork_of.number if arguments.fork_of else None,
            tokens=await count_async(_counted_text(arguments)),
            key=arguments.key or None,
        )
    )
    return _reply(desk, saved)


def _counted_text(arguments: CheckpointState) -> str:
    lists = (arguments.done, arguments.pending, arguments.facts, arguments.constraints, arguments.files)
    return "\n".join([arguments.goal, *(item for items in lists for item in items), arguments.next_step])


def _reply(desk: Desk, saved: SavedCheckpoint) -> Reply:
    checkpoint = saved.checkpoint
    weight = render_brief(saved.brief, desk.store.fence, desk.limits.brief).tokens
    changes = {"opened": saved.opened, "closed": saved.closed, "kept": saved.kept}
    counts = {word: len(part) for word, part in changes.items()}
    shown = {word: _first(part) for word, part in changes.items()}
    undone = [] if _is_bare_fork(saved) else _first([i for i in saved.closed if i not in checkpoint.done])
    items = [f"{_word(word, item, undone)}: {item}" for word, part in shown.items() for item in part]
    facts = lean(
        {
            "pointer": checkpoint.pointer,
            "status": _status(saved),
            "receipt": str(saved.receipt),
            "session": saved.session,
            "forked_from": _pointer(saved.forked_from),
            "previous": _pointer(saved.previous),
            **shown,
            "not_done": undone,
            "counts": counts if any(count > _SHOWN_ITEMS for count in counts.values()) else None,
            "head": checkpoint.head,
            "branch": checkpoint.branch,
            "brief_tokens": weight,
            "note": NOTE if items else None,
        }
    )
    told = ", ".join(f"{count} {word}" for word, count in counts.items())
    against = f" against {_pointer(saved.previous)}" if saved.previous else ""
    text = lines(
        [
            f"{_headline(saved)}, receipt {saved.receipt}",
            f"pending{against}: {told}",
            fenced(desk.store, "\n".join(items)) if items else None,
            f"git: {spot(checkpoint.branch, checkpoint.head)}" if checkpoint.head else None,
            f'brief: {weight:,} tokens; restore with fetch_pointer(pointer="brief")',
        ]
    )
    return Reply(text, facts)


def _pointer(number: int | None) -> str | None:
    return f"C{number}" if number else None


def _status(saved: SavedCheckpoint) -> str:
    return "repeated" if saved.repeated else "forked" if saved.forked_from else "saved"


def _headline(saved: SavedCheckpoint) -> str:
    again = " again" if saved.repeated else ""
    if saved.forked_from is None:
        return f"{saved.checkpoint.pointer} {_status(saved)}, session {saved.session}"
    fork = f"session {saved.session} forked from C{saved.forked_from}{again}"
    return fork if _is_bare_fork(saved) else f"{saved.checkpoint.pointer} saved, {fork}"


def _is_bare_fork(saved: SavedCheckpoint) -> bool:
    return saved.checkpoint.number == saved.forked_from


def _word(word: str, item: str, undone: Sequence[str]) -> str:
    return "closed without being done" if word == "closed" and item in undone else word


def _first(items: Sequence[str]) -> list[str]:
    """Return what a reply shows of a list: its first items, shortened; the checkpoint holds all of it."""
    return [shorten(item, _ITEM_CHARS) for item in items[:_SHOWN_ITEMS]]


TOOL = Tool(
    name="checkpoint_state",
    title="Checkpoint state",
    description=(
        "Save the working state at the end of a stage, before a pause or a compaction. Any later session "
        'continues from it with fetch_pointer("brief"). It replaces the last one, so give all of it; '
        "fork_of starts a new session from a checkpoint."
    ),
    arguments=CheckpointState,
    annotations=WRITES,
    run=run,
)
