"""What waits for a team's server goes there in order and once, whoever sends it and whatever ends the sending."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from pinfold.server.hooks import team
from pinfold.server.sending import Sent
from pinfold.store.commands import PinDecision
from pinfold.store.errors import NoSpaceError, ReadOnlyError
from pinfold.store.forgetting import Forget
from pinfold.store.remote import outbox as module
from pinfold.store.values import Caller, Pointer, PointerKind
from tests.http.serving import Served
from tests.remote.away import Away, Way, ask, pinfold, pins
from tests.server.hooking import user
from tests.server.peer import PATIENCE_S

BEN = Caller("codex", "ben")
DYING_BEFORE_IT_IS_TAKEN_OUT = (
    "import os; from pinfold.store.remote.outbox import Outbox; Outbox.sent = lambda *_: os._exit(9);"
    " from pinfold.server.hook import main; main(['stop', '--client', 'claude'])"
)


def say(away: Away, *decisions: str) -> None:
    """Have each become a pin by a hook, which the server cannot be told."""
    for decision in decisions:
        assert away.event("user-prompt-submit", prompt=f"DECISION: {decision}")


def texts(server: Served, token: str) -> list[str]:
    return [pin.text for pin in pins(server, token)]


def test_what_was_said_away_is_pinned_in_the_order_in_which_it_was_said(
    away: Away, way: Way, server: Served, token: str
) -> None:
    said = [f"rule {number} holds" for number in range(3)]
    way.is_open = False
    say(away, *said)
    way.is_open = True
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert (texts(server, token), away.waiting()) == (said, [])


def test_hooks_that_write_and_send_at_once_leave_each_thing_once(
    away: Away, way: Way, server: Served, token: str
) -> None:
    away.piped = True
    said = [f"rule {number} holds" for number in range(3)]
    way.is_open = False
    with ThreadPoolExecutor(3) as at_once:
        list(at_once.map(lambda text: say(away, text), said))
    assert away.waiting() == ["pin_decision"] * 3
    way.is_open = True
    away.write(user("u1", "go on"))
    with ThreadPoolExecutor(2) as at_once:
        list(at_once.map(lambda _: away.event("stop"), range(2)))
    away.hook("stop")
    assert (sorted(texts(server, token)), away.waiting()) == (said, [])


def test_a_sender_that_dies_between_the_answer_and_taking_it_out_doubles_nothing(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    way.is_open = True
    away.write(user("u1", "go on"))
    died = subprocess.run(
        [sys.executable, "-c", DYING_BEFORE_IT_IS_TAKEN_OUT],
        input=json.dumps(away.payload()).encode(),
        env=away.environment(),
        timeout=PATIENCE_S,
    )
    assert (died.returncode, texts(server, token), away.waiting()) == (9, ["rule 0 holds"], ["pin_decision"])
    away.hook("stop")
    assert (texts(server, token), away.waiting()) == (["rule 0 holds"], [])


def test_a_write_whose_answer_was_lost_waits_under_the_key_that_it_was_sent_with(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.lost = b"/store/pin_decision"
    say(away, "rule 0 holds")
    assert (way.breaks, texts(server, token), away.waiting()) == (1, ["rule 0 holds"], ["pin_decision"])
    way.lost = None
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert (texts(server, token), away.waiting()) == (["rule 0 holds"], [])


def test_what_was_forgotten_meanwhile_is_not_brought_back_by_what_waits(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.lost = b"/store/pin_decision"
    say(away, "rule 0 holds")
    ask(server, token, lambda store: store.forget(Forget(BEN, (Pointer(PointerKind.PIN, 1),))))
    way.lost = None
    away.write(user("u1", "go on"))
    assert "was forgotten on request" in away.event("stop")
    assert (way.breaks, texts(server, token)) == (1, [])


def test_what_the_server_will_never_take_is_set_aside_and_keeps_nothing_back(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    away.outbox.add("pin_decision", [b"[{}]\n"], 5)
    say(away, "rule 1 holds")
    way.is_open = True
    away.write(user("u1", "go on"))
    assert "will not take what waited (000000000002.pin_decision)" in away.event("stop")
    assert texts(server, token) == ["rule 0 holds", "rule 1 holds"]
    left = pinfold(away, "outbox", "--send", "--json")
    assert left.exit_code == 1
    assert [(each["number"], each["refused"]) for each in json.loads(left.stdout)["waiting"]] == [(2, True)]
    assert pinfold(away, "outbox").stderr.endswith(
        ". What the server refused stays until you delete its file.\n"
    )


def test_a_transcript_that_went_before_the_server_came_back_is_let_go(away: Away, way: Way) -> None:
    way.is_open = False
    away.write(user("u1", "go on"))
    away.event("stop")
    assert away.waiting() == ["transcript"]
    away.transcript.unlink()
    way.is_open = True
    away.hook("session-start", source="startup")
    assert away.waiting() == []


def test_a_transcript_waits_though_one_that_was_listed_is_sent_before_it_is_looked_at(
    away: Away, way: Way
) -> None:
    way.is_open = False
    away.write(user("u1", "go on"))
    away.event("stop")
    [listed] = away.outbox.to_send()
    away.outbox.sent(listed)
    with patch.object(module.Outbox, "to_send", return_value=[listed]):
        away.event("stop")
    assert away.waiting() == ["transcript"]


def test_the_outbox_takes_no_more_than_its_share(away: Away, way: Way) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    with patch.object(module, "MAX_BYTES", away.outbox.waiting()[0].size_bytes + 9):
        away.outbox.add("transcript", [b"123456789"], 9)
        with pytest.raises(NoSpaceError, match="the outbox"):
            away.outbox.add("transcript", [b"1"], 1)
    assert away.waiting() == ["pin_decision", "transcript"]


def test_nothing_is_written_past_what_waits(away: Away, way: Way, server: Served, token: str) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    way.is_open = True
    with patch.object(team, "send_waiting", return_value=Sent()):
        say(away, "rule 1 holds")
    assert (texts(server, token), away.waiting()) == ([], ["pin_decision"] * 2)
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert (texts(server, token), away.waiting()) == (["rule 0 holds", "rule 1 holds"], [])


def test_what_was_said_away_does_not_come_back_when_it_was_replaced_before_it_arrived(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    ask(server, token, lambda store: store.pin_decision(PinDecision(BEN, "rule 0 holds", "")))
    ask(
        server, token, lambda store: store.pin_decision(PinDecision(BEN, "rule 1 holds", "", supersedes=(1,)))
    )
    way.is_open = True
    away.write(user("u1", "go on"))
    away.hook("stop")
    assert (texts(server, token), away.waiting()) == (["rule 0 holds", "rule 1 holds"], [])


def test_a_person_sees_what_waits_and_sends_it(away: Away, way: Way, server: Served, token: str) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    listed = pinfold(away, "outbox")
    assert listed.stdout.split("\t")[:2] == ["1", "pin_decision"]
    assert listed.stderr.endswith(" `pinfold outbox --send` sends what waits.\n")
    failed = pinfold(away, "outbox", "--send", "--json")
    assert failed.exit_code == 1
    told = json.loads(failed.stdout)
    assert (told["sent"], [each["kind"] for each in told["waiting"]]) == (0, ["pin_decision"])
    assert "is out of reach" in told["why"]
    way.is_open = True
    sent = pinfold(away, "outbox", "--send")
    assert (sent.exit_code, sent.stdout, sent.stderr) == (0, "", "Sent: 1 thing; left: 0.\n")
    assert texts(server, token) == ["rule 0 holds"]


def test_what_is_none_of_ours_in_the_outbox_keeps_nothing_back(
    away: Away, way: Way, server: Served, token: str
) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    folder = away.outbox.waiting()[0].path.parent
    (folder / "000000000000.pin_decision").mkdir()
    for name in ("000000000001.pin_decision~", "000000000001", "000000000001.pin_decision.bak", "notes"):
        (folder / name).write_text("[]\n")
    (folder / "000000000000.of_a_newer_one").write_text("[]\n")
    way.is_open = True
    away.write(user("u1", "go on"))
    assert "(000000000000.of_a_newer_one): This pinfold knows no of_a_newer_one." in away.event("stop")
    assert texts(server, token) == ["rule 0 holds"]
    assert [(each.kind, each.is_refused) for each in away.outbox.waiting()] == [("of_a_newer_one", True)]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files")
def test_a_hook_says_when_not_even_the_outbox_can_keep_what_was_said(away: Away, way: Way) -> None:
    way.is_open = False
    say(away, "rule 0 holds")
    with no_room():
        told = away.event("user-prompt-submit", prompt="DECISION: rule 1 holds")
    assert "No space left in the outbox; nothing was written." in told
    assert away.waiting() == ["pin_decision"]
    say(away, "rule 2 holds")
    assert away.waiting() == ["pin_decision"] * 2


def test_an_outbox_that_cannot_be_made_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("in the way")
    with pytest.raises(ReadOnlyError, match="the outbox cannot be written"):
        module.Outbox(tmp_path / "outbox").add("transcript", [b"1"], 1)


@contextmanager
def no_room() -> Iterator[None]:
    """Let this process write no byte into a file, as on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
