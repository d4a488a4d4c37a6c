from __future__ import annotations

from typing import Any

import pytest

from pinfold.store import Store
from pinfold.store.commands import Message, RecordFold, SpillArtifact, TranscriptMark
from pinfold.store.content import collect
from pinfold.store.results import FormerSummary, RecordedFold
from pinfold.store.values import Caller
from tests.contract.acts import ANNA, BEN, OUTLINE, find, pin, say, spill
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P4", "P34")]


async def _fold(store: Store, key: str, summary: str = "All was reviewed.", **more: Any) -> RecordedFold:
    held = collect([summary.encode()])
    try:
        kept = SpillArtifact(ANNA, held, OUTLINE, label="summary", aside=True)
        return await store.record_fold(RecordFold(ANNA, key, "auto", summary=kept, **more))
    finally:
        held.close()


async def test_a_fold_is_read_back_as_it_was_recorded(store: Store) -> None:
    audit: dict[str, Any] = {
        "present": {1: 3},
        "lost": {1: ("15 minutes", "Redis")},
        "offered": (("H3", "Never port 3000."),),
        "strings": (("src/auth.py", "H4"),),
    }
    recorded = await _fold(store, "b1", tokens_before=164_000, tokens_after=12_000, messages=141, **audit)
    fold = await store.fold(1)
    assert recorded.fold == fold
    assert (fold.trigger, fold.tokens_before, fold.tokens_after, fold.messages) == (
        "auto",
        164_000,
        12_000,
        141,
    )
    assert {name: getattr(fold, name) for name in audit} == audit
    assert fold.summary == 1
    assert (await store.artifact_bytes(1, 0, 100)).content == b"All was reviewed."
    assert (await store.brief_state(ANNA)).fold == fold


async def test_the_same_compaction_is_one_fold(store: Store) -> None:
    first, again = await _fold(store, "b1"), await _fold(store, "b1", "another summary")
    assert (first.repeated, again.repeated, again.fold) == (False, True, first.fold)
    assert len(await store.folds(None, 10)) == 1
    assert len(await store.artifacts(None, 10)) == 1


async def test_a_fold_that_a_hook_told_of_takes_the_figures_of_the_transcript(store: Store) -> None:
    await say(store, "before")
    await _fold(store, "hook", live=True, tokens_before=100)
    assert (await _fold(store, "hook again", live=True)).repeated
    written = await _fold(store, "boundary", "as the client wrote it", tokens_before=164_000, tokens_after=9)
    assert (written.repeated, written.fold.number, written.fold.tokens_before) == (True, 1, 164_000)
    assert (await _fold(store, "boundary")).repeated
    await say(store, "after")
    assert (await _fold(store, "hook 2", live=True)).fold.number == 2
    assert (await store.verify()).problems == ()


async def test_a_hook_that_tells_of_what_is_written_down_already_is_no_second_fold(store: Store) -> None:
    await say(store, "before")
    written = await _fold(store, "boundary", tokens_before=164_000, offered=(("H2", "Never port 3000."),))
    told = await _fold(store, "hook", live=True)
    assert (told.repeated, told.fold) == (True, written.fold)
    assert (await store.brief_state(ANNA)).fold == written.fold


async def test_two_compactions_told_before_anything_is_read_are_two_folds(store: Store) -> None:
    for number in (1, 2):
        await _fold(store, f"hook {number}", f"summary {number}", live=True)
        assert (await _fold(store, f"end {number}", f"summary {number}", live=True)).repeated
    for number in (1, 2):
        written = await _fold(store, f"boundary {number}", f"summary {number}", tokens_before=number * 1_000)
        assert (written.repeated, written.fold.number, written.fold.tokens_before) == (
            True,
            number,
            number * 1_000,
        )
    assert not (await _fold(store, "boundary 3", "summary 3")).repeated


async def test_a_fold_is_dated_as_its_client_dates_it(store: Store) -> None:
    assert (
        await _fold(store, "b1", at="2026-11-03T09:30:00.000000Z")
    ).fold.at == "2026-11-03T09:30:00.000000Z"


