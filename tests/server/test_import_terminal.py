"""`pinfold import` on a real terminal: a bar, and Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

from tests.server.histories import Place
from tests.server.peer import PATIENCE_S, environment
from tests.server.terminals import all_of
from tests.server.test_follow_at_once import talk_of, the_log_of_one_reading, wait_for_events
from tests.server.written import transcript

INTERRUPT = b"\x03"


def test_a_bar_shows_how_far_it_is_and_an_interrupt_keeps_what_was_read(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.store().close()
    path = transcript(place.folder, talk_of(300))
    shown, status = _on_a_terminal(place, path, interrupt_at=400)
    assert status == 130
    assert "interrupted; what was read is kept, and the same command goes on behind it." in shown
    cut = len(place.events())
    shown, status = _on_a_terminal(place, path)
    assert status == 0
    assert "import" in shown
    assert "100%" in shown
    expected = the_log_of_one_reading(tmp_path, path).events()
    assert 400 <= cut < len(expected)
    assert place.events() == expected


def _on_a_terminal(place: Place, path: Path, interrupt_at: int | None = None) -> tuple[str, int]:
    """Import at a terminal; send Ctrl-C once the log has that many events. Return what was shown, and the status."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        place.command("import", path),
        env=environment(**place.variables) | {"TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_the_terminal,  # noqa: PLW1509 - no thread of this test does anything meanwhile
    ) as child:
        os.close(theirs)
        if interrupt_at is not None:
            wait_for_events(place, child, interrupt_at)
            os.write(ours, INTERRUPT)
        shown = all_of(ours)
        status = child.wait(PATIENCE_S)
    return shown.decode(), status


def _take_the_terminal() -> None:
    """Make the terminal the child's own, so that it gets what is typed there as signals."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
