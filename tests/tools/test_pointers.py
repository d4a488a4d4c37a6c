from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.store.errors import InvalidInputError
from pinfold.store.values import Pointer, PointerKind
from pinfold.tools.pointers import (
    BriefAt,
    ByteRange,
    LineRange,
    Listing,
    Place,
    Target,
    parse,
    parse_lines,
    parse_pointer,
    quote,
)

A12 = Pointer(PointerKind.ARTIFACT, 12)
P7 = Pointer(PointerKind.PIN, 7)


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("P7", Place(P7)),
        ("A12", Place(A12)),
        ("C3", Place(Pointer(PointerKind.CHECKPOINT, 3))),
        ("H142", Place(Pointer(PointerKind.ENTRY, 142))),
        ("F2", Place(Pointer(PointerKind.FOLD, 2))),
        ("S9", Place(Pointer(PointerKind.SEARCH, 9))),
        ("A12#L10-40", Place(A12, LineRange(10, 40))),
        ("A12#L10-L40", Place(A12, LineRange(10, 40))),
        ("A12#L10", Place(A12, LineRange(10, 10))),
        ("A12#L10-", Place(A12, LineRange(10))),
        ("A12#B0-4095", Place(A12, ByteRange(0, 4095))),
        ("A12#B7", Place(A12, ByteRange(7, 7))),
        ("A12#B7-", Place(A12, ByteRange(7))),
        ("brief", BriefAt()),
        ("Brief@4812", BriefAt(4812)),
        ("pins", Listing("pins")),
        ("MISSES", Listing("misses")),
        ("p7", Place(P7)),
        (" `P7` ", Place(P7)),
        ("[P7]", Place(P7)),
        ("<P7>.", Place(P7)),
        ("P007", Place(P7)),
        ("pinfold://a12#l10-40", Place(A12, LineRange(10, 40))),
    ],
)
def test_every_spelling_found_in_prose_leads_to_its_pointer(spelled: str, meant: Target) -> None:
    assert parse(spelled) == meant


@pytest.mark.parametrize(
    "spelled",
    [
        "",
        "P",
        "P-1",
        "X7",
        "P7.5",
        "P7 P8",
        "A12#",
        "A12#L0",
        "A12#L9-3",
        "A12#B9-3",
        "A12#Q1",
        "brief@",
        "brief@x",
        "brief#L1",
        "pins@4",
        "P" + "9" * 40,
        "P٧",
        "A12#L1-2-3",
    ],
)
def test_what_is_no_pointer_is_refused_with_the_shapes_of_pointers(spelled: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse(spelled)
    assert len(str(refused.value)) < 250


@given(st.text(max_size=60))
def test_no_text_makes_the_grammar_fail_otherwise(text: str) -> None:
    try:
        target = parse(text)
    except InvalidInputError:
        return
    assert parse(str(target)) == target


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("10-40", LineRange(10, 40)),
        ("L10-40", LineRange(10, 40)),
        ("10:40", LineRange(10, 40)),
        ("10..40", LineRange(10, 40)),
        (" 10 - 40 ", LineRange(10, 40)),
        ("-50", LineRange(tail=50)),
        (-50, LineRange(tail=50)),
        ("10-", LineRange(10)),
        ("10", LineRange(10, 10)),
        (10, LineRange(10, 10)),
    ],
)
def test_ranges_of_lines_are_read_in_their_usual_spellings(spelled: object, meant: LineRange) -> None:
    assert parse_lines(spelled) == meant


@pytest.mark.parametrize("spelled", ["0", "40-10", "-0", "a-b", "", None, True, 1.5, "1,5", ["1"]])
def test_a_range_that_says_nothing_is_refused(spelled: object) -> None:
    with pytest.raises(InvalidInputError):
        parse_lines(spelled)


def test_a_pointer_of_another_kind_is_refused_with_an_example_of_the_right_one() -> None:
    assert parse_pointer("p3", PointerKind.PIN, "`supersedes`") == Pointer(PointerKind.PIN, 3)
    with pytest.raises(
        InvalidInputError, match=r"`supersedes` cannot be \"A3\"\. Give a pointer such as P7\."
    ):
        parse_pointer("A3", PointerKind.PIN, "`supersedes`")


def test_a_quoted_value_is_short_and_ascii() -> None:
    assert quote("x" * 5_000) == '"' + "x" * 37 + '..."'
    assert quote("\ud800\x1b[31m") == '"\\ud800\\u001b[31m"'
    assert [quote(None), quote(True), quote(-1), quote([1]), quote({}), quote(10**5_000)] == [
        "null",
        "true",
        "-1",
        "a list",
        "an object",
        "a huge number",
    ]
