"""Parts of a long text: whatever its lines are like, all of it is seen, and never much at once."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.server.ui import slices
from pinfold.server.ui.looking import Look
from pinfold.server.ui.slices import Slice, slice_of
from pinfold.tools.body import TextBody

_LINES = st.text(alphabet="ab 字é🎉", max_size=90)
_NO_STORE = None


async def _part(body: TextBody, asked: str) -> Slice:
    name, _, value = asked.partition("=")
    look = Look(_NO_STORE, 0, {name: value} if value else {})  # type: ignore[arg-type]
    return await slice_of(body, look, "A1")


async def _all_parts(body: TextBody) -> list[Slice]:
    found = [await _part(body, "")]
    while found[-1].later is not None:
        found.append(await _part(body, found[-1].later))
    return found


@given(st.lists(_LINES, max_size=40), st.sampled_from(["", "\n"]))
@settings(max_examples=60, deadline=None)
def test_parts_one_after_another_are_the_whole_text(lines: list[str], end: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slices, "SLICE_BYTES", 64)
        patched.setattr(slices, "SLICE_LINES", 5)
        text = "\n".join(lines) + end
        parts = anyio.run(_all_parts, TextBody(text))
        told = "".join("\n".join(part.lines) + ("" if part.ends_within else "\n") for part in parts)
        assert told.removesuffix("\n") == text.removesuffix("\n")
        assert all(part.stop - part.start <= 64 and len(part.lines) <= 5 for part in parts)
        for part in parts:
            assert part.first_line == text.encode()[: part.start].count(b"\n") + 1
        anyio.run(_goes_back, TextBody(text), parts[-1])


async def _goes_back(body: TextBody, part: Slice) -> None:
    while part.earlier is not None:
        before = await _part(body, part.earlier)
        assert before.start < part.start
        part = before
    assert part.start == 0


def test_a_line_of_a_megabyte_is_cut_between_characters_and_says_so() -> None:
    part = anyio.run(_part, TextBody("字" * 400_000), "")
    assert (len(part.lines), part.ends_within, part.is_all) == (1, True, False)
    assert part.lines[0] == "字" * (slices.SLICE_BYTES // 3)
    assert part.stop <= slices.SLICE_BYTES
