"""A report and its three forms: a table for a terminal, lines for a pipe, an object for a program."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pinfold.context.visible import visible
from pinfold.server.terminals import is_terminal

if TYPE_CHECKING:
    from rich.console import Console

_LEAST_COLUMN = 10
"""Cells per column below which a table cannot be read any more."""


@dataclass(frozen=True, slots=True)
class Report:
    """`facts` are all there is, for `--json`; `rows` hold the same as shown, each as many cells as `columns`, which
    may be empty where the rows speak for themselves.

    `remark` says what the rows do not, e.g. how many more there are; in a pipe it goes to stderr.
    """

    facts: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str = ""


def tell(report: Report, *, as_json: bool) -> None:
    """Print a report in the form that its reader needs."""
    tolerate_encoding()
    if as_json:
        click.echo(json.dumps(report.facts))
    elif is_terminal(sys.stdout):
        _show(report)
    else:
        for row in report.rows:
            click.echo("\t".join(map(flat, row)))
        if report.remark:
            click.echo(report.remark, err=True)


def tolerate_encoding() -> None:
    """Let characters that the terminal's encoding lacks be spelled out instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flat(text: str) -> str:
    """Return stored text as one cell of a line."""
    return visible(text).replace("\r\n", "\\r\\n").replace("\n", "\\n").replace("\t", "\\t")


def _show(report: Report) -> None:
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    used = [place for place in range(len(report.columns)) if any(row[place] for row in report.rows)]
    if used and console.width >= _LEAST_COLUMN * len(used):
        _table(console, report, used)
    else:
        _list(console, report)
    if report.remark:
        console.print(visible(report.remark), overflow="fold")


def _list(console: Console, report: Report) -> None:
    """Print a line per cell, for a terminal that is too narrow for a table."""
    for row in report.rows:
        named = (
            f"{column}: {visible(cell)}" if column else visible(cell)
            for column, cell in zip(report.columns, row, strict=True)
            if cell
        )
        console.print("\n".join(named), end="\n\n", overflow="fold")


def _table(console: Console, report: Report, used: list[int]) -> None:
    """Print the columns that hold something; texts go on in further lines of their cell."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(report.columns))
    for place in used:
        table.add_column(Text(report.columns[place]), overflow="fold")
    for row in report.rows:
        table.add_row(*(Text(visible(row[place])) for place in used))
    console.print(table)
