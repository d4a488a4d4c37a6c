"""Protections of upgrades, backups and restores, switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_UPGRADING = "store/sqlite/upgrading.py"
_BACKING_UP = "store/sqlite/backing_up.py"
_BACKUPS = "store/sqlite/backups.py"
_COPYING = "store/sqlite/copying.py"
_RESTORING = "store/sqlite/restoring.py"
_PEN = "store/sqlite/pen.py"

_UPGRADES = "tests/faults/test_upgrades.py"
_MADE = "tests/faults/test_backups.py"
_RESTORES = "tests/faults/test_restores.py"
_COMMANDS = "tests/server/test_backup_commands.py"
_AT_ONCE = (
    f"{_UPGRADES}::test_eight_processes_that_open_an_old_store_at_once_are_all_served_after_one_upgrade"
)

_VERIFIED = Edit(
    _BACKING_UP, "        problem = problem_of(part, state, second_half(progress))", '        problem = ""'
)


def _plant(name: str, promise: str, edit: Edit, test: str) -> Plant:
    return Plant(name, promise, (edit,), (test,))


_BROUGHT_UP = (
    _plant(
        "an upgrade without a backup", "P15", Edit(_UPGRADING, "            _keep(place)\n", ""), _AT_ONCE
    ),
    _plant(
        "an upgrade that does not look again behind the gate",
        "P15",
        Edit(_UPGRADING, "        if is_old(db):\n", "        if True:\n"),
        _AT_ONCE,
    ),
    _plant(
        "every upgrade that fails makes a backup",
        "P15",
        Edit(_UPGRADING, "if standing(place) is not None:", "if False:"),
        f"{_UPGRADES}::test_upgrades_that_fail_again_and_again_leave_one_backup",
    ),
    _plant(
        "an upgrade that fails is kept",
        "P15",
        Edit(_UPGRADING, '            db.execute("ROLLBACK")', '            db.execute("COMMIT")'),
        "tests/store/test_upgrading.py::test_an_upgrade_that_fails_leaves_the_old_store_as_it_was",
    ),
    _plant(
        "an upgrade step by step",
        "P15",
        Edit(_UPGRADING, '    db.execute("BEGIN IMMEDIATE")\n    try:', "    try:"),
        f"{_UPGRADES}::test_an_upgrade_that_is_killed_leaves_a_store_that_the_next_start_brings_up[12]",
    ),
    _plant(
        "a store that was brought up meanwhile is written to",
        "P15",
        Edit(_PEN, "                self._check_schema(db)\n", ""),
        f"{_UPGRADES}::test_a_store_that_is_brought_up_under_a_server_is_read_by_it_and_not_written",
    ),
    _plant(
        "a damaged old store is brought up",
        "P15",
        _VERIFIED,
        f"{_UPGRADES}::test_a_damaged_old_store_is_neither_brought_up_nor_called_a_backup",
    ),
)

_BACKED_UP = (
    _plant(
        "a copy is a backup unseen",
        "P30",
        _VERIFIED,
        f"{_MADE}::test_a_copy_of_a_damaged_store_is_never_called_a_backup[pin changed]",
    ),
    _plant(
        "a backup that begins anew at every write",
        "P30",
        Edit(_COPYING, '    db.execute("BEGIN")\n', ""),
        f"{_MADE}::test_a_backup_holds_every_event_acknowledged_before_it_and_stops_no_writer",
    ),
    _plant(
        "half a copy bears a backup's name",
        "P30",
        Edit(
            _BACKUPS,
            'UNFINISHED = ("pinfold-unfinished-", ".part")',
            'UNFINISHED = ("log-schema3-seq1-20260101T000000.000000Z", ".db")',
        ),
        f"{_MADE}::test_a_backup_that_is_killed_is_none_and_the_next_one_clears_what_it_left[10]",
    ),
    _plant(
        "what killed backups left is never cleared",
        "P30",
        Edit(_COPYING, "        clear_abandoned(folder)\n", ""),
        f"{_MADE}::test_a_backup_that_is_killed_is_none_and_the_next_one_clears_what_it_left[10]",
    ),
    _plant(
        "a backup at work is taken for abandoned",
        "P30",
        Edit(_COPYING, "                if lock(held, wait=False):\n", "                if True:\n"),
        f"{_MADE}::test_what_others_left_half_done_is_theirs",
    ),
    _plant(
        "unfinished files of other programs are cleared",
        "P11",
        Edit(_COPYING, 'folder.glob("*".join(UNFINISHED))', 'folder.glob("*.part")'),
        f"{_MADE}::test_what_others_left_half_done_is_theirs",
    ),
    _plant(
        "a backup replaces what is there",
        "P11",
        Edit(_BACKING_UP, "    if path.exists() or path.is_symlink():", "    if False:"),
        f"{_MADE}::test_a_backup_replaces_nothing",
    ),
    _plant(
        "a backup for everybody to read",
        "P25",
        Edit(
            _COPYING,
            "        if lock(held, wait=False) and os",
            "        os.fchmod(held, 0o644)\n        if lock(held, wait=False) and os",
        ),
        f"{_MADE}::test_backups_are_the_users_alone_under_any_umask",
    ),
)

_PUT_BACK = (
    _plant(
        "a restore that cannot be undone",
        "P30",
        Edit(_RESTORING, "        undo = _undo(place, progress)", "        undo = None"),
        f"{_RESTORES}::test_a_restore_brings_the_backup_back_and_can_be_undone",
    ),
    _plant(
        "a restore that takes the file away from running servers",
        "P30",
        Edit(
            _RESTORING,
            "        if undo is not None and not staging.plan.foreign:",
            "        if False:",
        ),
        f"{_RESTORES}::test_a_running_server_goes_on_with_what_was_restored",
    ),
    _plant(
        "a backup is put back unseen",
        "P30",
        Edit(_RESTORING, "    if problem:\n", "    if False:\n"),
        f"{_RESTORES}::test_what_is_no_sound_backup_is_refused_and_nothing_is_changed",
    ),
    _plant(
        "a damaged store is deleted",
        "P11",
        Edit(_RESTORING, "        file.rename(folder / file.name)", "        file.unlink()"),
        f"{_RESTORES}::test_a_damaged_store_is_set_aside_whole_and_the_backup_serves",
    ),
    _plant(
        "a database is set aside behind its log",
        "P30",
        Edit(
            _RESTORING,
            '_FILES = ("", "-wal", "-shm", "-journal")',
            '_FILES = ("-wal", "-shm", "-journal", "")',
        ),
        f"{_RESTORES}::test_files_that_are_being_set_aside_are_never_an_older_state",
    ),
    _plant(
        "a restore past the gate",
        "P30",
        Edit(_RESTORING, "    with staging.gate.hold():", "    with suppress():"),
        f"{_RESTORES}::test_a_restore_waits_for_whoever_writes_and_names_them",
    ),
    _plant(
        "a newer pinfold's store is replaced",
        "P15",
        Edit(_BACKING_UP, "        if newer is not None:\n", "        if False:\n"),
        f"{_RESTORES}::test_a_store_of_a_newer_pinfold_is_not_replaced_by_an_older_one",
    ),
    _plant(
        "another project's backup is put back",
        "P11",
        Edit("server/commands/restore_report.py", "if ready.plan.foreign and not anyway:", "if False:"),
        f"{_COMMANDS}::test_a_backup_of_another_project_is_refused_unless_it_is_wanted_anyway",
    ),
    _plant(
        "nobody is asked",
        "P11",
        Edit(
            "server/commands/consent.py",
            "    if as_json or not is_terminal(sys.stdin):",
            "    return True\n    if as_json:",
        ),
        f"{_COMMANDS}::test_a_dry_run_and_a_pipe_without_a_word_change_nothing",
    ),
)

BACKUPS = (*_BROUGHT_UP, *_BACKED_UP, *_PUT_BACK)
