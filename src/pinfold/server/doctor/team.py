"""Whether the team's server takes this machine in, and what waits to be sent there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pinfold.context.visible import counted
from pinfold.server.settings import Settings
from pinfold.server.team import TeamProject, team_project_of
from pinfold.store.errors import InvalidInputError, PinfoldError
from pinfold.store.findings import Finding, bad, ok, privacy, tree, warn
from pinfold.store.remote.link import Patience

_PATIENCE = Patience(connect_s=3.0, silence_s=5.0, whole_s=8.0)
_SERVER = "team's server"


def team(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield how the server that the settings name stands, seen from here."""
    try:
        project = team_project_of(settings, environment)
    except InvalidInputError as error:
        yield bad(_SERVER, error.message, error.hint)
        return
    yield _reached(project)
    yield _outbox(project)
    yield privacy("team's folder", tree(project.folder))


def _reached(project: TeamProject) -> Finding:
    store = project.open(_PATIENCE)
    store.close()
    trouble: PinfoldError | None = store.trouble
    if trouble is not None:
        return bad(_SERVER, trouble.message, trouble.hint)
    return ok(_SERVER, f"{project.address}: project {store.project}")


def _outbox(project: TeamProject) -> Finding:
    waiting = project.outbox.waiting()
    if not waiting:
        return ok("outbox", "nothing waits to be sent")
    refused = sum(each.is_refused for each in waiting)
    found = f"{counted(len(waiting), 'thing')} to be sent, {refused} of them refused by the server"
    return warn("outbox", found, "Look with `pinfold outbox`; --send sends it.")
