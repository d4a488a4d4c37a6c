"""What `pinfold doctor` prints."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from pinfold.server.commands.tables import Report
from pinfold.server.doctor.installation import installation
from pinfold.server.doctor.registrations import registrations
from pinfold.server.settings import Settings
from pinfold.server.wording import for_person
from pinfold.store.findings import Finding, ok, warn
from pinfold.store.sqlite.examination import examine, examine_engine

_COLUMNS = ("", "what", "found", "what to do")
_SHARED = "`pinfold status` says whether it can be reached, `pinfold verify` whether it is whole."


def doctor_report(settings: Settings) -> tuple[Report, bool]:
    """Return how everything stands, and whether nothing is bad."""
    findings = list(_findings(settings))
    counts = Counter(finding.state for finding in findings)
    is_well = not counts["bad"]
    facts = {"ok": is_well, "project": settings.project.name, "findings": [asdict(each) for each in findings]}
    rows = [(each.state, each.subject, each.found, for_person(each.advice)) for each in findings]
    remark = f"{counts['ok']} ok, {counts['warn']} to look at, {counts['bad']} bad"
    return Report(facts, _COLUMNS, rows, remark), is_well


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from installation(settings, os.environ)
    yield examine_engine()
    if settings.is_on_a_server:
        yield from _team(settings)
    elif settings.store is not None:  # to open it would make what is missing there
        yield warn("store", "in a database that is shared, which is not looked at here", _SHARED)
    elif settings.store_folder.exists():
        yield ok("store", str(settings.store_folder))
        yield from examine(settings.store_folder)
    else:
        yield ok("store", f"{settings.store_folder}: nothing has been kept for this project yet")
    yield from registrations(settings, os.environ)


def _team(settings: Settings) -> Iterator[Finding]:
    from pinfold.server.doctor.team import team  # with what speaks to servers

    return team(settings, os.environ)
