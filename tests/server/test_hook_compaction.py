"""What hooks do around a compaction: nothing is folded unread, and what the summary lost is known at once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pinfold.store.results import Fold
from tests.server.hooking import Client, assistant, boundary, summary_line, user
from tests.server.transcript_samples import CODEX, CODEX_AGENT, lines_of

PIN = "Refresh tokens live in `redis-main` for 15 minutes"
SUMMARY = "Tokens are kept for 15 minutes; the pool was reviewed."
SAID = "Never use port 3000, because the proxy listens there."


def worked(client: Client) -> None:
    client.hook("session-start", source="startup")
    client.pin(PIN, why="the mobile client cannot persist them")
    client.write(user("u1", SAID), assistant("a1", "`src/pool.py` opens 8 connections."))


def told(client: Client, agent: str = "ac322588b4aa3f867", summary: str = SUMMARY) -> None:
    """End Claude Code's summarizer: a fork of the agent without a type, whose transcript is never written."""
    beside = client.transcript.with_suffix("") / "subagents" / f"agent-{agent}.jsonl"
    client.hook(
        "subagent-stop",
        agent_id=agent,
        agent_type="",
        agent_transcript_path=str(beside),
        last_assistant_message=f"<analysis>…</analysis>\n<summary>\n{summary}\n</summary>",
    )


def only_fold(client: Client) -> Fold:
    (fold,) = client.folds()
    return fold


def test_the_brief_right_after_a_compaction_says_what_its_summary_lost(claude: Client) -> None:
    worked(claude)
    claude.hook("pre-compact", trigger="auto", custom_instructions=None)
    told(claude)
    said = claude.hook("session-start", source="compact")
    assert f"P1  {PIN}" in said
    assert "Last fold F1 (2 messages)" in said
    assert "Its summary dropped specifics of P1; the pins hold them" in said
    assert f"H3  {SAID}" in said
    assert "src/" in said
    assert claude.kept(1).decode() == SUMMARY


def test_a_compaction_is_one_fold_whoever_tells_of_it(claude: Client) -> None:
    worked(claude)
    told(claude)
    fold = only_fold(claude)
    assert (fold.trigger, fold.tokens_before, fold.tokens_after) == ("unknown", None, None)
    brief = claude.hook("session-start", source="compact")
    claude.hook("post-compact", trigger="auto", compact_summary=f"<summary>{SUMMARY}</summary>")
    assert claude.hook("session-start", source="compact") == brief
    claude.write(boundary("b1"), summary_line("s1", SUMMARY), assistant("a2", "On with it."))
    claude.hook("stop")
    amended = only_fold(claude)
    assert (amended.trigger, amended.tokens_before, amended.tokens_after) == ("auto", 120_021, 2_704)
    assert (amended.lost, amended.offered, amended.strings) == (fold.lost, fold.offered, fold.strings)
    assert "Last fold F1 (auto, 120,021 to 2,704 tokens, 2 messages)" in claude.hook("session-start")


def test_each_of_several_compactions_is_a_fold_of_its_own(claude: Client) -> None:
    worked(claude)
    for number in range(1, 5):
        told(claude, f"agent-{number}", f"summary {number}")
        claude.hook("post-compact", trigger="auto", prompt_id="p1", compact_summary=f"summary {number}")
        claude.write(boundary(f"b{number}", after=number), summary_line(f"s{number}", f"summary {number}"))
        claude.write(assistant(f"a{number}0", f"Step {number} is done."))
        if number != 2:  # the second one's figures are read together with the third one's
            claude.hook("stop")
    folds = sorted(claude.folds(), key=lambda fold: fold.number)
    assert [(fold.number, fold.tokens_after) for fold in folds] == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_a_compaction_that_only_its_end_tells_of_is_recorded_then(claude: Client) -> None:
    worked(claude)
    claude.hook("post-compact", trigger="manual", compact_summary=f"<summary>{SUMMARY}</summary>")
    claude.write(boundary("b1", "manual"), summary_line("s1", SUMMARY))
    claude.hook("session-end", reason="other")
    lost = {1: ("redis-main", "why: the mobile client cannot persist them")}
    assert (only_fold(claude).trigger, only_fold(claude).lost) == ("manual", lost)


