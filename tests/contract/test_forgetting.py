"""Forgetting: gone from every answer, known to be gone, and the log stays whole."""

from __future__ import annotations

import random

import pytest

from pinfold.store import Store
from pinfold.store.commands import Message, Outline, RecordFold, SpillArtifact, TranscriptMark
from pinfold.store.content import collect
from pinfold.store.errors import ConflictError, InvalidInputError, NotFoundError
from pinfold.store.forgetting import Forget, Forgotten, Retention
from pinfold.store.values import Caller, PinKind, Pointer, PointerKind
from tests.contract.acts import ANNA, BEN, checkpoint, find, pin, say, spill
from tests.contract.conftest import Open

pytestmark = [pytest.mark.anyio, pytest.mark.promise("P38")]
CLI = Caller("command-line", "command-line", actor="cli")


def _pointer(text: str) -> Pointer:
    return Pointer(PointerKind(text[0]), int(text[1:]))


async def _forget(store: Store, *pointers: str, **way: object) -> Forgotten:
    command = Forget(CLI, tuple(map(_pointer, pointers)), **way)  # type: ignore[arg-type]
    planned = await store.forget_plan(command)
    done = await store.forget(command)
    assert done.plan == planned
    return done


async def _sound(store: Store) -> None:
    """Nothing is wrong with the store, before and after a rebuild."""
    assert (await store.verify()).problems == ()
    await store.rebuild()
    assert (await store.verify()).problems == ()


async def test_a_forgotten_pin_is_gone_from_every_answer_and_says_when_it_went(store: Store) -> None:
    await pin(store, "the walrus sleeps at noon")
    kept = await pin(store, "the heron fishes at dawn")
    done = await _forget(store, "P1")
    assert [each.pointer for each in done.plan.doomed if each.is_live_pin] == ["P1"]
    with pytest.raises(NotFoundError, match=r"P1: it was forgotten on request on \d{4}-\d\d-\d\d"):
        await store.pin(1)
    assert [one.pin.text for one in [await store.pin(2)]] == [kept.pin.text]
    assert [one.text for one in await store.pins(None, 9)] == [kept.pin.text]
    assert [one.text for one in (await store.brief_state(ANNA)).pins] == [kept.pin.text]
    assert (await find(store, "walrus")).hits == ()
    await _sound(store)
    with pytest.raises(NotFoundError, match="forgotten"):
        await _forget(store, "P1")


async def test_the_number_of_what_is_forgotten_is_never_given_again(store: Store) -> None:
    await pin(store, "one")
    await spill(store, b"first\n", label="log")
    await checkpoint(store, goal="ship")
    searched = (await find(store, "first")).pointer
    assert searched is not None
    await _forget(store, "P1", "A1", "C1", searched)
    assert (await pin(store, "two")).pin.number == 2
    assert (await spill(store, b"second\n", label="log")).artifact.number == 2
    assert (await checkpoint(store, goal="ship it")).checkpoint.number == 2
    assert (await find(store, "second")).pointer != searched
    await _sound(store)


async def test_a_key_whose_write_was_forgotten_does_not_write_it_again(store: Store) -> None:
    await pin(store, "one", key="k")
    await _forget(store, "P1")
    with pytest.raises(ConflictError, match="forgotten"):
        await pin(store, "one", key="k")
    assert (await pin(store, "one")).pin.number == 2


async def test_a_message_that_was_forgotten_does_not_come_back_with_its_transcript(
    store: Store, open_again: Open
) -> None:
    mark = TranscriptMark("/t.jsonl", ANNA.client, ANNA.conversation, 9, "0f")
    messages = [Message("user", f"word{n}", f"m{n}") for n in range(3)]
    await store.append_messages(ANNA, messages, mark)
    hit = (await find(store, "word1")).hits[0]
    await _forget(store, hit.pointer)
    assert (await store.append_messages(ANNA, messages, mark)).appended == 0
    await _sound(store)
    assert (await (await open_again()).append_messages(ANNA, messages, mark)).appended == 0
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.entry(int(hit.pointer[1:]))
    around = await store.entry(int(hit.pointer[1:]) - 1)
    assert around.after == int(hit.pointer[1:]) + 1


