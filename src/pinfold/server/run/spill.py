"""What becomes of a command's output: printed if it is short or in any trouble, behind a pointer if it is long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from pinfold.server.run.kept import Kept
from pinfold.server.run.output import Output, surely_long_bytes
from pinfold.store.errors import PinfoldError


class Spill:
    """Loads and checks what storing needs while the command still runs, once its output is certainly long.

    `label` is asked for only then.
    """

    def __init__(self, label: Callable[[], str], tokens: int) -> None:
        self.output = Output(Kept(surely_long_bytes(tokens)), tokens, self._prepare)
        self._label = label
        self._tokens = tokens
        self._opening: threading.Thread | None = None
        self._is_new = False

    def finish(self, status: int) -> None:
        """Print what was held back, or store everything and print a report; `status` is the command's."""
        if self._opening:
            self._opening.join()
        if self.output.passes:
            return
        try:
            is_spilled = self.output.has_reader() and self.output.is_long()
            report = self._report(status) if is_spilled else None
        except Exception as error:
            self._give_up(error)
        else:
            self.output.finish(report)

    def _prepare(self) -> None:
        from pinfold.server.settings import read_settings

        try:
            self.output.kept.raise_limit(read_settings().max_artifact_bytes)
        except Exception as error:
            self._give_up(error)
        else:
            self._opening = threading.Thread(target=self._open, name="pinfold-run-opening", daemon=True)
            self._opening.start()

    def _open(self) -> None:
        try:
            import anyio

            from pinfold.server.run.storing import prepare
            from pinfold.server.settings import read_settings

            self._is_new = anyio.run(prepare, read_settings())
        except Exception as error:
            self._give_up(error)

    def _report(self, status: int) -> str:
        import anyio

        from pinfold.server.run.report import Seen, report
        from pinfold.server.run.storing import keep
        from pinfold.server.settings import read_settings

        self.output.kept.settle()
        storing = partial(keep, read_settings(), self.output.kept, self._label(), is_new=self._is_new)
        stored = anyio.run(storing)
        return report(stored, Seen(self.output.shown_bytes, self.output.shown_lines, self._tokens), status)

    def _give_up(self, error: Exception) -> None:
        why = str(error) if isinstance(error, PinfoldError) else type(error).__name__
        self.output.pass_on(f"the output is not kept: {why}")