def test_an_end_that_comes_behind_the_transcript_leaves_what_the_fold_offers(claude: Client) -> None:
    worked(claude)
    claude.hook("pre-compact", trigger="auto")
    claude.write(boundary("b1"), summary_line("s1", SUMMARY))
    claude.hook("post-compact", trigger="auto", compact_summary=f"<summary>{SUMMARY}</summary>")
    assert only_fold(claude).tokens_before == 120_021
    assert f"H3  {SAID}" in claude.hook("session-start", source="compact")


def test_two_ends_within_one_prompt_are_two_folds(claude: Client) -> None:
    worked(claude)
    claude.hook("post-compact", trigger="auto", prompt_id="p1", compact_summary="summary 1")
    claude.write(boundary("b1"), summary_line("s1", "summary 1"), assistant("a2", "On with it."))
    claude.hook("pre-compact", trigger="auto", prompt_id="p1")
    claude.hook("post-compact", trigger="auto", prompt_id="p1", compact_summary="summary 2")
    claude.hook("post-compact", trigger="auto", prompt_id="p1", compact_summary="summary 2")
    assert [fold.number for fold in claude.folds()] == [2, 1]


def test_pins_are_added_to_what_claude_codes_summarizer_is_asked(claude: Client) -> None:
    claude.write(user("u1", SAID))
    assert claude.hook("pre-compact", trigger="auto") == ""
    assert [entry.text for entry in claude.entries()] == [SAID]
    claude.pin(PIN, why="they must not outlive a shift")
    claude.save("Ship timeouts")
    said = claude.hook("pre-compact", trigger="manual", custom_instructions="keep the ports")
    assert f"P1 decision  {PIN}  Why: they must not outlive a shift\n" in said
    assert "Ship timeouts" not in said
    assert said.endswith("a summary that names them does so with these values.\n")


def test_codexs_compaction_is_read_from_its_rollout_and_shown_at_once(codex: Client) -> None:
    lines = lines_of(CODEX)
    folded = next(number for number, line in enumerate(lines) if b'"type":"compacted"' in line)
    codex.session = "01a22a14-2b0d-70d2-9aa6-6ea2a5951392"
    codex.hook("session-start", source="startup")
    codex.pin(PIN)
    codex.transcript.write_bytes(b"".join(line + b"\n" for line in lines[:folded]))
    assert codex.hook("pre-compact", trigger="auto", turn_id="t1") == ""
    read = len(codex.entries())
    codex.transcript.write_bytes(b"".join(line + b"\n" for line in lines[: folded + 5]))
    assert codex.hook("post-compact", trigger="auto", turn_id="t1") == ""
    fold = only_fold(codex)
    assert (fold.tokens_before, fold.tokens_after) == (120_020, 6_099)
    assert f"Last fold F1 (120,020 to 6,099 tokens, {read} messages)" in codex.hook(
        "session-start", source="compact"
    )
    codex.transcript.write_bytes(b"".join(line + b"\n" for line in lines))
    codex.hook("stop", turn_id="t1")
    codex.hook("session-end", reason="other")
    assert only_fold(codex) == fold
    assert len(codex.entries()) > read


@pytest.mark.parametrize("fields", [{}, {"compact_summary": 7}, {"compact_summary": ""}])
def test_an_end_that_tells_no_summary_is_no_fold(claude: Client, fields: dict[str, Any]) -> None:
    worked(claude)
    claude.hook("post-compact", trigger="auto", **fields)
    assert claude.folds() == []
    assert len(claude.entries()) == 2


def test_a_rollout_of_a_sub_agent_is_not_read_as_its_parents(codex: Client, tmp_path: Path) -> None:
    shutil.copy(CODEX_AGENT, tmp_path / "sub.jsonl")
    codex.pin(PIN)
    codex.hook("pre-compact", trigger="auto", transcript_path=str(tmp_path / "sub.jsonl"))
    assert codex.entries() == []
