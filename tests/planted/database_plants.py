"""Protections of a store in PostgreSQL, switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_LINK = "store/postgres/link.py"
_WRITING = "tests/postgres/test_writing.py"
_OPENING = "tests/postgres/test_opening.py"
_CARE = "tests/postgres/test_care.py"
_ISOLATION = "tests/postgres/test_isolation.py"

DATABASE = (
    Plant(
        "rows of every project are seen",
        "P28",
        (Edit("store/postgres/schema.py", "USING (project = this_project())", "USING (true)"),),
        (f"{_ISOLATION}::test_a_statement_that_asks_for_every_row_gets_those_of_its_project",),
    ),
    Plant(
        "the owner of the tables passes by the policies",
        "P28",
        (Edit("store/postgres/schema.py", "ENABLE ROW LEVEL SECURITY, FORCE ROW", "ENABLE ROW"),),
        (f"{_ISOLATION}::test_every_table_shows_its_owner_one_project_only_too",),
    ),
    Plant(
        "a superuser is served",
        "P28",
        (Edit("store/postgres/opening.py", "    if passes_by:\n", "    if False:\n"),),
        (f"{_ISOLATION}::test_a_role_that_sees_every_row_is_refused",),
    ),
    Plant(
        "writers of one project do not wait for each other",
        "P6",
        (Edit(_LINK, " FOR UPDATE OF project", ""),),
        (
            f"{_WRITING}::test_a_write_waits_for_another_of_its_project_only_and_says_that_it_was_busy",
            f"{_WRITING}::test_numbers_of_many_writers_have_no_gap_and_follow_the_order_of_commits",
        ),
    ),
    Plant(
        "a commit whose answer is lost counts as nothing",
        "P5",
        (Edit(_LINK, "translate(error, self.where, committing=True)", "translate(error, self.where)"),),
        (f"{_WRITING}::test_a_commit_whose_answer_is_lost_is_unknown_and_the_same_key_finds_out",),
    ),
    Plant(
        "a transaction that failed inside counts as a commit",
        "P1",
        (Edit(_LINK, 'if done != "COMMIT":', "if False:"),),
        (f"{_WRITING}::test_a_transaction_that_failed_inside_is_never_taken_for_a_commit",),
    ),
    Plant(
        "a connection that was lost meanwhile is a caller's concern",
        "P12",
        (Edit(_LINK, "for is_last in (self._db is None, True):", "for is_last in (True,):"),),
        (f"{_WRITING}::test_what_was_lost_between_two_calls_is_no_callers_concern",),
    ),
    Plant(
        "a read takes as long as it likes",
        "P16",
        (Edit(_LINK, "int((limit_s or 0) * 1000)", "0"),),
        (f"{_WRITING}::test_a_read_that_takes_too_long_is_stopped",),
    ),
    Plant(
        "what a newer pinfold brought up is written",
        "P15",
        (Edit("store/sqlite/connection.py", "if version > SCHEMA_VERSION:", "if False:"),),
        (f"{_OPENING}::test_a_store_of_a_newer_pinfold_is_read_and_not_written",),
    ),
    Plant(
        "nobody waits while another makes the tables",
        "P12",
        (Edit("store/postgres/opening.py", 'f"SELECT pg_advisory_xact_lock({_LOCK})"', '"SELECT 1"'),),
        (f"{_OPENING}::test_many_processes_that_begin_at_once_make_one_schema_and_one_project",),
    ),
    Plant(
        "the index of words is not verified",
        "P10",
        (
            Edit(
                "store/postgres/verifying.py",
                "            if digest != stored[name]:",
                "            if False:",
            ),
        ),
        (f"{_CARE}::test_verify_names_what_was_changed_past_the_store",),
    ),
    Plant(
        "a scrub writes no table anew",
        "P38",
        (
            Edit(
                "store/postgres/scrubbing.py", "VACUUM (FULL, ANALYZE, VERBOSE)", "VACUUM (ANALYZE, VERBOSE)"
            ),
        ),
        (f"{_CARE}::test_after_a_scrub_no_page_of_a_table_holds_what_was_forgotten",),
    ),
    Plant(
        "a scrub does not heed who still sees what went",
        "P38",
        (Edit("store/postgres/scrubbing.py", "return not any(kept)", "return True"),),
        (f"{_CARE}::test_a_scrub_is_owed_as_long_as_somebody_may_still_see_what_went",),
    ),
)
