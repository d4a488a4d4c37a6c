"""The help of a command that lists names the columns of its pipe: as many, in their order."""

from __future__ import annotations

import re

import click
import pytest

from pinfold.server.commands import backup_report, finding, folds, listings, reads
from pinfold.server.commands.backups import backup
from pinfold.server.commands.forgetting import forget


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        (reads.pins, listings._PINS.columns),
        (reads.misses, listings._MISSES.columns),
        (reads.search, finding._HIT_COLUMNS),
        (reads.recall, finding._RECALL_COLUMNS),
        (reads.folds, folds._COLUMNS),
        (backup, backup_report._COLUMNS),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_help_names_as_many_columns_as_a_pipe_gets(command: click.Command, columns: tuple[str, ...]) -> None:
    found = re.search(r"In a pipe:\s+(.*?);\s+parted by\s+tabs", command.help or "", re.DOTALL)
    assert found is not None
    named = found[1].replace("\n", " ").split(", ")
    assert len(named) == len(columns), (named, columns)


def test_help_of_misses_has_the_answer_where_it_is_printed() -> None:
    assert "what it gave, what answered it, time (UTC)" in " ".join((reads.misses.help or "").split())


def test_the_units_of_an_age_are_named_since_m_is_months() -> None:
    help_of = {option.name: option.help for option in forget.params if isinstance(option, click.Option)}
    assert "12h, 7d, 12w, 6m (months) or 2y" in (help_of["before"] or "")
