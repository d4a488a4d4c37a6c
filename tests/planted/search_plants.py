"""Planted faults in finding: what misses teach, what reads the same, what is bounded, what lifts an entry."""

from __future__ import annotations

from tests.planted.planting import Edit, Plant

_MISSES = "tests/contract/test_misses.py"
_REPEATS = "tests/contract/test_repeats.py"
_BOUNDS = "tests/unit/test_search_bounds.py"
_RANKING = "tests/unit/test_ranking.py"
_PAGES = "tests/unit/test_search_pages.py"
_MIDDLES = "tests/store/test_middles.py"
_TIERS = "tests/unit/test_search_tiers.py"
_SEARCH = "store/sql/search"


def _plant(name: str, file: str, old: str, new: str, test: str) -> Plant:
    return Plant(name, "P32", (Edit(file, old, new),), (test,))


_LEARNED = (
    _plant(
        "nothing is learned from a miss",
        f"{_SEARCH}/__init__.py",
        "    if lessons:",
        "    if False:",
        f"{_MISSES}::test_the_same_miss_does_not_happen_twice",
    ),
    _plant(
        "any shared word is the same miss",
        "store/aliases.py",
        "ALIKE = 2 / 3",
        "ALIKE = 0.01",
        f"{_MISSES}::test_a_query_that_shares_a_word_with_a_miss_is_not_answered_by_it",
    ),
    _plant(
        "what was learned goes before what is right",
        f"{_SEARCH}/learned.py",
        "    first = max(len(full), int(ranking.covered >= _HELD))",
        "    first = 0",
        f"{_MISSES}::test_what_was_learned_never_goes_before_a_full_match_and_is_on_the_first_page",
    ),
    _plant(
        "an alias outlives the forgotten",
        "store/sql/forgetting/erasing.py",
        "        drop_answer(tx.db, one.seq)",
        "        pass",
        f"{_MISSES}::test_forgetting_either_side_forgets_the_alias",
    ),
)

_SHOWN = (
    _plant(
        "times of day make two hits of one",
        f"{_SEARCH}/page.py",
        '_TIME.sub("", fold(hit.snippet))',
        "fold(hit.snippet)",
        f"{_REPEATS}::test_what_reads_the_same_is_named_under_its_first_hit",
    ),
    _plant(
        "what repeats an earlier page is dropped",
        f"{_SEARCH}/page.py",
        "            self.repeats.append(hit)",
        "            pass",
        f"{_REPEATS}::test_whatever_the_pages_each_match_is_a_hit_or_named_as_like_one",
    ),
    _plant(
        "the first line counts like any other",
        f"{_SEARCH}/score.py",
        "_HEAD = 0.5",
        "_HEAD = 0.0",
        f"{_RANKING}::test_words_in_the_first_line_count_more_than_further_down",
    ),
    _plant(
        "words apart count like words side by side",
        f"{_SEARCH}/score.py",
        "_SIDE_BY_SIDE = 1.0",
        "_SIDE_BY_SIDE = 0.0",
        f"{_RANKING}::test_words_side_by_side_as_they_were_asked_count_more_than_apart",
    ),
    _plant(
        "what else a conversation says counts for nothing",
        f"{_SEARCH}/surroundings.py",
        "_CONVERSATION = 0.6",
        "_CONVERSATION = 0.0",
        f"{_RANKING}::test_an_entry_gains_by_what_else_its_conversation_says_however_far_away",
    ),
    _plant(
        "a conversation gains by its length",
        f"{_SEARCH}/surroundings.py",
        "min(count, _COUNTED)",
        "count",
        f"{_RANKING}::test_a_conversation_does_not_gain_by_saying_a_word_over_and_over",
    ),
    _plant(
        "a pin is lifted by messages whose numbers are next to its own",
        f"{_SEARCH}/surroundings.py",
        "        return other in talk and entry in talk and ",
        "        return entry in self.conversation and other in self.conversation and ",
        f"{_RANKING}::test_a_pin_gains_nothing_by_its_number_between_messages",
    ),
    _plant(
        "a word in half of the entries is worth nothing",
        f"{_SEARCH}/score.py",
        "found[entry] + (K1 + 1) * lost.worth(lost.of(entry)) / damping",
        "found[entry]",
        f"{_RANKING}::test_a_name_in_most_entries_still_tells_one_entry_from_another",
    ),
    _plant(
        "of a phrase that stands nowhere nothing is found",
        f"{_SEARCH}/__init__.py",
        "    unquoted = query.has_phrases and not ranking.tiers",
        "    unquoted = False",
        "tests/unit/test_search_sql.py"
        "::test_of_a_quoted_phrase_that_stands_nowhere_the_words_are_found_and_that_is_said",
    ),
)