async def test_equal_bytes_and_the_artifacts_of_a_message_go_together(store: Store) -> None:
    held = collect([b"a picture"])
    brought = SpillArtifact(ANNA, held, Outline("image/png", "", 1), label="picture", aside=True)
    last = (await store.append_messages(ANNA, [Message("user", "look", artifacts=(brought,))])).last_seq
    held.close()
    await spill(store, b"a picture", BEN, label="the same")
    done = await _forget(store, f"H{last}")
    assert {each.pointer: each.why for each in done.plan.doomed} == {
        "A1": f"came with H{last}",
        f"H{last}": "",
        "A2": "has the bytes of A1",
    }
    for number in (1, 2):
        with pytest.raises(NotFoundError, match="forgotten"):
            await store.artifact_bytes(number, 0, 10)
    await _sound(store)


async def test_a_fold_that_quotes_what_goes_stays_without_it(store: Store) -> None:
    await pin(store, "Retry 7 times")
    [said, kept] = await say(store, "the walrus said seven", "the heron said nothing")
    summary = collect([b"They talked."])
    fold = RecordFold(
        ANNA,
        "f1",
        "auto",
        tokens_before=900,
        summary=SpillArtifact(ANNA, summary, Outline("text/plain", "They", 3), label="summary", aside=True),
        present={1: 1},
        lost={1: ("7",)},
        offered=((said, "the walrus said seven"), (kept, "the heron said nothing")),
        strings=(("seven", said),),
    )
    recorded = await store.record_fold(fold)
    for _ in range(2):  # what was told anew can be told anew once more
        await _forget(store, said if _ == 0 else kept)
        now = await store.fold(1)
        assert (now.seq, now.at, now.tokens_before) == (recorded.fold.seq, recorded.fold.at, 900)
        assert said not in dict(now.offered)
        assert now.strings == ()
        await _sound(store)
    assert (await store.fold(1)).offered == ()
    await _forget(store, "P1")
    assert ((await store.fold(1)).lost, (await store.fold(1)).present) == ({}, {})
    assert (await store.record_fold(fold)).repeated
    summary.close()
    await _forget(store, "F1")
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.fold(1)
    with pytest.raises(NotFoundError, match="forgotten"):
        await store.artifact(1)
    assert await store.folded_part(ANNA, "f1") is None
    await _sound(store)


async def test_a_text_is_forgotten_wherever_it_stands(store: Store) -> None:
    needle = 'the "walrus"\tpays'
    await pin(store, f"{needle} at noon")
    await say(store, f"I say {needle}", "goal")
    await spill(store, b"x\n" * 40_000 + needle.encode() + b"\n" + b"y\n" * 60_000, label="long")
    await spill(store, b"other\n", label=needle)
    await checkpoint(store, goal="ship", facts=(needle,))
    await find(store, needle)
    await find(store, f"nowhere {needle}")
    done = await _forget(store, match=needle)
    assert sorted(each.pointer[0] for each in done.plan.doomed)[:5] == ["A", "A", "C", "H", "P"]
    assert done.plan.searches == 2
    assert (await store.forget_plan(Forget(CLI, match=needle))).is_empty
    assert (await find(store, "goal")).hits[0].kind == "messages"
    await _sound(store)


async def test_a_text_is_found_across_the_borders_of_chunks(store: Store) -> None:
    needle = b"N" * 700
    await spill(store, b"a" * (64 * 1024 - 350) + needle + b"b" * 90_000, label="one line")
    assert [each.pointer for each in (await _forget(store, match=needle.decode())).plan.doomed] == ["A1"]


async def test_the_names_of_fields_are_no_text(store: Store) -> None:
    await checkpoint(store, goal="ship")
    assert (await store.forget_plan(Forget(CLI, match="pending"))).is_empty