async def test_a_fold_told_of_after_more_was_said_is_another_one(store: Store) -> None:
    await _fold(store, "hook", live=True)
    await say(store, "the client gave that one up")
    assert (await _fold(store, "hook 2", live=True)).fold.number == 2


async def test_a_summary_is_found_as_its_fold_and_not_listed_among_the_artifacts_in_play(
    store: Store,
) -> None:
    await _fold(store, "b1", "The walrus cache was dropped.")
    assert [hit.pointer for hit in (await find(store, "walrus cache")).hits] == ["F1"]
    state = await store.brief_state(ANNA)
    assert (state.artifacts, state.artifact_count) == ((), 0)


async def test_a_fold_folds_what_came_since_the_last_one_in_its_session(store: Store) -> None:
    await say(store, "before")
    await say(store, "of another", caller=BEN)
    await _fold(store, "b1")
    await say(store, "one", "two")
    await pin(store, "live")
    part = await store.folded_part(ANNA, "b2")
    assert part is not None
    assert [entry.text for entry in part.entries] == ["one", "two"]
    assert [each.text for each in part.pins] == ["live"]
    assert await store.folded_part(ANNA, "b1") is None
    assert part.former == FormerSummary(part.since, "A1", "All was reviewed.")


async def test_a_mark_is_kept_with_the_messages_up_to_it(store: Store, open_again: Open) -> None:
    mark = TranscriptMark("/t/a.jsonl", "claude-code", "anna", 120, "ab12")
    await store.append_messages(ANNA, [Message("user", "hello", "m1")], mark)
    other = await open_again()
    assert await other.transcript_mark("/t/a.jsonl") == mark
    assert await other.transcripts(ANNA) == (mark,)
    assert await other.transcript_mark("/t/b.jsonl") is None
    assert await other.transcripts(BEN) == ()


async def test_a_message_that_a_forked_transcript_repeats_is_appended_once(store: Store) -> None:
    fork = Caller("claude-code", "anna-forked")
    mark = TranscriptMark("/t/a.jsonl", "claude-code", "anna", 1, "ab12")
    told = [Message("user", "hello", "m1")]
    assert (await store.append_messages(ANNA, told, mark)).appended == 1
    assert (await store.append_messages(fork, told, mark)).appended == 0
    assert (await store.append_messages(fork, told)).appended == 1, (
        "without a transcript ids are the session's"
    )


async def test_what_a_message_brings_along_is_stored_once_and_named_behind_its_text(store: Store) -> None:
    with_image = [_with_image(b"\x89PNG pixels")]
    await store.append_messages(ANNA, with_image)
    held = [artifact for message in with_image for artifact in message.artifacts]
    assert (await store.append_messages(ANNA, with_image)).appended == 0
    for artifact in held:
        artifact.content.close()
    seq = (await find(store, "look at this")).hits[0].pointer
    assert (await store.entry(int(seq[1:]))).text == "look at this\n[A1 image/png]"
    assert (await store.artifact_bytes(1, 0, 100)).content == b"\x89PNG pixels"
    await spill(store, b"\x89PNG pixels", label="image/png")
    assert [each.number for each in (await store.brief_state(ANNA)).artifacts] == [2], "asked for, so listed"


def _with_image(content: bytes) -> Message:
    kept = SpillArtifact(ANNA, collect([content]), OUTLINE, label="image/png", aside=True)
    return Message("user", "look at this", "m1", artifacts=(kept,))


async def test_folds_and_messages_are_the_same_after_a_rebuild(store: Store) -> None:
    await say(store, "one")
    await _fold(store, "b1", "The walrus cache was dropped.")
    assert (await store.verify()).problems == ()
    before = await store.brief_state(ANNA), (await find(store, "walrus")).hits
    await store.rebuild()
    assert (await store.verify()).problems == ()
    assert (await store.brief_state(ANNA), (await find(store, "walrus")).hits) == before


async def test_a_background_answer_between_two_hooks_leaves_it_one_fold(store: Store) -> None:
    await _fold(store, "hook", live=True)
    await store.append_messages(ANNA, [Message("tool_result", "42", "agent:a1:0f")])
    assert (await _fold(store, "hook again", live=True)).fold.number == 1
