"""`pinfold lab`: the published tables, as lines and as objects."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from tests.unit.test_chat_summarizer import _saying, endpoint


def _lines(*arguments: str) -> list[str]:
    done = CliRunner().invoke(main, ["lab", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_the_folds_that_lose_the_decision_and_what_a_pin_keeps_are_printed() -> None:
    assert _lines("fold") == [
        "no pin\t1\t203\t138\trotate, mobile",
        "no pin\t2\t339\t163\t15 minute",
        "no pin\t3\t371\t171\tRedis",
        "no pin\t20 folds\t\t872\trecall 0/4",
        "pinned\t1\t244\t168\trotate",
        "pinned\t2\t297\t133\t15 minute",
        "pinned\t3\t334\t167\tRedis",
        "pinned\t20 folds\t\t871\trecall 4/4",
    ]
    assert len(_lines("fold", "--all")) == 42


def test_the_same_as_an_object() -> None:
    [unpinned, pinned] = json.loads("\n".join(_lines("fold", "--json")))["runs"]
    assert (len(unpinned["folds"]), unpinned["tokens"], unpinned["recall"]) == (20, 872, "0/4")
    assert (len(pinned["folds"]), pinned["tokens"], pinned["recall"]) == (20, 871, "4/4")


def test_the_real_tokenizer_folds_elsewhere_and_loses_the_same() -> None:
    runs = json.loads("\n".join(_lines("fold", "--tokens", "o200k", "--json")))["runs"]
    assert [run["recall"] for run in runs] == ["0/4", "4/4"]
    assert runs[0]["tokens"] != 872


def test_the_four_amounts_and_the_flat_column() -> None:
    rows = [line.split("\t") for line in _lines("cost")]
    assert [row[0] for row in rows] == ["100", "500", "2000", "5000"]
    assert [row[2] for row in rows] == ["0.968", "6.338", "47.850", "232.125"]
    assert len({row[4] for row in rows}) == 1
    assert json.loads("\n".join(_lines("cost", "100", "--json")))["runs"][0]["digests"] == pytest.approx(
        0.9675
    )


def test_a_real_model_summarizes_and_without_an_endpoint_the_way_is_told() -> None:
    with endpoint(lambda _: _saying("Redis, rotate, 15 minute TTL: the mobile client")) as server:
        last = _lines("fold", "--summarizer", "chat", "--url", server.url, "--model", "tiny")[0]
    assert last.endswith("recall 4/4")
    refused = CliRunner().invoke(main, ["lab", "fold", "--summarizer", "chat", "--json"])
    assert (refused.exit_code, "Say --url and --model." in json.loads(refused.stdout)["error"]) == (1, True)


def test_an_endpoint_that_would_not_be_asked_is_refused() -> None:
    for option in ("--url", "--model"):
        refused = CliRunner().invoke(main, ["lab", "fold", option, "x"])
        assert (refused.exit_code, "Say --summarizer chat." in refused.stderr) == (1, True)


@pytest.mark.parametrize("given", ["nan", "inf", "1e300", "-1"])
@pytest.mark.parametrize("option", ["--read", "--output", "--cache-read", "--cache-write"])
def test_what_no_sum_can_be_made_of_is_refused_as_a_price(option: str, given: str) -> None:
    refused = CliRunner().invoke(main, ["lab", "cost", option, given, "--json"])
    assert (refused.exit_code, f"Invalid value for '{option}'" in json.loads(refused.stdout)["error"]) == (
        2,
        True,
    )


@pytest.mark.parametrize("option", ["--ttl", "--step-seconds", "--resumes"])
def test_numbers_without_end_are_refused(option: str) -> None:
    refused = CliRunner().invoke(main, ["lab", "cost", option, "9" * 400])
    assert (refused.exit_code, f"Invalid value for '{option}'" in refused.stderr) == (2, True)
