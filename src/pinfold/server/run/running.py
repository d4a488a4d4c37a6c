"""`pinfold run`: start the command at once, take what it prints, and end as it did.

Whatever is wrong with us (settings, store, disk) costs the command neither its output nor its status: then everything
is printed unchanged, with one line on stderr that says why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from pinfold.server.notes import note
from pinfold.server.run.child import Child, NotStartedError, Relay, leave_like, start
from pinfold.server.standard_streams import fill_gaps

if TYPE_CHECKING:
    from pinfold.server.run.spill import Spill

_STDOUT, _STDERR = 1, 2


def run_command(command: Sequence[str], label: str, tokens: int | None) -> NoReturn:
    """Run a command and end the process as the command ended.

    `label` names the artifact, `tokens` is from when on output is long (default: the settings').
    """
    fill_gaps()
    relay = Relay()
    try:
        child = start(command, together=os.path.sameopenfile(_STDOUT, _STDERR))
    except NotStartedError as error:
        note(str(error))
        sys.exit(error.status)
    relay.attach(child)
    from pinfold.server.run.spill import Spill  # while the command is already running

    spill = Spill(label, tokens)
    status = _follow(child, spill)
    relay.stop()
    spill.finish(status)
    leave_like(status)


def _follow(child: Child, spill: Spill) -> int:
    """Take everything the command prints; return its status once it has ended."""
    from pinfold.server.run.pump import Pump

    ended, ending = os.pipe()
    pipes = ((child.stdout, _STDOUT), (child.stderr, _STDERR))
    pumps = [Pump(source, target, spill.output, ended) for source, target in pipes if source is not None]
    for pump in pumps:
        pump.start()
    status = child.wait()
    os.close(ending)
    for pump in pumps:
        pump.finish()
    return status
