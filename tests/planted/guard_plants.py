"""Protections against abuse (paths, secrets, hostile text, others' files, the wire), switched off in turn."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_GUARDED = (
    Plant(
        "a path is compared by its text",
        "P22",
        (
            Edit(
                "tools/files.py",
                "        located = self._below(given) if given.is_absolute() else None",
                "        hits = [r for r in self.usable if path.startswith(str(r))]\n"
                "        located = (hits[0], len(hits[0].parts)) if hits else None",
            ),
        ),
        (
            "tests/faults/test_path_zoo.py::"
            "test_absolute_path_outside_is_refused_even_where_its_text_begins_like_a_root",
        ),
    ),
    Plant(
        "a link is followed",
        "P22",
        (
            Edit(
                "tools/files.py",
                "        found = os.stat(name, dir_fd=place, follow_symlinks=False)\n"
                "        _check_kind(here, found, wanted)\n"
                "        return os.open(name, flags, dir_fd=place)",
                "        return os.open(name, flags & ~os.O_NOFOLLOW, dir_fd=place)",
            ),
        ),
        ("tests/faults/test_path_zoo.py::test_directory_behind_a_link_is_refused",),
    ),
    Plant(
        "nothing is redacted",
        "P24",
        (
            Edit(
                "store/sql/transaction.py",
                "        text = self._redactor.text(drafted).text",
                "        text = drafted",
            ),
        ),
        (
            "tests/server/test_follow_keeping.py::test_secrets_are_replaced_wherever_they_stand_and_however_a_text_is_cut",
        ),
    ),
    Plant(
        "a command is not looked through",
        "P24",
        (Edit("store/cleaning.py", "if redactor.is_plain(texts_in(asked)):", "if asked is not None:"),),
        ("tests/store/test_cleaning.py::test_every_text_of_every_kind_of_command_loses_its_secret",),
    ),
    Plant(
        "a command's texts are looked through as one word",
        "P24",
        (Edit("store/redaction.py", '_BETWEEN = "\\0"', '_BETWEEN = ""'),),
        ("tests/store/test_cleaning.py::test_one_secret_among_plain_texts_is_seen_wherever_they_end",),
    ),
    Plant(
        "a print reaches the wire",
        "P19",
        (Edit("server/standard_streams.py", "    _move(os.dup(2), 1)\n", ""),),
        ("tests/server/test_stdio.py::test_noise_goes_to_stderr_and_the_wire_stays_clean",),
    ),
    Plant(
        "text as it is on the wire",
        "P19",
        (
            Edit(
                "server/messages.py",
                "ensure_ascii=True, allow_nan=False",
                "ensure_ascii=False, allow_nan=False",
            ),
        ),
        (
            "tests/server/test_stdio.py::test_line_separators_in_a_result_arrive_escaped_and_unchanged",
            "tests/server/test_wire_lines.py::test_written_line_is_ascii_ends_once_and_reads_back_the_same",
        ),
    ),
)

_CLIENTS = "tests/faults/test_secrets_from_clients.py"
_POISON = "tests/faults/test_poisoned_memory.py"
_LEAK = f"{_CLIENTS}::test_a_secret_that_a_client_tells_is_in_no_byte_that_was_written"
_PLANTED_FILES = (
    "tests/faults/test_permissions.py::test_what_others_could_have_planted_is_refused_and_left_alone"
)

_ABUSE = (
    Plant(
        "names are kept as they come",
        "P24",
        (Edit("store/cleaning.py", "else redactor.text(value).text", "else value"),),
        (_LEAK,),
    ),
    Plant(
        "a project is named by whatever its folder holds",
        "P24",
        (
            Edit(
                "server/project.py",
                "    return Redactor(os.fsencode(place)).text(legible).text",
                "    return legible",
            ),
        ),
        (_LEAK,),
    ),
    Plant(
        "names are looked up as they come",
        "P24",
        (Edit("store/sql/appending.py", "(tx.clean(name), whose)", "(name, whose)"),),
        (f"{_CLIENTS}::test_what_is_named_after_a_secret_is_known_again_by_that_name",),
    ),
    Plant(
        "links in a store's folder are followed",
        "P25",
        (
            Edit(
                "store/sqlite/ownership.py",
                "    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:",
                "    if False:",
            ),
        ),
        (_PLANTED_FILES,),
    ),
    Plant(
        "anyone may write into a store's folder",
        "P25",
        (Edit("store/sqlite/ownership.py", "if folder.st_mode & stat.S_IWOTH and", "if False and"),),
        (_PLANTED_FILES,),
    ),
    Plant(
        "a log ahead that was removed is written to",
        "P1",
        (Edit("store/sqlite/pen.py", "self._files |= {path:", "_ = {path:"),),
        (
            "tests/faults/test_damage_at_the_doors.py::test_nothing_is_acknowledged_into_a_log_ahead_that_was_removed",
        ),
    ),
    Plant(
        "a fence that anybody can make",
        "P23",
        (
            Edit(
                "store/fences.py",
                "    return digest.hexdigest()[:FENCE_DIGITS]",
                '    return "0" * FENCE_DIGITS',
            ),
        ),
        (f"{_POISON}::test_nothing_that_was_stored_stands_outside_of_its_fence",),
    ),
    Plant(
        "the brief repeats its own mark",
        "P23",
        (
            Edit(
                "context/brief.py",
                'return visible(text).replace(token, f"{token[:half]}-{token[half:]}")',
                "return visible(text)",
            ),
        ),
        (f"{_POISON}::test_nothing_that_was_stored_stands_outside_of_its_fence",),
    ),
    Plant(
        "a terminal gets what was stored",
        "P23",
        (Edit("server/commands/tables.py", "    return visible(text).replace(", "    return text.replace("),),
        (f"{_POISON}::test_a_persons_terminal_is_steered_by_nothing_that_was_stored",),
    ),
    Plant(
        "the log quotes an error",
        "P26",
        (Edit("server/notes.py", "{type(error).__name__}, last", "{error!r}, last"),),
        (
            "tests/faults/test_silent_log.py::test_a_bug_is_told_by_its_kind_and_place_and_not_by_what_it_was_about",
        ),
    ),
)

GUARDS = (*_GUARDED, *_ABUSE)
