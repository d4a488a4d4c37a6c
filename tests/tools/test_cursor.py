from __future__ import annotations

import pytest

from pinfold.store.errors import InvalidInputError
from pinfold.tools.cursor import decode, encode


@pytest.mark.parametrize("at", [0, 1, 4096, 256 * 1024 * 1024])
def test_a_cursor_leads_back_to_its_place_in_its_own_call(at: int) -> None:
    assert decode(encode(at, "call"), "call") == at


@pytest.mark.parametrize(
    "spelled", ["", "0", "zz.000000", "10.123456", encode(16, "other call"), "1" + encode(0, "call")]
)
def test_a_cursor_of_another_call_or_a_changed_one_is_refused(spelled: str) -> None:
    with pytest.raises(InvalidInputError, match="does not belong"):
        decode(spelled, "call")
