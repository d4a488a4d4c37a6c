"""Decisions that nobody pinned and that the summary lost: which sentences are offered, in which order."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pinfold.context.folds import audit
from pinfold.context.lost_decisions import SENTENCE_CHARS
from pinfold.store.results import FormerSummary
from tests.unit.sessions import entry, part, pin

NOTHING = "The work went on."


def offered(*texts: str, summary: str = NOTHING, role: str = "assistant") -> tuple[tuple[str, str], ...]:
    entries = (entry(10 + place, role, text) for place, text in enumerate(texts))
    return audit(part(*entries), summary, briefed=True).offered


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to keep `ttl_s` at 900 because the proxy drops idle sockets.",
        "Port 5004 must be used, never 3000.",
        "I ruled out FTS5 trigram: the index grows to 3.6 GB.",
        "The worker reads src/queue/lease.py instead of the old table.",
        "Don't use `eval_row` here.",
        "Please do not touch src/legacy.py.",
        "and dont push to origin/main",
        "N'utilisez pas le port 3000.",
        "Bitte src/a.py nicht ändern.",
        "不要修改 src/a.py。",
        "Error handling must never swallow x_y.",
        "I'll use a lock file instead of flock_nb, since NFS ignores it.",
        "The user agreed that the limit is 2,000 characters.",
        "Wir haben uns für Redis 7.2 entschieden, weil der Proxy sonst 20 Minuten braucht.",
        "Die Datei src/a.py darf nicht geändert werden.",
        "On a choisi le port 5004 au lieu de 3000.",
        "Il ne faut jamais appeler purge_all parce que le cache est partagé.",
        "Hemos decidido usar SQLite 3.45 porque el índice cabe en 200 MB.",
        "El cliente debe enviar X_Token en lugar de la cookie.",
        "Решили оставить порт 5004, потому что прокси не пускает.",
        "必须使用 5004 端口，因为代理会丢弃连接。",
        "我们决定把 ttl_s 设为15分钟。",
        "ポート5004を採用し、3000は禁止。",
    ],
)
def test_a_sentence_that_reads_as_a_decision_is_offered(sentence: str) -> None:
    assert offered(f"Some words before.\n\n- {sentence}\n\nSome words after.") == (("H10", sentence),)


def test_what_the_former_summary_still_held_is_offered_when_the_next_one_drops_it() -> None:
    decided = "We decided on Redis 7.2 instead of Memcached because of streams."
    former = FormerSummary(8, "A1", f"Redis it is.\n- {decided}\n")
    folded = replace(part(entry(10, "assistant", "On.")), former=former)
    assert audit(folded, "The user chose Redis.", briefed=True).offered == (("A1", decided),)
    assert audit(folded, decided, briefed=True).offered == ()


@pytest.mark.parametrize(
    "text",
    [
        "Should the port be 5004 because the proxy drops 3000?",
        "Must we never call purge_all?",
        "`purge_all` を採用しますか？",
        "I will now read src/a.py because the test fails.",
        "I don't know src/a.py.",
        "Can you fix src/a.py? it fails.",
        "Let me check src/a.py, it must hold foo_bar.",
        "Now I'll run tests/test_a.py because src/a.py changed.",
        "Next, let's look at ttl_s because it is odd.",
        "Ich werde src/a.py prüfen, weil der Test scheitert.",
        "让我看看 src/a.py，因为测试失败。",
        "```py\n# must never use foo_bar because of 5004\n```",
        "- ~~~\n  must never use foo_bar\n  ~~~",
        "````\n```\nmust never use foo_bar\n```\n````",
        "    must_never(use=foo_bar)  # because of 5004",
        "> You must never use foo_bar because of 5004.",
        "| must | never | foo_bar |",
        "<note>You must never use foo_bar</note>",
        "TypeError: foo_bar must be str, never 5004",
        "ERROR worker_3 must never run",
        "2026-01-02 10:00:00 worker must never run 5004",
        "E   AssertionError: foo_bar must be 5004",
        'The test prints "foo_bar must never be 5004" twice.',
        "It prints `foo_bar must never be 5004`.",
        "We decided to keep it simple because simple things last.",
        "Perhaps foo_bar has to be 5004.",
        "The file src/a.py has 120 lines.",
        "The mustache in foo_bar is neverending.",
    ],
)
def test_questions_narration_code_and_quotations_are_not_offered(text: str) -> None:
    assert offered(text) == ()


def test_only_users_and_agents_decide() -> None:
    text = "We decided on port 5004."
    assert [offered(text, role=role) for role in ("tool_call", "tool_result")] == [(), ()]
    assert offered(text, role="user") == (("H10", text),)


def test_what_the_summary_holds_is_not_offered() -> None:
    assert offered("We decided on port 5004.", summary="The port is 5004 now.") == ()


@pytest.mark.parametrize(
    ("summary", "lost"),
    [
        ("Port 5004 is in use.\nThe proxy drops idle sockets.", False),
        ("Port 5004: since the proxy\ndrops whatever sockets it likes.", False),
        ("Port 5004.\nThe proxy is new.\nSome words.\nNothing drops.\nSome words.\nIdle hands.", True),
        ("Port 5004 is in use.", True),
    ],
)
def test_a_reason_is_lost_if_no_two_neighbouring_lines_hold_half_of_it(summary: str, lost: bool) -> None:
    assert bool(offered("Use port 5004 because the proxy drops idle sockets.", summary=summary)) is lost


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("Port 5004, never 3000", True),
        ("The service listens on port 5004 since 3000 belongs to the old proxy", True),
        ("Retries stop at 5004 milliseconds, and 3000 rows are enough for one page of the report", False),
        ("The port is configurable", False),
    ],
)
def test_what_a_live_pin_covers_is_not_offered(text: str, covered: bool) -> None:
    folded = part(entry(10, "user", "The service must use port 5004, never 3000."), pins=(pin(1, text),))
    assert (audit(folded, NOTHING, briefed=True).offered == ()) is covered


def test_decided_comes_before_firm_more_lost_before_less_the_user_before_the_agent_and_new_before_old() -> (
    None
):
    entries = (
        entry(10, "assistant", "Logs go to out/run.log because disks differ."),
        entry(11, "assistant", "Never call purge_all."),
        entry(12, "user", "Never merge into release_2."),
        entry(13, "assistant", "We chose queue_name, row_limit and page_size."),
        entry(14, "assistant", "Never rename user_table."),
    )
    found = audit(part(*entries), NOTHING, briefed=True).offered
    assert [pointer for pointer, _ in found] == ["H13", "H12", "H14", "H11", "H10"]


def test_at_most_five_are_offered_and_two_of_one_message() -> None:
    many = [f"Never touch table_{number} in region_{number}." for number in range(5)]
    words = ("apples", "boats", "clouds", "dunes", "eagles", "forests")
    texts = [f"We chose {word}_{place} for {word}." for place, word in enumerate(words)]
    assert len(offered(*texts)) == 5
    assert len(offered(" ".join(many[:1]), " ".join(texts))) == 3


def test_the_same_decision_said_twice_is_offered_once_the_newest_of_it() -> None:
    first = "We decided on port 5004 for the proxy."
    assert offered(first, "As decided, the proxy is on port 5004.", first) == (("H12", first),)


def test_a_wrapped_sentence_is_one_and_a_long_one_is_cut_between_words() -> None:
    wrapped = "We decided that the worker of the queue keeps its lease for\nexactly 45 seconds.\nNext line."
    assert offered(wrapped) == (("H10", " ".join(wrapped.splitlines()[:2])),)
    long = f"We decided on port 5004 {'because of what was measured ' * 12}."
    ((_, cut),) = offered(long)
    assert len(cut) <= SENTENCE_CHARS
    assert long.startswith(cut.removesuffix("…") + " ")


def test_a_long_sentence_without_spaces_is_cut_too() -> None:
    ((_, cut),) = offered(f"我们决定使用ttl_s{'缓存' * 200}。")
    assert SENTENCE_CHARS - 20 < len(cut) <= SENTENCE_CHARS


@pytest.mark.parametrize(
    "unit", ["must never ", "x. ", "`", '"', "- ", ". ", "?)", "now ", "because a_b. ", "# ", "```\n"]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    began = time.thread_time()
    offered(text, text + "\n", summary=text[:12_000])
    assert time.thread_time() - began < 3


def test_a_reason_of_words_that_say_nothing_cannot_be_lost() -> None:
    said = "We must keep `ttl_s` because we have."
    assert offered(said, summary=said) == offered(said, summary="`ttl_s` stays.") == ()
    assert offered("We must keep `ttl_s` because Redis has.", summary="`ttl_s` stays.") != ()