async def test_a_session_or_all_before_goes_with_its_pins_unless_they_are_kept(store: Store) -> None:
    await pin(store, "one")
    await say(store, "of anna")
    await say(store, "of ben", caller=BEN)
    planned = await store.forget_plan(Forget(CLI, session="anna", keep_pins=True))
    assert {each.pointer[0] for each in planned.doomed} == {"H"}
    await _forget(store, session="1")
    assert [one.text for one in await store.pins(None, 9)] == []
    assert len((await find(store, "of")).hits) == 1
    status = await store.status()
    await _forget(store, before=str(status.events + 1))
    assert (await find(store, "ben")).hits == ()
    await _sound(store)


async def test_what_took_the_place_of_a_pin_can_go_and_the_old_one_stays_replaced(store: Store) -> None:
    await pin(store, "port 5544")
    await pin(store, "port 5545", supersedes=(1,))
    await _forget(store, "P2")
    assert (await store.pin(1)).pin.superseded_by == 2
    assert (await store.brief_state(BEN)).pins == ()
    with pytest.raises(ConflictError, match="P2, which was forgotten"):
        await pin(store, "port 5546", supersedes=(1,))
    await _sound(store)


async def test_a_checkpoint_that_others_went_on_from_can_go(store: Store) -> None:
    await checkpoint(store, goal="one", pending=("tests",))
    await checkpoint(store, goal="two", pending=("tests", "docs"))
    await checkpoint(store, BEN, fork_of=1)
    await _forget(store, "C1", "C2")
    assert (await store.brief_state(ANNA)).checkpoint is None
    assert (await store.brief_state(BEN)).checkpoint is None
    with pytest.raises(NotFoundError, match="forgotten"):
        await checkpoint(store, BEN, fork_of=1)
    assert (await checkpoint(store, goal="three")).checkpoint.number == 3
    await _sound(store)


