"""A text in hand is cut by lines and offsets just as an artifact in the store is."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pinfold.tools import Desk, call
from pinfold.tools.body import ArtifactBody, Body, TextBody

pytestmark = pytest.mark.anyio


@given(text=st.text("ab\n漢", min_size=1, max_size=40), first=st.integers(1, 5), more=st.integers(0, 4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_both_bodies_give_the_same_pieces(desk: Desk, text: str, first: int, more: int) -> None:
    spilled = await call(desk, "spill_artifact", {"content": text})
    number = int(spilled.structured["pointer"][1:])
    bodies: list[Body] = [ArtifactBody(desk.store, await desk.store.artifact(number)), TextBody(text)]
    assert len({body.line_count for body in bodies}) == 1
    assert len({body.size_bytes for body in bodies}) == 1
    if first <= bodies[0].line_count:
        assert len({await body.read_lines(first, first + more, 7) for body in bodies}) == 1
    if first < bodies[0].size_bytes:
        assert len({await body.read(first, more + 1) for body in bodies}) == 1
