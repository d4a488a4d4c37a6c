"""Protections against the disk (power cuts, half written files, failing and slow calls), switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_CONNECTION = "store/sqlite/connection.py"
_PEN = "store/sqlite/pen.py"

_CUT = "tests/faults/test_power_cut.py::test_what_was_acknowledged_outlasts_a_power_cut_at_any_moment"
_HALF = "tests/store/test_half_written.py"
_AT_THE_COMMIT = (
    "tests/faults/test_kill_points.py::"
    "test_servers_that_are_killed_at_the_commit_lose_nothing_and_a_retry_makes_nothing_twice"
)

DISK = (
    Plant(
        "a commit that does not wait for the disk",
        "P2",
        (Edit(_CONNECTION, "synchronous = EXTRA", "synchronous = NORMAL"),),
        (f"{_CUT}[a new store-12]",),
    ),
    Plant(
        "a commit that does not wait until its journal is gone",
        "P2",
        (Edit(_CONNECTION, "synchronous = EXTRA", "synchronous = FULL"),),
        (f"{_CUT}[a new store without write-ahead log-12]",),
    ),
    Plant(
        "a checkpoint that was cut short is damage",
        "P2",
        (
            Edit(
                _CONNECTION,
                "if code == sqlite3.SQLITE_CORRUPT or (code == sqlite3.SQLITE_NOTADB and place.is_unsettled):",
                "if code == sqlite3.SQLITE_NOTADB and place.is_unsettled:",
            ),
        ),
        (f"{_HALF}::test_a_checkpoint_that_was_cut_short_is_no_damage",),
    ),
    Plant(
        "a half written store is read as it lies there",
        "P2",
        (Edit(_CONNECTION, 'mode = "ro&immutable=1" if is_alone else "ro"', 'mode = "ro&immutable=1"'),),
        (f"{_HALF}::test_a_half_written_store_that_cannot_be_written_is_not_read_as_it_lies_there",),
    ),
    Plant(
        "a key is not looked up after a kill",
        "P4",
        (
            Edit(
                "store/sql/transaction.py",
                "        if key is None:\n            return None\n",
                "        return None\n",
            ),
        ),
        (_AT_THE_COMMIT,),
    ),
    Plant(
        "a place that became read-only is noticed at the commit",
        "P13",
        (Edit(_PEN, "        if why is not None:\n            raise ReadOnlyError(why)\n", ""),),
        (
            "tests/store/test_sealed.py::"
            "test_a_store_that_is_sealed_while_open_says_so_before_it_writes_and_heals_without_a_new_start",
        ),
    ),
    Plant(
        "a search ends with its note",
        "P13",
        (
            Edit(
                "store/sql/searching.py",
                "    except _NOT_NOTED:\n        return page\n",
                "    except ZeroDivisionError:\n        return page\n",
            ),
        ),
        (
            "tests/faults/test_full_disk.py::test_a_server_on_a_disk_that_takes_no_more_reads_on_and_heals[full]",
        ),
    ),
    Plant(
        "work on the event loop",
        "P14",
        (
            Edit(
                "store/sqlite/lane.py",
                "return await run(work, self._link._conn)",
                "return work(self._link._conn)",
            ),
        ),
        ("tests/faults/test_slow_disk.py::test_reads_are_answered_while_writes_wait_for_a_slow_disk[0.4-2]",),
    ),
)
