from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.store.errors import ConflictError, InvalidInputError, PinfoldError, TooLargeError
from pinfold.store.redaction import Redactor
from pinfold.store.values import PinKind, Pointer, PointerKind
from pinfold.tools import TOOLS, Desk, call
from pinfold.tools.arguments import Arguments, accept, checks, redacted
from pinfold.tools.checkpoint_state import CheckpointState
from pinfold.tools.fetch_pointer import FetchPointer
from pinfold.tools.pin_decision import PinDecision
from pinfold.tools.search_history import SearchHistory
from pinfold.tools.spill_artifact import SpillArtifact

PIN: dict[str, object] = {"text": "Use Redis", "why": "tokens expire"}


def refusal(model: type[Arguments], raw: Any) -> str:
    with pytest.raises(PinfoldError) as refused:
        accept(model, raw)
    text = str(refused.value)
    assert "\n" not in text
    assert "pydantic" not in text
    assert len(text) < 300
    return text


def test_an_unknown_argument_is_refused_by_name_with_the_one_that_was_meant() -> None:
    assert refusal(PinDecision, PIN | {"whyy": "x"}) == (
        "`whyy` is not an argument; did you mean `why`?"
        " Accepted: text, why, kind, supersedes, session_only, files, key."
    )


def test_a_long_unknown_name_is_never_repeated_whole() -> None:
    assert "q" * 60 not in refusal(PinDecision, PIN | {"q" * 5_000: "x"})


@pytest.mark.parametrize("raw", [None, {}, {"why": "x"}, {"text": None, "why": "x"}])
def test_a_missing_required_argument_is_named(raw: dict[str, object] | None) -> None:
    assert refusal(PinDecision, raw) == "`text` is missing. Required: text, why."


@pytest.mark.parametrize("raw", [[], "text", 5])
def test_arguments_that_are_no_object_are_refused(raw: object) -> None:
    assert "Send an object" in refusal(PinDecision, raw)


@pytest.mark.parametrize("limit", [5, "5", " 5 ", "+5"])
def test_a_limit_may_be_a_number_or_its_digits(limit: object) -> None:
    assert accept(SearchHistory, {"query": "x", "limit": limit}).limit == 5


@pytest.mark.parametrize(
    ("limit", "quoted"),
    [
        (-1, "-1"),
        ("-1", '"-1"'),
        (0, "0"),
        (51, "51"),
        (None, "null"),
        (True, "true"),
        (5.0, "5.0"),
        ("5.0", '"5.0"'),
        ("five", '"five"'),
        ([], "a list"),
        (float("nan"), "NaN"),
        ("٥", '"\\u0665"'),
    ],
)
def test_a_limit_that_is_no_whole_number_in_range_is_refused_with_the_range(
    limit: object, quoted: str
) -> None:
    text = refusal(SearchHistory, {"query": "x", "limit": limit})
    assert text == f"`limit` cannot be {quoted}. Give a whole number from 1 to 50."


@pytest.mark.parametrize("tokens", [49, 20_001, None, True, "1e4"])
def test_max_tokens_is_refused_outside_its_range(tokens: object) -> None:
    assert "from 50 to 20,000" in refusal(FetchPointer, {"pointer": "P1", "max_tokens": tokens})


def test_null_for_an_optional_text_or_list_means_not_given() -> None:
    nothing: dict[str, object] = {
        "kind": None,
        "supersedes": None,
        "session_only": None,
        "files": None,
        "key": None,
    }
    assert accept(PinDecision, PIN | nothing) == accept(PinDecision, PIN)


