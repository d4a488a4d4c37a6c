"""`pinfold run`: start the command at once, take what it prints, and end as it did.

Whatever is wrong with us (settings, store, disk) costs the command neither its output nor its status: then everything
is printed unchanged, with one line on stderr that says why. Modules that only a long output needs load when it is one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from pinfold.server.run.child import Child, NotStartedError, Relay, leave_like, start
from pinfold.server.standard_streams import fill_gaps

if TYPE_CHECKING:
    from pinfold.server.run.output import Output

_STDOUT, _STDERR = 1, 2


def run_command(command: Sequence[str], label: str, tokens: int) -> NoReturn:
    """Run a command and end the process as the command ended.

    `label` names the artifact (default: the command line), `tokens` is from when on output is long.
    """
    fill_gaps()
    relay = Relay()
    try:
        child = start(command, together=os.path.sameopenfile(_STDOUT, _STDERR))
    except NotStartedError as error:
        from pinfold.server.notes import note

        note(str(error))
        sys.exit(error.status)
    relay.attach(child)
    from pinfold.server.run.spill import Spill  # while the command is already running

    spill = Spill(lambda: _legible(label or _spelled(command)), tokens)
    status = _follow(child, relay, spill.output)
    spill.finish(status)
    leave_like(status)


def _spelled(command: Sequence[str]) -> str:
    import shlex

    return shlex.join(command)


def _legible(label: str) -> str:
    return os.fsencode(label).decode("utf-8", "replace")


def _follow(child: Child, relay: Relay, output: Output) -> int:
    """Take everything the command prints; return its status once it has ended."""
    from pinfold.server.run.pump import Pump

    ended, ending = os.pipe()
    pipes = ((child.stdout, _STDOUT), (child.stderr, _STDERR))
    pumps = [Pump(source, target, output, ended) for source, target in pipes if source is not None]
    for pump in pumps:
        pump.start()
    status = relay.see_out()
    os.close(ending)
    for pump in pumps:
        pump.finish()
    return status
