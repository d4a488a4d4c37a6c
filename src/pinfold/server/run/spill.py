"""What becomes of a command's output: printed if it is short or in any trouble, behind a pointer if it is long."""

from __future__ import annotations

import os
import threading

from pinfold.server.run.kept import Kept
from pinfold.server.run.output import LONG_BYTES_A_TOKEN, Output
from pinfold.server.settings import SPILL_TOKENS, read_settings
from pinfold.store.errors import PinfoldError
from pinfold.store.values import MAX_ARTIFACT_BYTES


class Spill:
    """Loads and checks what storing needs while the command still runs, once its output is certainly long."""

    def __init__(self, label: str, tokens: int | None) -> None:
        self._label = os.fsencode(label).decode("utf-8", "replace")
        self._opening = threading.Thread(target=self._open, name="pinfold-run-opening", daemon=True)
        self._tokens = tokens or SPILL_TOKENS
        try:
            settings = read_settings()
        except Exception as error:
            self.output = self._output(MAX_ARTIFACT_BYTES)
            self._give_up(error)
        else:
            self._settings = settings
            self._tokens = tokens or settings.spill_tokens
            self.output = self._output(settings.max_artifact_bytes)

    def finish(self, status: int) -> None:
        """Print what was held back, or store everything and print a report; `status` is the command's."""
        if self._opening.ident is not None:
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

    def _output(self, limit_bytes: int) -> Output:
        kept = Kept(limit_bytes, memory_bytes=LONG_BYTES_A_TOKEN * self._tokens)
        return Output(kept, self._tokens, self._opening.start)

    def _open(self) -> None:
        try:
            import anyio

            from pinfold.server.run.storing import prepare

            anyio.run(prepare, self._settings)
        except Exception as error:
            self._give_up(error)

    def _report(self, status: int) -> str:
        import anyio

        from pinfold.server.run.report import Seen, report
        from pinfold.server.run.storing import keep

        self.output.kept.settle()
        stored = anyio.run(keep, self._settings, self.output.kept, self._label)
        return report(stored, Seen(self.output.shown_bytes, self.output.shown_lines, self._tokens), status)

    def _give_up(self, error: Exception) -> None:
        why = str(error) if isinstance(error, PinfoldError) else type(error).__name__
        self.output.pass_on(f"the output is not kept: {why}")