_BOUNDED = (
    _plant(
        "common words are looked for everywhere",
        f"{_SEARCH}/reach.py",
        "if min(counts, default=0) <= PROBE or steps <= WORK:",
        "if True:",
        f"{_BOUNDS}::test_common_words_are_looked_for_among_the_newest_entries_and_that_is_said",
    ),
    _plant(
        "a filter is looked through to the beginning",
        f"{_SEARCH}/reach.py",
        "    index = whole.of_any_time_and_path",
        "    index = whole",
        f"{_BOUNDS}::test_what_a_filter_leaves_out_is_not_looked_through_to_the_beginning",
    ),
    _plant(
        "a rare word outside of the filter hides what is within it",
        f"{_SEARCH}/reach.py",
        "        if index.newest(probe.expression, 1):",
        "        if True:",
        f"{_BOUNDS}::test_a_word_that_stands_within_the_filter_is_found_though_rarer_ones_do_not",
    ),
    _plant(
        "of common words the oldest entries count",
        f"{_SEARCH}/score.py",
        "    return {entry: scores[entry] for entry in _first(scores, DEPTH)}",
        "    return {entry: scores[entry] for entry in list(scores)[:DEPTH]}",
        f"{_RANKING}::test_of_common_words_too_the_best_entries_are_those_whose_neighbours_count",
    ),
    _plant(
        "long texts make a page forget what was shown",
        f"{_SEARCH}/page.py",
        "                self._pieces[self._present(row)[0].pointer] += 1",
        "                pass",
        f"{_PAGES}::test_an_artifact_has_two_places_however_long_the_texts_before_it",
    ),
    _plant(
        "a page reads all texts, however long",
        f"{_SEARCH}/page.py",
        "            if self._chars > READ_CHARS:\n                return True",
        "            if False:\n                return True",
        f"{_BOUNDS}::test_the_first_page_ends_early_when_texts_are_long_and_the_next_ones_show_the_rest",
    ),
    _plant(
        "a letter that the index leaves out is an error",
        "store/query.py",
        "(mark := next(filter(str.isalnum, clean), None))",
        "(mark := None)",
        "tests/server/test_search_any_text.py::test_each_letter_and_digit_of_unicode_is_something_to_look_for",
    ),
    _plant(
        "what was not looked at is not said",
        "tools/search_history.py",
        "    if not page.hits and page.bounded:",
        "    if False:",
        "tests/tools/test_search.py::test_a_search_that_did_not_look_at_old_entries_says_so",
    ),
)

_MIDDLE = (
    _plant(
        "what lies between the ends of a large artifact is not looked through",
        f"{_SEARCH}/__init__.py",
        "if asked.cursor or ranking.is_complete else look_between_ends(index, query)",
        "if True else look_between_ends(index, query)",
        "tests/contract/test_artifacts.py::"
        "test_an_output_too_large_for_the_index_is_looked_through_where_nothing_else_holds_all_words",
    ),
    _plant(
        "large artifacts are looked through however long it takes",
        f"{_SEARCH}/middles.py",
        "    until = time.monotonic() + LOOK_S",
        "    until = time.monotonic() + 60",
        f"{_MIDDLES}::test_when_the_time_is_over_it_is_said_what_was_not_looked_through",
    ),
    _plant(
        "damage in a large artifact fails each search that looks through it",
        f"{_SEARCH}/middles.py",
        "    with suppress(DamagedError):",
        "    with suppress(TimeoutError):",
        f"{_MIDDLES}::test_a_damaged_chunk_there_leaves_what_stands_before_it_and_is_said",
    ),
    _plant(
        "a damaged piece fails each search for parts of words",
        f"{_SEARCH}/scan.py",
        "    except DamagedError:",
        "    except TimeoutError:",
        f"{_MIDDLES}::test_a_damaged_piece_in_the_index_keeps_no_search_from_what_is_around_it",
    ),
)

_ASKED_ONCE = (
    _plant(
        "the newest of what is common is looked for everywhere",
        f"{_SEARCH}/index.py",
        "_TRIES = 2",
        "_TRIES = 0",
        f"{_TIERS}::test_the_newest_matches_are_found_in_near_windows_where_they_lie_densely",
    ),
    _plant(
        "what the nearest window holds is taken for all",
        f"{_SEARCH}/index.py",
        "            if len(found) >= least:",
        "            if found:",
        f"{_TIERS}::test_the_newest_matches_are_found_in_near_windows_where_they_lie_densely",
    ),
    _plant(
        "a phrase is not looked for in all that holds its words",
        f"{_SEARCH}/score.py",
        "set(with_all).intersection(*(entries for _, entries in pairs))",
        "set(ids[:1]).intersection(*(entries for _, entries in pairs))",
        f"{_TIERS}::test_tiers_are_those_that_the_texts_tell",
    ),
)

FINDING = (*_LEARNED, *_SHOWN, *_BOUNDED, *_MIDDLE, *_ASKED_ONCE)
