"""Protections of looking after a store (doctor, verify, rebuild, export, growth), switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_VERIFYING = "store/sqlite/verifying.py"
_CHAIN = "store/sql/chain.py"
_BYTES = "store/sql/checking_bytes.py"
_REBUILDING = "store/sql/rebuilding.py"
_CONNECTION = "store/sqlite/connection.py"
_JSON_LINES = "server/export/json_lines.py"
_MARKDOWN = "server/export/markdown.py"
_DESTINATION = "server/export/destination.py"
_CONTENTS = "store/sqlite/examination/contents.py"

_DAMAGE = "tests/faults/test_damage.py"
_GROWTH = "tests/faults/test_growth.py"
_EXPORT = "tests/server/test_export.py"
_EXAMINATION = "tests/store/test_examination.py"
_REBUILD = "tests/faults/test_rebuild.py"

_FOUND = (
    Plant(
        "a body's digest is not looked at",
        "P10",
        (Edit(_CHAIN, 'if row["body"] is not None and digest_of', 'if row["body"] is None and digest_of'),),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "the chain is not followed",
        "P10",
        (
            Edit(
                "store/sql/auditing.py",
                '            previous = row["digest"]\n            self.tip',
                "            self.tip",
            ),
        ),
        (f"{_DAMAGE}::test_a_sound_store_has_no_problems",),
    ),
    Plant(
        "an event may follow any other",
        "P10",
        (Edit(_CHAIN, 'if row["digest"] != link(', 'if False and row["digest"] != link('),),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "views are not compared",
        "P10",
        (
            Edit(
                _VERIFYING,
                "        if is_log_sound and with_derived:\n            self._check_derived()\n",
                "",
            ),
        ),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "the words of the index are not compared",
        "P10",
        (
            Edit(
                "store/sqlite/staleness.py",
                "col || ' ' || offset) FROM vocabulary GROUP BY term",
                "col || ' ' || offset) FROM vocabulary WHERE 0 GROUP BY term",
            ),
        ),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "bytes that nothing refers to are not looked for",
        "P10",
        (Edit(_BYTES, "WHERE sha256 NOT IN (SELECT sha256 FROM artifact)", "WHERE 0"),),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "lines of chunks are not counted",
        "P10",
        (Edit(_BYTES, "            totals.newlines,\n", '            row["lines_before"],\n'),),
        (f"{_DAMAGE}::test_damage_is_named_and_left_as_it_is",),
    ),
    Plant(
        "indexes of the file are not checked",
        "P10",
        (Edit(_VERIFYING, "PRAGMA integrity_check", "PRAGMA quick_check"),),
        (f"{_REBUILD}::test_an_index_of_the_log_that_lost_a_row_is_named_and_made_anew",),
    ),
    Plant(
        "no room is taken for damage",
        "P10",
        (
            Edit(
                "store/sqlite/private_copy.py",
                "        translate(error, TEMPORARY)\n    return",
                "        pass\n    return",
            ),
            Edit(
                "store/sqlite/private_copy.py",
                "    except sqlite3.Error as error:\n        translate(error, TEMPORARY)",
                '    except sqlite3.Error as error:\n        raise DamagedError("The store") from error',
            ),
        ),
        ("tests/faults/test_verify.py::test_no_room_for_the_copy_is_no_damage_of_the_store",),
    ),
)

_REBUILT = (
    Plant(
        "a damaged event is made into views",
        "P10",
        (Edit(_REBUILDING, "if any(event_problems(row, previous)):", "if False:"),),
        (f"{_REBUILD}::test_a_damaged_log_is_not_made_into_views",),
    ),
    Plant(
        "a rebuild in pieces",
        "P3",
        (
            Edit(
                _REBUILDING,
                "    empty(db)\n    done",
                '    empty(db)\n    db.execute("COMMIT")\n    db.execute("BEGIN IMMEDIATE")\n    done',
            ),
        ),
        (f"{_REBUILD}::test_readers_see_whole_views_before_during_and_after_a_rebuild",),
    ),
    Plant(
        "indexes of the log are left as they are",
        "P10",
        (Edit("store/sqlite/store.py", 'tx.db.execute("REINDEX event")', "pass"),),
        (f"{_REBUILD}::test_an_index_of_the_log_that_lost_a_row_is_named_and_made_anew",),
    ),
)

_GROWN = (
    Plant(
        "verify holds its snapshot while it works",
        "P16",
        (
            Edit(
                "store/sqlite/private_copy.py",
                "        with closing(connect(database, read_only=True)) as source:\n            copy_pages",
                "        source = connect(database, read_only=True)\n        _HELD.append(source)\n"
                "        if True:\n            copy_pages",
            ),
            Edit(
                "store/sqlite/private_copy.py",
                'TEMPORARY = "the folder for temporary files"\n',
                'TEMPORARY = "the folder for temporary files"\n_HELD: list[object] = []\n',
            ),
        ),
        ("tests/faults/test_verify.py::test_the_log_ahead_can_be_cut_while_verify_works",),
    ),
    Plant(
        "a log ahead that stays as long as it ever was",
        "P16",
        (Edit(_CONNECTION, "journal_size_limit = {64 * 1024 * 1024}", "journal_size_limit = {-1}"),),
        (f"{_GROWTH}::test_after_a_long_foreign_read_the_log_ahead_is_small_again",),
    ),
    Plant(
        "a log ahead that is never moved",
        "P16",
        (Edit(_CONNECTION, '    "PRAGMA foreign_keys = ON",\n', '    "PRAGMA wal_autocheckpoint = 0",\n'),),
        (f"{_GROWTH}::test_many_small_writes_leave_the_log_ahead_small",),
    ),
    Plant(
        "equal bytes are kept again",
        "P33",
        (
            Edit(
                "store/sql/spilling.py",
                '    if tx.db.execute("SELECT 1 FROM content WHERE sha256 = ?", (content.sha256,)).fetchone():\n'
                "        return\n    row",
                '    tx.db.execute("DELETE FROM content WHERE sha256 = ?", (content.sha256,))\n    row',
            ),
        ),
        (f"{_GROWTH}::test_bytes_that_are_there_already_take_no_room_again",),
    ),
    Plant(
        "all of a large artifact is in the index",
        "P33",
        (
            Edit(
                "store/sql/apply.py",
                "    return start < INDEXED_HEAD_BYTES or",
                "    return start >= 0 or",
            ),
        ),
        (f"{_GROWTH}::test_of_a_large_artifact_only_its_ends_are_in_the_index",),
    ),
    Plant(
        "each message is indexed a second time",
        "P33",
        (
            Edit(
                "store/sql/apply.py",
                "        db.put_words(entry, change.text)\n",
                "        db.put_words(entry, change.text)\n        for again in range(3):\n"
                "            db.put_words(entry + 10**9 * (again + 1), change.text)\n",
            ),
            Edit(
                "store/sqlite/indexing.py",
                "(entry_id,)).fetchone()\n    return entry_id",
                "(entry_id % 10**9,)).fetchone()\n    return entry_id",
            ),
        ),
        (f"{_GROWTH}::test_rows_of_a_megabyte_stay_within_two_and_a_half_times_their_text",),
    ),
)

_EXPORTED = (
    Plant(
        "an export of text that is cut within a character",
        "P9",
        (Edit(_JSON_LINES, "whole.decode()}", 'whole.decode("utf-8", "replace")}'),),
        (f"{_EXPORT}::test_every_event_and_every_byte_is_there_once",),
    ),
    Plant(
        "a damaged artifact ends an export",
        "P10",
        (
            Edit(
                _JSON_LINES,
                "    except PinfoldError as error:",
                "    except KeyError as error:  # type: ignore[assignment]",
            ),
        ),
        (f"{_EXPORT}::test_damage_is_said_and_the_rest_is_exported",),
    ),
    Plant(
        "a fence of three backticks",
        "P23",
        (Edit(_MARKDOWN, "max(3, _longest_run(shown) + 1)", "3"),),
        (f"{_EXPORT}::test_no_text_ends_its_fence_or_its_span",),
    ),
    Plant(
        "hidden characters reach the reader of an export",
        "P23",
        (
            Edit(
                _MARKDOWN,
                '    shown = visible(text).removesuffix("\\n")',
                '    shown = text.removesuffix("\\n")',
            ),
        ),
        (f"{_EXPORT}::test_markdown_shows_pins_and_conversations_and_nothing_stored_gets_out_of_its_fence",),
    ),
    Plant(
        "an export for everybody to read",
        "P25",
        (Edit(_DESTINATION, "flags, 0o600)", "flags, 0o644)"),),
        (f"{_EXPORT}::test_a_file_is_the_users_alone_whole_and_never_overwritten_unasked",),
    ),
    Plant(
        "an export overwrites what is there",
        "P11",
        (
            Edit(
                _DESTINATION, "    if path.exists() and not (overwrite and path.is_file()):", "    if False:"
            ),
        ),
        (f"{_EXPORT}::test_a_file_is_the_users_alone_whole_and_never_overwritten_unasked",),
    ),
)

_EXAMINED = (
    Plant(
        "the doctor believes the log",
        "P10",
        (Edit(_CONTENTS, "            if wrong:\n", "            if not seq:\n"),),
        (f"{_EXAMINATION}::test_each_trouble_is_named_with_what_to_do_and_left_as_it_is",),
    ),
    Plant(
        "the doctor undoes a write that was cut off",
        "P11",
        (Edit("store/sqlite/examination/__init__.py", "if place.rollback_journal.exists():", "if False:"),),
        (f"{_EXAMINATION}::test_each_trouble_is_named_with_what_to_do_and_left_as_it_is",),
    ),
    Plant(
        "the doctor does not see who may read",
        "P25",
        (Edit("store/findings.py", "found.st_mode & 0o077:", "found.st_mode & 0o002:"),),
        (f"{_EXAMINATION}::test_each_trouble_is_named_with_what_to_do_and_left_as_it_is",),
    ),
    Plant(
        "a client whose command is gone is well",
        "P36",
        (
            Edit(
                "server/doctor/registrations.py",
                "    if unreachable:\n",
                "    if not unreachable and False:\n",
            ),
        ),
        ("tests/server/test_doctor.py::test_a_registered_client_is_ok_until_its_command_is_gone",),
    ),
)

CARE = (*_FOUND, *_REBUILT, *_GROWN, *_EXPORTED, *_EXAMINED)
