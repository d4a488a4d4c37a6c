"""Protections of those who come at the same time, from elsewhere, by another clock, or are cancelled, switched off."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_FORKS = "tests/faults/test_fork_threads.py"
_CLOCK = "tests/faults/test_clock.py"
_CANCELS = "tests/faults/test_cancellation.py"

_ELSEWHERE = (
    Plant(
        "a store is carried over a fork",
        "P12",
        (Edit("store/sqlite/connection.py", "if os.getpid() != opened_in:", "if False:"),),
        (f"{_FORKS}::test_a_forked_child_neither_shares_its_parents_lock_nor_lets_go_of_it",),
    ),
    Plant(
        "a store is carried to another event loop",
        "P12",
        (Edit("store/sqlite/lane.py", "if asyncio.get_running_loop() is not self._loop:", "if False:"),),
        (f"{_FORKS}::test_a_loop_that_is_closed_over_queued_writes_leaves_no_hang_and_no_half_write",),
    ),
    Plant(
        "a lock of ours is waited for too short a time",
        "P12",
        (Edit("store/sqlite/gate.py", "WAIT_S = 10.0", "WAIT_S = 1.0"),),
        ("tests/faults/test_held_locks.py::test_a_lock_of_ours_that_is_held_for_six_seconds_is_waited_for",),
    ),
)

_BY_THE_CLOCK = (
    Plant(
        "pins are listed by their time",
        "P8",
        (
            Edit(
                "store/sql/reading.py",
                "SELECT * FROM pin WHERE number < ? ORDER BY number DESC",
                "SELECT * FROM pin WHERE number < ? ORDER BY at DESC",
            ),
        ),
        (f"{_CLOCK}::test_the_log_and_its_listings_are_in_the_order_of_the_writes",),
    ),
    Plant(
        "who was met last is told by the time",
        "P8",
        (Edit("store/sql/marks.py", "_behind_all(tx), command.model", "tx.at, command.model"),),
        (f"{_CLOCK}::test_whom_a_hook_met_last_is_known_though_the_clock_was_set_back",),
    ),
    Plant(
        "what is said now is told by the time",
        "P8",
        (Edit("server/hooks/prompt.py", "store.redactor, SAID_NOW)", 'store.redactor, "2026-11-30T12")'),),
        (f"{_CLOCK}::test_what_a_user_says_again_is_pinned_again_though_the_clock_was_set_back",),
    ),
    Plant(
        "an instant beyond time is no mistake",
        "P8",
        (
            Edit(
                "store/sql/forgetting/choosing.py",
                "except (ValueError, OverflowError):",
                "except ValueError:",
            ),
        ),
        (f"{_CLOCK}::test_an_instant_at_the_end_of_time_is_refused_by_name",),
    ),
)

_CANCELLED = (
    Plant(
        "a cancelled search keeps its claim on reading",
        "P3",
        (
            Edit(
                "server/service.py",
                "if not self._reading.locked():",
                "if self._reading.acquire(blocking=False):",
            ),
            Edit(
                "server/service.py",
                "        if self._reading.acquire(blocking=False):\n            try:",
                "        if True:\n            try:",
            ),
        ),
        ("tests/faults/test_cancelled_calls.py",),
    ),
    Plant(
        "a cancelled close leaves a thread",
        "P3",
        (
            Edit(
                "store/sqlite/writer.py",
                "            finally:\n                await lane.close()",
                "            except sqlite3.Error:\n                raise\n            await lane.close()",
            ),
        ),
        (f"{_CANCELS}::test_a_close_cancelled_at_any_turn_finishes_what_was_begun",),
    ),
    Plant(
        "a cancelled write is made twice by its retry",
        "P4",
        (Edit("store/sql/transaction.py", "        if key is None:\n", "        if True:\n"),),
        (f"{_CANCELS}::test_a_write_cancelled_at_any_turn_is_whole_or_absent_and_its_retry_is_one",),
    ),
    Plant(
        "a cancelled read leaves its snapshot open",
        "P3",
        (
            Edit(
                "store/sqlite/reader.py",
                '            if db.in_transaction:\n                db.execute("ROLLBACK")',
                "            pass",
            ),
        ),
        (f"{_CANCELS}::test_a_read_cancelled_at_any_turn_stops_and_the_next_one_is_answered",),
    ),
    Plant(
        "numbers come from memory",
        "P6",
        (
            Edit(
                "store/sql/transaction.py",
                "        if self._last is None:\n",
                '        self._last = getattr(self._redactor, "last", None)\n        if self._last is None:\n',
            ),
            Edit(
                "store/sql/transaction.py",
                "        self._last = seq, digest\n",
                "        self._last = self._redactor.last = seq, digest\n",
            ),
        ),
        ("tests/faults/test_orders.py",),
    ),
)

TURNS = (*_ELSEWHERE, *_BY_THE_CLOCK, *_CANCELLED)
