"""`pinfold replay`: a real transcript through a policy, its figures against sums of their own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main
from pinfold.server.transcripts.finding import found_at
from pinfold.server.transcripts.replaying import model_of
from tests.server.replays import Talk, usage, week
from tests.server.transcript_samples import CLAUDE, CLAUDE_AGENT, CODEX, CODEX_SCRIPTS

KINDS = ("raw", "client", "projected", "reported")
BARE = ("--system-prompt", "0", "--tokens", "estimate")
"""Only what was said, a quarter of its characters."""


def _replay(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["replay", str(path), *options])


def _facts(path: Path, *options: str) -> dict[str, Any]:
    done = _replay(path, "--json", *options)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _size(text: str) -> int:
    return max(1, len(text) // 4)


def _said(line: dict[str, Any]) -> list[str]:
    """The texts of a line that a model is sent, read by hand."""
    content = line["message"]["content"] if line["message"] else []
    if isinstance(content, str):
        return [] if line.get("isCompactSummary") else [content]
    texts = []
    for block in content:
        match block:
            case {"type": "text", "text": text} | {"type": "tool_result", "content": text}:
                texts.append(text)
            case {"type": "tool_use", "input": {"command": command}}:
                texts.append("\0" + command)  # it is the input of a message without words, which is one token
    return texts


def _sum_of(texts: list[str]) -> int:
    return sum(_size("") + _size(text[1:]) if text[:1] == "\0" else _size(text) for text in texts)


def test_each_request_sends_all_that_was_said_before_it_and_after_a_fold_its_summary(tmp_path: Path) -> None:
    talk = week(days=2, turns=3)
    raw = client = 0
    expected, asked = [], None
    for line in talk.lines:
        request = (line["message"] or {}).get("id")
        if request and request != asked:
            expected.append((raw, client))
            asked = request
        if line.get("isCompactSummary"):
            client = _size(line["message"]["content"])
        texts = _said(line)
        raw, client = raw + _sum_of(texts), client + _sum_of(texts)
    facts = _facts(talk.written(tmp_path / "week.jsonl"), *BARE)
    assert [(step["raw"], step["client"]) for step in facts["steps"]] == expected
    assert facts["requests"] == len(expected) == 2 * 3 * 4
    assert facts["totals"]["raw"] == sum(sent for sent, _ in expected)
    assert facts["largest"]["client"] == max(sent for _, sent in expected)
    assert len(facts["folds"]["client"]) == 2
    assert (facts["folds"]["policy"], facts["folds"]["avoided"]) == ([], 2)


def test_what_is_reported_is_each_requests_own_figure_and_what_was_paid_is_what_rent_says(
    tmp_path: Path,
) -> None:
    path = week(days=2, turns=6).written(tmp_path / "week.jsonl")
    facts = _facts(path)
    prompts = {}
    for line in map(json.loads, path.read_text().splitlines()):
        match line["message"]:
            case {"id": name, "usage": figures}:
                prompts[name] = sum(count for kind, count in figures.items() if kind != "output_tokens")
    assert [step["reported"] for step in facts["steps"]] == list(prompts.values())
    rent = json.loads(CliRunner().invoke(main, ["rent", str(path), "--json"]).stdout)
    assert (
        "$ at 3 $ per million tokens of input and 15 $ of output (--read, --output): " in _replay(path).stderr
    )
    assert facts["cost"] == {key: rent[key] for key in ("days", "resumes", "total")}
    assert facts["totals"]["reported"] == sum(rent["total"][kind] for kind in ("plain", "read", "written"))


def test_calls_of_one_answer_are_one_request_however_their_results_come_between(tmp_path: Path) -> None:
    talk = Talk()
    talk.user("Look at both.")
    talk.begins()
    talk.thinks(usage(read=500))
    first = talk.calls("Read", {"file_path": "a.py"})
    talk.results(first, "a")
    second = talk.calls("Read", {"file_path": "b.py"}, usage(read=500))
    talk.results(second, "b")
    talk.begins()
    talk.says("Seen.", usage(read=700))
    steps = _facts(talk.written(tmp_path / "t.jsonl"))["steps"]
    assert [step["reported"] for step in steps] == [500, 700]


def test_calls_of_one_name_far_apart_hold_nothing_between_them_together(tmp_path: Path) -> None:
    talk = Talk()
    for turn in range(30):
        talk.user(f"Turn {turn}: {'look at this once more and tell what you see ' * 8}")
        talk.begins()
        name = talk.calls("Bash", {"command": "ls"})
        talk.results(name, "one file")
    text = "".join(json.dumps(line) + "\n" for line in talk.lines)
    path = tmp_path / "t.jsonl"
    path.write_text(re.sub(r"toolu_\d+", "toolu_1", text))
    narrow = ("--window", "1200", "--output-reserve", "0", "--safety-margin", "0", "--keep", "600")
    facts = _facts(path, *BARE, *narrow)
    assert [each["step"] for each in facts["folds"]["policy"]] == [13, 18, 23, 28]
    assert all(each["before"] < 1_200 - 500 for each in facts["folds"]["policy"])


@pytest.mark.parametrize(
    ("path", "requests", "folds", "reported"),
    [
        (CLAUDE, 14, 2, 133_000),
        (CODEX, 11, 1, 130_000),
        (CLAUDE_AGENT, 1, 0, 1_000),
        (CODEX_SCRIPTS, 4, 0, 4_000),
    ],
)
def test_each_request_that_the_real_clients_sent_is_one(
    path: Path, requests: int, folds: int, reported: int
) -> None:
    facts = _facts(path)
    told = (facts["requests"], len(facts["folds"]["client"]), facts["totals"]["reported"])
    assert told == (requests, folds, reported)
    assert facts["not_understood"]["lines"] == 0


def test_a_policy_is_as_its_options_say_and_folds_where_it_has_to(tmp_path: Path) -> None:
    path = week(days=2, turns=6).written(tmp_path / "week.jsonl")
    named = {
        "--window": 6_000,
        "--output-reserve": 1_000,
        "--system-prompt": 500,
        "--tool-definitions": 300,
        "--safety-margin": 200,
        "--spill": 3_000,
        "--stale-turns": 100,
        "--keep": 1_000,
    }
    options = [text for flag, value in named.items() for text in (flag, str(value))]
    facts = _facts(path, "--tokens", "estimate", "--cap", "Bash=600", *options)
    asked = {flag.removeprefix("--").replace("-", "_"): value for flag, value in named.items()}
    expected = {**asked, "history": 4_000, "caps": {"Bash": 600}, "fold_batch": None}
    assert facts["policy"] == expected
    assert facts["strategies"]["truncated"]["count"] > 10
    assert facts["folds"]["policy"]
    assert facts["largest"]["projected"] <= 4_000 + 800
    assert facts["refused"] == 0
    assert (facts["client"], facts["model"]) == ("claude-code", "claude-opus-4-5")


def test_in_a_pipe_the_sums_are_lines_and_so_are_the_requests(tmp_path: Path) -> None:
    path = week(days=1, turns=2).written(tmp_path / "week.jsonl")
    facts, lines = _facts(path), _replay(path).stdout.splitlines()
    rows = {name: cells for name, *cells in (line.split("\t") for line in lines)}
    assert rows["requests"] == ["8", "8", "8", "8"]
    assert rows["tokens sent"] == [str(facts["totals"][kind]) for kind in KINDS]
    assert rows["folds"] == ["", "1", "0", ""]
    assert rows["tokens externalized"] == ["", "", str(facts["strategies"]["externalized"]["tokens"]), ""]
    steps = [line.split("\t") for line in _replay(path, "--steps").stdout.splitlines()]
    assert steps == [
        [str(number), step["at"][:19], *(str(step[kind]) for kind in KINDS)]
        for number, step in enumerate(facts["steps"], start=1)
    ]


def test_broken_lines_are_counted_and_the_rest_is_replayed(tmp_path: Path) -> None:
    path = week(days=1, turns=2).written(tmp_path / "week.jsonl")
    whole = _facts(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:5], "{no json\n", '{"type": "of the future"}\n', *lines[5:], '{"torn']))
    facts = _facts(path)
    assert facts["not_understood"] == {"lines": 2, "first": 6}
    assert (facts["totals"], facts["steps"]) == (whole["totals"], whole["steps"])
    assert "Not understood: 2 lines, the first of them line 6." in _replay(path).stderr


def test_a_compressed_transcript_is_read_as_it_is_by_replay_and_rent(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd" if sys.version_info < (3, 14) else "compression.zstd")
    path = week(days=1, turns=2).written(tmp_path / "week.jsonl")
    packed = tmp_path / "week.jsonl.zst"
    packed.write_bytes(zstd.compress(path.read_bytes()))
    assert _facts(packed)["steps"] == _facts(path)["steps"]
    rents = [CliRunner().invoke(main, ["rent", str(each)]).stdout for each in (path, packed)]
    assert rents[0] == rents[1] != ""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("just text\n", "is no transcript of Claude Code or Codex."),
        ('{"text": "said elsewhere"}\n', "is no transcript of Claude Code or Codex."),
        ('{"type": "user", "uuid": "u", "message": {"content": "hi"}}\n', "holds no request to a model."),
    ],
)
def test_a_file_without_requests_is_refused_with_what_to_name(tmp_path: Path, text: str, wrong: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    done = _replay(path)
    assert (done.exit_code, f"{path} {wrong} Name a transcript" in done.stderr) == (1, True)
    assert "is not there. Name a transcript" in _replay(tmp_path / "nowhere").stderr
    assert "is no file. Name a transcript" in _replay(tmp_path).stderr


def test_a_policy_that_leaves_nothing_for_history_and_a_cap_of_nothing_are_refused() -> None:
    done = _replay(CLAUDE, "--window", "100")
    assert (done.exit_code, "nothing is left for history. Say a larger --window" in done.stderr) == (1, True)
    done = _replay(CLAUDE, "--cap", "Bash")
    assert (done.exit_code, "a cap looks like Bash=500" in done.stderr) == (2, True)


def test_the_model_is_the_one_that_the_transcript_names() -> None:
    names = []
    for path in (CLAUDE, CODEX):
        found = found_at(path)
        assert found is not None
        names.append(model_of(found))
    assert names == ["claude-opus-5-5", "mock-model"]