@pytest.mark.parametrize(
    ("given_as", "read"),
    [
        (["a", "b"], ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ("a", ("a",)),
        ("[redis] first", ("[redis] first",)),
        ([], ()),
    ],
)
def test_a_list_may_come_as_json_text_or_as_its_single_item(given_as: object, read: tuple[str, ...]) -> None:
    assert accept(CheckpointState, {"pending": given_as}).pending == read


def test_an_unfit_item_of_a_list_is_named_by_its_place() -> None:
    assert refusal(CheckpointState, {"done": ["a", 5]}).startswith("`done[1]` must be text, not 5.")
    assert refusal(CheckpointState, {"done": ["a", " "]}).startswith("`done[1]` is empty.")
    assert refusal(CheckpointState, {"done": {"a": 1}}).startswith("`done` must be a list of strings")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003"])
def test_blank_text_is_refused(text: str) -> None:
    assert refusal(PinDecision, PIN | {"text": text}).startswith("`text` is empty.")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ab\ud800", "half of a surrogate pair at character 2"),
        ("\udc00", "half of a surrogate pair at character 0"),
        ("a\0b", "a NUL at character 1"),
    ],
)
def test_invalid_unicode_and_nul_are_refused_with_their_place(text: str, what: str) -> None:
    assert what in refusal(PinDecision, PIN | {"text": text})


@pytest.mark.parametrize(("size", "fits"), [(2_000, True), (2_001, False), (2_100, False)])
def test_the_limit_of_a_pin_is_exact_and_named_when_it_is_passed(size: int, fits: bool) -> None:
    raw = PIN | {"text": "x" * size}
    if fits:
        assert accept(PinDecision, raw).text == "x" * size
        return
    with pytest.raises(TooLargeError) as refused:
        accept(PinDecision, raw)
    assert (refused.value.size, refused.value.limit) == (size, 2_000)
    assert str(refused.value).startswith(f"`text` has {size:,} characters; the limit is 2,000.")


def test_text_is_kept_as_given() -> None:
    odd = "  e\u0301\u200b \u202e\x1b[31m\r\n é 👩‍👩‍👧 \u2028 "
    assert accept(PinDecision, PIN | {"text": odd}).text == odd


def test_content_to_spill_may_hold_nul_and_blanks_but_no_half_characters() -> None:
    assert accept(SpillArtifact, {"content": " \0\x1b "}).content == " \0\x1b "
    assert "surrogate" in refusal(SpillArtifact, {"content": "a\ud83d"})


@pytest.mark.parametrize(
    ("spelled", "meant"), [("DECISION", PinKind.DECISION), (" dead_end ", PinKind.DEAD_END)]
)
def test_a_kind_is_read_in_any_case(spelled: str, meant: PinKind) -> None:
    assert PinKind(accept(PinDecision, PIN | {"kind": spelled}).kind) is meant


def test_an_unknown_kind_is_refused_with_the_nearest_and_all() -> None:
    assert refusal(PinDecision, PIN | {"kind": "descision"}) == (
        '`kind` cannot be "descision"; did you mean `decision`?'
        " Give one of decision, constraint, fact, dead_end."
    )
    assert "did you mean `pins`?" in refusal(SearchHistory, {"query": "x", "kinds": ["pin"]})


@pytest.mark.parametrize(
    ("given_as", "read"), [(True, True), ("true", True), ("False", False), (False, False)]
)
def test_a_flag_may_be_spelled_out(given_as: object, read: bool) -> None:
    assert accept(PinDecision, PIN | {"session_only": given_as}).session_only is read


@pytest.mark.parametrize("given_as", [1, 0, "yes", [], 1.0])
def test_a_flag_is_nothing_else(given_as: object) -> None:
    assert "Give true or false." in refusal(PinDecision, PIN | {"session_only": given_as})


def test_pointers_in_arguments_are_read_in_any_spelling() -> None:
    pins = accept(PinDecision, PIN | {"supersedes": "p3"}).supersedes
    assert pins == (Pointer(PointerKind.PIN, 3),)
    assert "such as P7" in refusal(PinDecision, PIN | {"supersedes": ["C3"]})
    assert accept(SearchHistory, {"query": "x", "missed": "[S8]"}).missed == Pointer(PointerKind.SEARCH, 8)


