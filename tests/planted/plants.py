"""Every protection that is switched off in turn. A line of the program that changes takes its plant along."""

from __future__ import annotations

from tests.planted.backup_plants import BACKUPS
from tests.planted.care_plants import CARE
from tests.planted.copy_plants import COPIES
from tests.planted.database_plants import DATABASE
from tests.planted.disk_plants import DISK
from tests.planted.guard_plants import GUARDS
from tests.planted.http_plants import HTTP
from tests.planted.planting import Edit, Plant
from tests.planted.search_plants import FINDING
from tests.planted.turn_plants import TURNS
from tests.postgres.cluster import binaries

_PEN = "store/sqlite/pen.py"
_OPENING = "store/sqlite/opening.py"

_DURABLE = (
    Plant(
        "NORMAL instead of FULL",
        "P2",
        (
            Edit(
                _PEN,
                "db.execute(DURABLY)\n            self._has_wal",
                'db.execute("PRAGMA synchronous = NORMAL")\n            self._has_wal',
            ),
        ),
        ("tests/store/test_opening.py::test_the_made_file_says_whose_it_is_and_is_safe_against_power_loss",),
    ),
    Plant(
        "the reply before the commit",
        "P1",
        (
            Edit(
                _PEN,
                '            try:\n                db.execute("BEGIN IMMEDIATE")',
                '            try:\n                if db.in_transaction:\n                    db.execute("COMMIT")\n'
                '                db.execute("BEGIN IMMEDIATE")',
            ),
            Edit(
                _PEN, "            self._commit(db)\n            return outcome", "            return outcome"
            ),
        ),
        ("tests/contract/test_log.py::test_a_write_of_one_handle_is_read_by_another_at_once",),
    ),
    Plant(
        "no rollback after a failure",
        "P3",
        (
            Edit(
                _PEN,
                "            except BaseException:\n                _roll_back(db)\n                raise",
                '            except BaseException:\n                db.execute("COMMIT")\n                raise',
            ),
        ),
        ("tests/store/test_writer.py::test_a_verb_that_fails_after_it_wrote_leaves_nothing_behind",),
    ),
    Plant(
        "an unknown outcome is told as no space",
        "P5",
        (Edit("store/sqlite/failures.py", "if committing and code in", "if not committing and code in"),),
        (
            "tests/store/test_failures.py::test_an_input_output_error_at_commit_says_that_the_outcome_is_unknown",
        ),
    ),
)

_ONCE = (
    Plant(
        "a key is not looked up",
        "P4",
        (
            Edit(
                "store/sql/transaction.py",
                "        if key is None:\n            return None",
                "        return None",
            ),
        ),
        (
            "tests/contract/test_pins.py::test_the_same_key_gives_the_first_result_and_other_arguments_conflict",
        ),
    ),
    Plant(
        "an equal pin is pinned again",
        "P4",
        (Edit("store/sql/pinning.py", "elif earlier is None and command.key is None:", "elif False:"),),
        ("tests/contract/test_pins.py::test_the_same_content_again_is_the_first_pin",),
    ),
    Plant(
        "a message's own id is not looked up",
        "P4",
        (
            Edit(
                "store/sql/appending.py",
                "if message.external_id and _is_known(",
                "if False and _is_known(",
            ),
        ),
        ("tests/contract/test_log.py::test_each_message_is_appended_once_and_knows_its_neighbours",),
    ),
)

_SOUND = (
    Plant(
        "a chunk's digest is not compared",
        "P9",
        (
            Edit(
                "store/content.py",
                "if hashlib.sha256(content).digest() != self.sha256:",
                "if len(content) > CHUNK_BYTES:",
            ),
        ),
        ("tests/store/test_content.py::test_bytes_that_do_not_match_their_digest_are_damage",),
    ),
    Plant(
        "packed bytes are unpacked without a limit",
        "P29",
        (Edit("store/content.py", "most = min(max(size_bytes, 0), CHUNK_BYTES)", "most = 1 << 40"),),
        ("tests/store/test_content.py::test_a_chunk_that_would_blow_up_is_damage_and_takes_no_memory",),
    ),
    Plant(
        "an empty file is a new store",
        "P11",
        (Edit(_OPENING, "        if place.store_id.exists():\n", "        if False:\n"),),
        (
            "tests/store/test_opening.py::test_a_strange_file_is_refused_with_cause_and_next_step_and_left_alone",
            "tests/store/test_opening.py::test_a_store_cut_short_anywhere_is_damaged_and_never_empty",
        ),
    ),
    Plant(
        "a replaced file is written to",
        "P11",
        (
            Edit(
                _PEN,
                "gone = next((path for path, known in self._files.items() if _identity(path) != known), None)",
                "gone = None",
            ),
        ),
        ("tests/store/test_opening.py::test_nothing_is_written_into_a_file_that_is_no_longer_the_stores",),
    ),
    Plant(
        "a newer file is written to",
        "P15",
        (Edit("store/sqlite/connection.py", "if version > SCHEMA_VERSION:", "if False:"),),
        ("tests/store/test_opening.py::test_a_store_of_a_newer_pinfold_is_read_and_not_written",),
    ),
    Plant(
        "a write-ahead log on any filesystem",
        "P17",
        (Edit(_OPENING, 'wanted = "WAL" if can_carry_wal(place.folder) else "DELETE"', 'wanted = "WAL"'),),
        (
            "tests/store/test_filesystem.py::test_a_store_on_such_a_filesystem_is_made_without_write_ahead_log",
        ),
    ),
    Plant(
        "files for everybody to read",
        "P25",
        (
            Edit(
                _OPENING,
                "os.close(os.open(place.database, os.O_RDWR | os.O_CREAT, 0o600))",
                "os.close(os.open(place.database, os.O_RDWR | os.O_CREAT, 0o666))",
            ),
        ),
        ("tests/store/test_opening.py::test_files_and_folders_are_the_users_alone_under_any_umask",),
    ),
)

