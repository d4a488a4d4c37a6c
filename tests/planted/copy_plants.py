"""Protections of copies and of joins, switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_RECEIVING = "store/sql/receiving.py"
_RECEIVED = "tests/contract/test_receiving.py"

_COPIED = (
    Plant(
        "a received event is not checked",
        "P43",
        (Edit(_RECEIVING, "if logged.follows(previous):", "if logged is not None:"),),
        (f"{_RECEIVED}::test_an_event_that_is_not_what_it_was_is_refused_with_its_whole_part[sqlite]",),
    ),
    Plant(
        "another log is passed over",
        "P43",
        (Edit(_RECEIVING, 'if bytes(row["digest"]) != logged.digest:', "if row is None:"),),
        (f"{_RECEIVED}::test_a_log_that_goes_on_otherwise_is_refused_and_stays[sqlite]",),
    ),
    Plant(
        "what was forgotten since stays in the copy",
        "P43",
        (Edit(_RECEIVING, "        take_out(tx, gone, rebuilds=rebuilds)", "        pass"),),
        (f"{_RECEIVED}::test_what_was_forgotten_since_is_forgotten_with_the_event_that_tells_it[sqlite]",),
    ),
    Plant(
        "damaged bytes are taken for forgotten ones",
        "P43",
        (
            Edit(
                "server/copying/reading.py",
                "if (await self.store.logged(event.seq - 1))[0].body is None:",
                "if event is not None:",
            ),
        ),
        ("tests/server/test_copy.py::test_a_damaged_artifact_ends_the_copy_behind_what_is_sound",),
    ),
)
_JOINED = (
    Plant(
        "what both logs began with is told again",
        "P44",
        (
            Edit(
                "server/copying/joining.py",
                "self._stays(told) if told.event.seq <= self.common else self._tell(told)",
                "self._tell(told)",
            ),
        ),
        ("tests/server/test_join.py::test_what_both_began_with_is_not_told_again",),
    ),
    Plant(
        "messages are joined without a mark",
        "P44",
        (
            Edit(
                "server/copying/messages.py",
                "mark = replace(self._mark, offset=self._reached)",
                "mark = None",
            ),
        ),
        ("tests/server/test_join.py::test_a_session_that_goes_on_from_another_one_does_so_there",),
    ),
)

COPIES = (*_COPIED, *_JOINED)
