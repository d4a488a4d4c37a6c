"""How `pinfold run` ends: by signals, by a reader that went away, with a pipe left open, with a store in trouble."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from tests.server.peer import PATIENCE_S
from tests.server.runs import RUN, Workplace, in_python

if sys.platform == "win32":
    pytest.skip("signals and terminals of POSIX", allow_module_level=True)

import resource

LISTENER = """
import os, signal, sys
told = int(os.environ.get("TOLD", 1))
def hear(number, frame):
    os.write(told, signal.Signals(number).name.encode() + b"\\n")
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), hear)
os.write(told, b"ready\\n")
sys.stdin.buffer.read()
sys.exit(5)
"""
"""Says which signals it hears, until its stdin ends, on its stdout or the descriptor `TOLD`."""

_TAKE_IT = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
ON_A_TERMINAL = (sys.executable, "-c", _TAKE_IT)
"""Makes its stdin the controlling terminal and becomes the command."""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def _line(run: subprocess.Popen[bytes]) -> bytes:
    assert run.stdout is not None
    return run.stdout.readline()


@contextmanager
def _terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = os.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def _read_until(fd: int, wanted: bytes) -> bytes:
    """Read from a terminal until it has shown what is wanted."""
    shown = b""
    while wanted not in shown:
        assert select.select([fd], [], [], PATIENCE_S)[0], shown
        shown += os.read(fd, 4096)
    return shown


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"])
def test_a_signal_sent_to_us_reaches_the_command_which_decides(place: Workplace, name: str) -> None:
    with place.running(*in_python(LISTENER, name)) as run:
        assert _line(run) == b"ready\n"
        for _ in range(2):
            run.send_signal(getattr(signal, name))
            assert _line(run) == f"{name}\n".encode()
        assert run.communicate(timeout=PATIENCE_S) == (b"", b"")
        assert run.returncode == 5


def test_a_command_ended_by_the_signal_we_got_leaves_its_output_stored(place: Workplace) -> None:
    script = "import os\nwhile True: os.write(1, b'y\\n' * 3000)"
    with place.running(
        "--tokens=100", *in_python(script), env=place.environment(PINFOLD_MAX_ARTIFACT_BYTES="200000")
    ) as run:
        assert _line(run) == b"y\n"
        run.terminate()
        told = run.communicate(timeout=PATIENCE_S)[0].decode()
        assert run.returncode == -signal.SIGTERM
    assert "[pinfold] Ended by signal 15. Read on with" in told
    stored = place.artifacts()[0][1]
    assert len(stored) >= 2_000
    assert stored == b"y\n" * (len(stored) // 2)


def test_an_ignored_hangup_stays_ignored(place: Workplace) -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *RUN, "--", "sh", "-c", "echo ready; read end"]
    with subprocess.Popen(
        command, env=place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as run:
        assert _line(run) == b"ready\n"
        run.send_signal(signal.SIGHUP)
        run.communicate(b"end\n", PATIENCE_S)
        assert run.returncode == 0


def test_the_status_is_not_lost_where_ended_children_are_ignored(place: Workplace) -> None:
    done = subprocess.run(
        [*RUN, "--", "sh", "-c", "exit 7"],
        env=place.environment(),
        timeout=PATIENCE_S,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert done.returncode == 7


def test_ctrl_c_at_a_terminal_reaches_the_command_once_each_time(place: Workplace) -> None:
    reader, writer = os.pipe()
    with _terminal() as (ours, theirs), open(reader, "rb", buffering=0) as told:
        variables = place.environment(TOLD=str(writer))
        command = in_python(LISTENER, "SIGINT", "SIGTERM")
        with place.running(
            *command, before=ON_A_TERMINAL, stdin=theirs, env=variables, pass_fds=[writer]
        ) as run:
            os.close(writer)
            assert told.readline() == b"ready\n"
            for _ in range(2):
                run.send_signal(signal.SIGSTOP)  # two signals at once would look like one
                assert os.WIFSTOPPED(os.waitpid(run.pid, os.WUNTRACED)[1])
                os.write(ours, b"\x03")
                assert told.readline() == b"SIGINT\n"
                run.send_signal(signal.SIGTERM)
                run.send_signal(signal.SIGCONT)
                assert told.readline() == b"SIGTERM\n"
            os.write(ours, b"\x04")
            assert run.wait(PATIENCE_S) == 5


def test_ctrl_c_ends_us_with_a_command_that_ends(place: Workplace) -> None:
    with _terminal() as (ours, theirs):
        command = ("--", "sh", "-c", "echo ready; read end")
        with place.running(*command, before=ON_A_TERMINAL, stdin=theirs) as run:
            assert _line(run) == b"ready\n"
            os.write(ours, b"\x03")
            assert run.wait(PATIENCE_S) == -signal.SIGINT


def test_on_a_terminal_it_says_how_much_has_come_and_takes_that_away(place: Workplace) -> None:
    with _terminal() as (ours, theirs):
        script = "printf '%3000d\\n' 1 2 3; read end"
        with place.running("--", "sh", "-c", script, stderr=theirs) as run:
            shown = _read_until(ours, b" so far")
            assert re.fullmatch(rb"\r\x1b\[Kpinfold: (6|9)\.0 KB so far", shown)
            assert run.communicate(b"end\n", PATIENCE_S)[0].count(b"\n") == 3
            assert _read_until(ours, b"\x1b[K").endswith(b"\r\x1b[K")


def test_a_reader_that_goes_away_ends_an_endless_command_as_without_us(place: Workplace) -> None:
    tombstone, held = os.pipe()
    with place.running("--", "yes", pass_fds=[held]) as run:
        os.close(held)
        assert _line(run) == b"y\n"
        assert run.stdout is not None
        run.stdout.close()
        assert run.wait(PATIENCE_S) == -signal.SIGPIPE
        assert select.select([tombstone], [], [], PATIENCE_S)[0], "something still runs"
    os.close(tombstone)
    assert place.artifacts() == []


def test_a_reader_of_stdout_that_goes_away_leaves_stderr_as_it_was(place: Workplace) -> None:
    script = (
        "import os, sys\n"
        "os.write(1, b'first\\n')\n"
        "sys.stdin.read()\n"
        "try:\n"
        "    while True: os.write(1, b'more\\n' * 1000)\n"
        "except BrokenPipeError: os.write(2, b'nobody reads\\n'); sys.exit(4)\n"
    )
    with place.running(*in_python(script)) as run:
        assert _line(run) == b"first\n"
        assert run.stdout is not None
        assert run.stdin is not None
        assert run.stderr is not None
        run.stdout.close()
        run.stdin.close()
        assert run.stderr.read() == b"nobody reads\n"
        assert run.wait(PATIENCE_S) == 4


def test_what_the_command_leaves_running_with_the_pipe_does_not_hold_us(place: Workplace) -> None:
    script = (
        "import os, subprocess, sys\n"
        "left = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n"
        "print(left.pid, flush=True)\n"
    )
    quiet, loud = (
        place.run(*in_python(script, *left), PINFOLD_MAX_ARTIFACT_BYTES="200000")
        for left in (("sleep", "600"), ("yes",))
    )
    assert (quiet.returncode, loud.returncode) == (0, 0)
    os.kill(int(quiet.stdout), signal.SIGKILL)
    assert loud.stdout.split(b"\n")[1] == b"y"  # which ends by itself, having no reader any more


def test_a_store_that_cannot_be_opened_costs_no_output(place: Workplace) -> None:
    place.home.write_text("a file where a folder should be")
    printed = b"".join(b"%d bottles\n" % n for n in range(20_000))
    done = place.run("--", "sh", "-c", "cat; exit 3", given=printed)
    assert (done.returncode, done.stdout) == (3, printed)
    assert re.fullmatch(rb"pinfold: the output is not kept: [^\n]+\n", done.stderr)


def test_settings_that_cannot_be_used_cost_no_output(place: Workplace) -> None:
    printed = b"".join(b"%d bottles\n" % n for n in range(20_000))
    done = place.run("--", "cat", given=printed, PINFOLD_MAX_ARTIFACT_BYTES="much")
    assert (done.returncode, done.stdout) == (0, printed)
    assert done.stderr.startswith(
        b"pinfold: the output is not kept: PINFOLD_MAX_ARTIFACT_BYTES is not a number"
    )


def _no_file_over(limit_bytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))


def test_a_store_without_room_for_it_costs_no_output(place: Workplace) -> None:
    printed = b"".join(sha256(b"%d" % n).hexdigest().encode() + b"\n" for n in range(6_000))
    room = len(printed) + 50_000  # for what is held back, not for a database with its index
    with place.running("--", "cat", preexec_fn=_no_file_over(room)) as run:
        shown, told = run.communicate(printed, PATIENCE_S)
        assert shown == printed
        assert re.fullmatch(rb"pinfold: the output is not kept: [^\n]+ the commit failed [^\n]+\n", told)
        assert run.returncode == 0


def test_no_room_to_hold_output_back_costs_none_of_it(place: Workplace) -> None:
    printed = b"".join(b"%d bottles\n" % n for n in range(100_000))
    with place.running("--", "cat", preexec_fn=_no_file_over(500_000)) as run:
        told = b"pinfold: the output is not kept: File too large\n"
        assert run.communicate(printed, PATIENCE_S) == (printed, told)
        assert run.returncode == 0