@pytest.mark.parametrize("since", ["2026-03-14", "2026-03-14T10:00:00Z", "2026-03-14T12:00:00+02:00"])
def test_since_takes_dates_and_times(since: str) -> None:
    assert accept(SearchHistory, {"query": "x", "since": since}).since.startswith("2026-03-14T")


@pytest.mark.parametrize("since", ["yesterday", "14.3.", " ", 7, "9w9", "-7d"])
def test_since_refuses_what_names_no_moment(since: object) -> None:
    assert "Give a date such as 2026-03-14" in refusal(SearchHistory, {"query": "x", "since": since})


def test_a_session_is_read_as_hits_show_it() -> None:
    assert accept(SearchHistory, {"query": "x", "session": "s3"}).session == 3


def test_secrets_are_replaced_in_what_may_be_stored_and_counted() -> None:
    token = "ghp_" + "a1B2" * 9
    given_as = accept(PinDecision, {"text": f"use {token}", "why": "b", "files": [f"x/{token}"]})
    clean, found = redacted(given_as, Redactor(b"k" * 32))
    assert token not in clean.model_dump_json()
    assert sum(found.values()) == 2
    assert (clean.why, clean.kind) == (given_as.why, given_as.kind)


def test_what_only_asks_is_not_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    given_as = accept(FetchPointer, {"pointer": "A1", "match": token})
    assert redacted(given_as, Redactor(b"k" * 32)) == (given_as, {})


SECRETS = [
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "xoxb-123456789012-1234567890123-" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "sk-proj-" + "abcdEFGH1234" * 4,
]


@pytest.mark.anyio
@pytest.mark.parametrize("secret", SECRETS)
async def test_no_refusal_quotes_a_secret_or_the_beginning_of_one(desk: Desk, secret: str) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("fetch_pointer", {"pointer": secret}),
        ("fetch_pointer", {"pointer": "A1", "lines": secret}),
        ("pin_decision", {"text": "x", "why": "y", "kind": secret}),
        ("pin_decision", {"text": "x", "why": "y", "supersedes": [secret]}),
        ("pin_decision", {secret: 1}),
        ("search_history", {"query": "x", "limit": secret}),
        ("spill_artifact", {"path": secret}),
    ]
    for name, arguments in calls:
        with pytest.raises(PinfoldError) as refused:
            await call(desk, name, arguments)
        assert secret[:12] not in str(refused.value)
        assert "[redacted:" in str(refused.value)


@pytest.mark.anyio
async def test_a_key_in_conflict_is_not_repeated(desk: Desk) -> None:
    await call(desk, "pin_decision", {"text": "x", "why": "y", "key": "deploy-7"})
    with pytest.raises(ConflictError) as refused:
        await call(desk, "pin_decision", {"text": "z", "why": "y", "key": "deploy-7"})
    assert "deploy-7" not in str(refused.value)


def test_every_argument_has_exactly_one_check() -> None:
    for tool in TOOLS:
        assert list(checks(tool.arguments)) == list(tool.arguments.model_fields)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("model", [tool.arguments for tool in TOOLS])
@settings(max_examples=30, deadline=None)
@given(values=st.lists(anything, min_size=9, max_size=9))
def test_no_value_ever_gives_anything_but_arguments_or_a_plain_refusal(
    model: type[Arguments], values: list[object]
) -> None:
    raw = dict(zip(model.model_fields, values, strict=False))
    try:
        accept(model, raw)
    except (InvalidInputError, TooLargeError) as refused:
        assert len(str(refused)) < 300  # noqa: PT017 - both outcomes are right


def test_an_empty_string_for_what_may_be_left_out_is_not_given() -> None:
    filled = accept(PinDecision, PIN | {"kind": "", "supersedes": "", "files": "", "key": ""})
    assert filled == accept(PinDecision, PIN)
    spilled = accept(SpillArtifact, {"path": "build.log", "content": "", "label": "", "source": ""})
    assert spilled == accept(SpillArtifact, {"path": "build.log"})
