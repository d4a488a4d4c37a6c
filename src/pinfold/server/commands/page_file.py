"""Where a page for a browser is written, and the options that ask for one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import click

from pinfold.server.commands.tables import Report
from pinfold.server.options import settings_of
from pinfold.store.errors import InvalidInputError


def with_page(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--html FILE` and `--force`; the command gets `page` and `overwrite`."""
    command = click.option("--force", "overwrite", is_flag=True, help="Overwrite the page's file.")(command)
    path = click.Path(dir_okay=False, path_type=Path)
    told = "Also write a page with plots to FILE: one file that loads nothing."
    return click.option("--html", "page", type=path, metavar="FILE", help=told)(command)


@contextmanager
def page_file(page: Path | None, transcript: Path, *, overwrite: bool) -> Iterator[IO[str] | None]:
    """Yield what to write the page to, None where none is asked for. It is there when it is whole, or not at all.

    Raises at once for the transcript itself, for a file that is there already, and what else a destination does.
    """
    if page is None:
        yield None
        return
    if page.exists() and transcript.exists() and os.path.samefile(page, transcript):
        raise InvalidInputError(
            f"{page} is the transcript itself; nothing was written.", "Name another file."
        )
    from pinfold.server.commands.among_stores import keep_out_of_stores
    from pinfold.server.export.destination import destination

    keep_out_of_stores(settings_of(None), page)
    with destination(page, overwrite=overwrite) as file:
        yield file


def told_of(report: Report, page: Path | None) -> Report:
    """Return a report that says where the page is, if there is one."""
    if page is None:
        return report
    facts, remark = {**report.facts, "page": str(page)}, f"{report.remark}\nPage: {page}"
    return replace(report, facts=facts, remark=remark)
