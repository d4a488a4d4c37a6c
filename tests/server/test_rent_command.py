"""`pinfold rent`: what a real transcript's figures say of its prompt cache."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main


def _claude(at: str, name: str, read: int, written: int, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 100,
        **more,
    }
    message = {"id": name, "role": "assistant", "model": "claude-x", "content": [], "usage": usage}
    return {
        "type": "assistant",
        "sessionId": "s",
        "uuid": f"u-{name}-{at}",
        "timestamp": at,
        "cwd": "/x",
        "message": message,
    }


def _codex(at: str, total: int, sent: int, cached: int) -> dict[str, Any]:
    last = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": 50}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return {"timestamp": at, "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def _written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "no json, _tokens\n")
    return path


def _rent(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["rent", str(path), *options])


@pytest.fixture
def claudes(tmp_path: Path) -> Path:
    return _written(
        tmp_path / "c.jsonl",
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u0",
            "cwd": "/x",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": "hi"},
        },
        _claude("2026-03-01T10:00:01Z", "m1", 0, 20_000),
        _claude("2026-03-01T10:00:02Z", "m1", 0, 20_000),  # the same request's next block
        _claude("2026-03-01T10:01:00Z", "m2", 20_000, 1_000),
        _claude("2026-03-02T09:00:00Z", "m3", 0, 22_000),
    )


def test_each_request_counts_once_and_a_cold_cache_is_told_from_new_text(claudes: Path) -> None:
    done = _rent(claudes)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "2026-03-01\t2\t0\t20\t20000\t21000\t0\t200\t0.09\t0.00",
        "2026-03-02\t1\t1\t10\t0\t22000\t21010\t100\t0.08\t0.08",
        "all\t3\t1\t30\t20000\t43000\t21010\t300\t0.17\t0.08",
    ]
    assert "At 3 $ per million tokens of input and 15 $ of output (--read, --output). 1 resume" in done.stderr
    assert "1 resume after 300 s or more; the dearest at 2026-03-02 09:00, 21,010 tokens" in done.stderr
    assert (
        "At 5 $ per million tokens of input and 25 $ of output"
        in _rent(claudes, "--read", "5", "--output", "25").stderr
    )


def test_a_longer_life_has_no_resume_and_an_hours_cache_costs_twice_the_input(
    tmp_path: Path, claudes: Path
) -> None:
    facts = json.loads(_rent(claudes, "--ttl", "100000", "--json").stdout)
    assert (facts["resumes"], facts["total"]["rewritten"]) == ([], 0)
    long = {"cache_creation": {"ephemeral_1h_input_tokens": 1_000_000}}
    path = _written(tmp_path / "l.jsonl", _claude("2026-03-01T10:00:01Z", "m1", 0, 1_000_000, **long))
    facts = json.loads(_rent(path, "--output", "0", "--json").stdout)
    assert facts["total"]["dollars"] == pytest.approx(6.0 + 10 * 3 / 1e6)


def test_codex_tells_what_was_cached_and_repeats_itself(tmp_path: Path) -> None:
    meta = {
        "timestamp": "2026-03-01T10:00:00Z",
        "type": "session_meta",
        "payload": {"id": "x", "cwd": "/x", "originator": "codex"},
    }
    path = _written(
        tmp_path / "rollout-2026-03-01T10-00-00-x.jsonl",
        meta,
        _codex("2026-03-01T10:00:01Z", 1_050, 1_000, 0),
        _codex("2026-03-01T10:00:02Z", 1_050, 1_000, 0),
        _codex("2026-03-01T10:00:09Z", 2_600, 1_500, 900),
    )
    total = json.loads(_rent(path, "--json").stdout)["total"]
    assert (total["requests"], total["plain"], total["read"], total["output"]) == (2, 1_600, 900, 100)


def test_a_transcript_without_figures_is_refused_with_what_to_name(tmp_path: Path) -> None:
    bare = _claude("2026-03-01T10:00:01Z", "m1", 0, 0)
    del bare["message"]["usage"]
    done = _rent(_written(tmp_path / "t.jsonl", bare))
    assert (done.exit_code, "holds no usage figures. Name a transcript" in done.stderr) == (1, True)


def test_figures_that_cannot_be_counts_are_none(tmp_path: Path) -> None:
    path = _written(
        tmp_path / "c.jsonl",
        _claude("2026-03-01T10:00:01Z", "m1", 10**400, -1, input_tokens=10**30, output_tokens=True),
        _claude("2026-03-01T10:00:02Z", "m2", 5, 7, cache_creation={"ephemeral_1h_input_tokens": 1_000_000}),
    )
    done = _rent(path, "--json")
    assert done.exit_code == 0, done.output
    total = json.loads(done.stdout)["total"]
    kinds = ("plain", "read", "written", "output")
    assert [total[kind] for kind in kinds] == [10, 5, 7, 100]
    assert total["dollars"] == pytest.approx((10 * 3 + 5 * 0.3 + 7 * 6 + 100 * 15) / 1e6)
    assert "\t0.0016\t0.00" in _rent(path).stdout