_TOGETHER = (
    Plant(
        "busy does not name the holder",
        "P12",
        (
            Edit(
                "store/sqlite/gate.py",
                "raise BusyError(time.monotonic() - asked, self.holder())",
                'raise BusyError(0, "?")',
            ),
        ),
        ("tests/store/test_gate.py::test_busy_names_the_process_that_holds_the_lock",),
    ),
    Plant(
        "no queue at the lock",
        "P12",
        (
            Edit(
                "store/sqlite/gate.py",
                "            self._queue(asked, wait_s)",
                '            raise BusyError(0, "?")',
            ),
        ),
        ("tests/faults/test_forgetting.py::test_others_read_and_write_while_the_files_are_scrubbed",),
    ),
    Plant(
        "SQLite does not wait for a stranger",
        "P12",
        (
            Edit(
                "store/sqlite/connection.py",
                '    f"PRAGMA busy_timeout = {BUSY_S * 1000:.0f}",  # first: every later statement may meet a lock\n',
                '    "PRAGMA busy_timeout = 0",\n',
            ),
        ),
        ("tests/store/test_writer.py::test_a_program_that_passes_by_the_lock_for_a_moment_only_delays",),
    ),
    Plant(
        "a read may take for ever",
        "P16",
        (
            Edit(
                "store/sqlite/reader.py",
                "return given_up.is_set() or (end is not None and time.monotonic() > end)",
                "return given_up.is_set()",
            ),
        ),
        ("tests/store/test_reader.py::test_a_read_that_takes_too_long_is_stopped_and_the_next_one_served",),
    ),
)

_FORGOTTEN = (
    Plant(
        "the number of the forgotten is given again",
        "P38",
        (
            Edit(
                "store/sql/transaction.py",
                ' UNION ALL SELECT max(number) FROM forgotten WHERE letter = ?) AS used"',
                ' UNION ALL SELECT 0 WHERE ? = 0) AS used"',
            ),
        ),
        ("tests/contract/test_forgetting.py::test_the_number_of_what_is_forgotten_is_never_given_again",),
    ),
    Plant(
        "an import brings the forgotten back",
        "P38",
        (Edit("store/sql/forgetting/erasing.py", '"ids": ids[start : start + BATCH]', '"ids": []'),),
        (
            "tests/contract/test_forgetting.py::test_a_message_that_was_forgotten_does_not_come_back_with_its_transcript",
        ),
    ),
    Plant(
        "the words of the forgotten stay in the index",
        "P38",
        (
            Edit(
                "store/sql/forgetting/erasing.py",
                "        if text:\n            tx.db.take_out_words",
                "        if not text:\n            tx.db.take_out_words",
            ),
        ),
        ("tests/contract/test_forgetting.py::test_whatever_is_forgotten_the_views_are_those_of_the_log",),
    ),
    Plant(
        "a scrub that does not write the file anew",
        "P38",
        (Edit("store/sqlite/scrubbing.py", '            db.execute("VACUUM")\n', ""),),
        (
            "tests/faults/test_forgetting.py::test_no_copy_is_left_of_what_was_written_without_care_for_free_pages",
        ),
    ),
    Plant(
        "a scrub that leaves the index in pieces",
        "P38",
        (Edit("store/sqlite/scrubbing.py", "VALUES ('optimize')", "VALUES ('integrity-check')"),),
        ("tests/faults/test_forgetting.py::test_nothing_of_the_forgotten_is_left_in_any_byte_of_the_files",),
    ),
    Plant(
        "a scrub that leaves the log ahead",
        "P38",
        (
            Edit(
                "store/sqlite/scrubbing.py",
                "    return any(not db.execute",
                "    return True or any(not db.execute",
            ),
        ),
        ("tests/faults/test_forgetting.py",),
    ),
    Plant(
        "a scrub is done once it was begun",
        "P38",
        (Edit("store/sql/forgetting/erasing.py", "    owe(tx)\n", ""),),
        ("tests/faults/test_forgetting.py::test_a_scrub_that_a_reader_holds_up_is_owed_and_done_later",),
    ),
)

PLANTS = (
    *_DURABLE,
    *_ONCE,
    *_SOUND,
    *_TOGETHER,
    *_FORGOTTEN,
    *CARE,
    *GUARDS,
    *BACKUPS,
    *(DATABASE if binaries() else ()),  # else the tests that notice are skipped
    *DISK,
    *TURNS,
    *FINDING,
    *COPIES,
    *HTTP,
)