@pytest.mark.parametrize(
    "way",
    [
        {},
        {"session": "1", "match": "x"},
        {"before": "yesterday"},
        {"before": "9" * 20},
        {"before": "20261130"},  # a day in the short form of ISO 8601, not so many events
        {"before": "\udcff"},
        {"match": "\udcff"},
        {"session": "\udcff"},
    ],
)
async def test_what_to_forget_has_to_be_clear(store: Store, way: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        await store.forget_plan(Forget(CLI, **way))  # type: ignore[arg-type]


async def test_numbers_beyond_all_that_can_be_stored_name_nothing(store: Store) -> None:
    await say(store, "kept")
    with pytest.raises(InvalidInputError, match=r"no session 9{20}\. There is only session 1\."):
        await store.forget_plan(Forget(CLI, session="9" * 20))
    assert (await store.forget_plan(Retention(CLI, "2999-01-01", sessions=10**20))).is_empty
    assert len((await store.forget_plan(Forget(CLI, before="020261130"))).doomed) == 1


async def test_a_secret_that_was_kept_since_it_did_not_look_like_one_there_can_go(store: Store) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
    [missed] = await say(store, f"glued: foo{token}")
    [cleaned] = await say(store, f"alone: {token}")
    assert token in (await store.entry(int(missed[1:]))).text
    assert token not in (await store.entry(int(cleaned[1:]))).text
    await find(store, f"foo{token}")
    done = await _forget(store, match=token)
    assert [each.pointer for each in done.plan.doomed] == [missed, cleaned]
    assert done.plan.searches == 1
    await _sound(store)


async def test_the_words_elsewhere_are_named(store: Store) -> None:
    await pin(store, "use port 5544")
    [said] = await say(store, "DECISION: use port 5544")
    assert (await store.forget_plan(Forget(CLI, (_pointer("P1"),)))).elsewhere == (said,)


async def test_what_has_no_pointer_is_named_in_words(store: Store) -> None:
    await pin(store, "caching parsed configuration on disk", kind=PinKind.DEAD_END)
    await pin(store, "cache parsed configuration on disk for 20 minutes")
    planned = await store.forget_plan(Forget(CLI, (_pointer("P2"),)))
    assert planned.elsewhere == ("a decision against a dead end",)
    done = await _forget(store, match="cache parsed configuration")
    assert [(each.pointer, each.kind) for each in done.plan.doomed] == [
        ("P2", "decision.pinned"),
        ("", "search.missed"),
    ]
    await _sound(store)


async def test_retention_takes_old_talk_and_nothing_that_was_meant_to_stay(store: Store) -> None:
    await say(store, "old talk")
    await spill(store, b"kept by a pin\n", label="named")
    await spill(store, b"given up\n", label="not named")
    await pin(store, "see A1 for the figures")
    await checkpoint(store, goal="ship")
    await say(store, "talk of the newest session", caller=BEN)
    later = "2999-01-01"
    done = await store.forget(Retention(CLI, later, sessions=1))
    assert [each.pointer[0] for each in done.plan.doomed] == ["H", "A"]
    assert [each.label for each in await store.artifacts(None, 9)] == ["named"]
    assert len(await store.pins(None, 9)) == 1
    assert len(await store.checkpoints(None, 9)) == 1
    assert (await store.entry(int((await find(store, "newest")).hits[0].pointer[1:]))).text
    await _sound(store)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_forgotten_the_views_are_those_of_the_log(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:  # one by one, however much it is
        monkeypatch.setattr("pinfold.store.sql.forgetting.erasing._WORTH_A_REBUILD", 0)
    draw = random.Random(seed)
    for n in range(40):
        await draw.choice([_pin_one, _spill_one, _check_one, _say_one, _search_one, _answer_one, _fold_one])(
            store, n
        )
        if draw.random() < 0.3:
            await _forget_one(store, draw)
    await _sound(store)


async def _pin_one(store: Store, n: int) -> None:
    await pin(store, f"decision {n} of walrus{n % 5}", key=f"p{n}")


async def _spill_one(store: Store, n: int) -> None:
    await spill(store, b"line %d\n" % (n % 7) * 400, label=f"log {n}", key=f"s{n}")


async def _check_one(store: Store, n: int) -> None:
    await checkpoint(store, goal=f"goal {n}", pending=(f"item {n % 3}",), files=(f"src/{n}.py",))


async def _say_one(store: Store, n: int) -> None:
    await store.append_messages(ANNA, [Message("user", f"talk {n} of walrus{n % 5}", f"m{n}")])


async def _search_one(store: Store, n: int) -> None:
    await find(store, f"walrus{n % 5}" if n % 2 else f"nothing{n}")


async def _answer_one(store: Store, n: int) -> None:
    missed = await find(store, f"zebra{n % 4} crossing")
    shown = await find(store, f"walrus{n % 5}", missed=_pointer(missed.pointer or ""))
    for hit in shown.hits[:1]:
        await store.note_opened(ANNA, _pointer(hit.pointer.partition("#")[0]))


async def _fold_one(store: Store, n: int) -> None:
    hits = (await find(store, "talk", kinds=("messages",))).hits
    offered = tuple((hit.pointer, "talk") for hit in hits[:2])
    await store.record_fold(RecordFold(ANNA, f"f{n}", "auto", offered=offered, lost={1: ("1",)}))


async def _forget_one(store: Store, draw: random.Random) -> None:
    hits = (await find(store, f"walrus{draw.randrange(5)}")).hits
    match draw.randrange(4):
        case 0 if hits:
            await _forget(store, hits[0].pointer.partition("#")[0])
        case 1:
            await _forget(store, match=f"walrus{draw.randrange(5)}")
        case 2:
            await _forget(store, before=str(draw.randrange(1, 12)))
        case 3 if artifacts := await store.artifacts(None, 1):
            await _forget(store, f"A{artifacts[0].number}")
