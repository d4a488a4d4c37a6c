"""`pinfold run` is a command's own ending and output, and a pointer where the output is long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pinfold.server.own_command import command_name
from pinfold.store.values import COMMAND_LINE, Caller
from tests.secret_samples import mixed
from tests.server.peer import PATIENCE_S
from tests.server.runs import RUN, Done, Workplace, in_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="commands and signals of POSIX")


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def _numbered(lines: int) -> bytes:
    return b"".join(b"%d bottles\n" % n for n in range(1, lines + 1))


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_it_ends_with_the_status_of_the_command(place: Workplace, status: int) -> None:
    done = place.run("--", "sh", "-c", f"exit {status}")
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_a_command_ended_by_a_signal_ends_us_by_the_same(place: Workplace, number: signal.Signals) -> None:
    assert place.run("--", "sh", "-c", f"kill -{int(number)} $$").returncode == -number


def test_what_cannot_be_started_is_told_as_a_shell_tells_it(place: Workplace) -> None:
    (place.project / "plain.txt").write_text("text")
    missing, absent, plain = (place.run("--", name) for name in ("no-such", "./no-such", "./plain.txt"))
    assert (missing.returncode, missing.stderr) == (127, b"pinfold: no-such: command not found\n")
    assert (absent.returncode, absent.stderr) == (127, b"pinfold: ./no-such: No such file or directory\n")
    assert (plain.returncode, plain.stderr) == (126, b"pinfold: ./plain.txt: Permission denied\n")


def test_without_a_command_it_is_a_usage_error(place: Workplace) -> None:
    done = place.run()
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Missing argument 'COMMAND...'" in done.stderr


def test_options_behind_the_command_are_the_commands(place: Workplace) -> None:
    assert place.run("printf", "%s,", "--label", "-h", "--", "x").stdout == b"--label,-h,--,x,"


def test_a_script_without_its_first_line_runs_as_in_a_shell(place: Workplace) -> None:
    script = place.project / "script"
    script.write_text('echo "ran with $1"; exit 3\n')
    script.chmod(0o755)
    done = place.run("--", "./script", "this")
    assert (done.returncode, done.stdout) == (3, b"ran with this\n")


def test_the_command_has_our_stdin_and_the_descriptors_we_were_given(place: Workplace) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"from the descriptor")
    os.close(writer)
    done = subprocess.run(
        [*RUN, "--", "cat", "-", f"/dev/fd/{reader}"],
        env=place.environment(),
        input=b"from stdin, ",
        capture_output=True,
        pass_fds=[reader],
        timeout=PATIENCE_S,
    )
    os.close(reader)
    assert done.stdout == b"from stdin, from the descriptor"


@pytest.mark.parametrize(
    "printed", [bytes(range(256)) * 8, "größe €".encode()[:-1], b"\x1b[31mred\x1b[0m\r50%\r100%", b"\n", b""]
)
def test_short_output_passes_unchanged_on_both_streams(place: Workplace, printed: bytes) -> None:
    script = "import os, sys; b = sys.stdin.buffer.read(); os.write(1, b); os.write(2, b[::-1])"
    done = place.run(*in_python(script), given=printed)
    assert (done.stdout, done.stderr) == (printed, printed[::-1])
    assert not place.home.exists()


def test_what_lies_between_beginning_and_threshold_is_printed_whole_at_the_end(place: Workplace) -> None:
    printed = _numbered(1_000)
    assert place.run("--", "cat", given=printed).stdout == printed
    assert not place.home.exists()


def test_held_back_output_goes_to_the_stream_it_was_meant_for(place: Workplace) -> None:
    script = "import os\nfor n in range(600): os.write(1 + n % 2, b'%d bottles\\n' % n)"
    done = place.run(*in_python(script))
    assert done.stdout == b"".join(b"%d bottles\n" % n for n in range(0, 600, 2))
    assert done.stderr == b"".join(b"%d bottles\n" % n for n in range(1, 600, 2))


def test_the_first_lines_are_shown_while_the_command_goes_on(place: Workplace) -> None:
    with place.running("--", "sh", "-c", "echo first; read answer; echo $answer") as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"first\n"
        assert run.communicate(b"second\n", PATIENCE_S) == (b"second\n", b"")


SECRET = "ghp_" + mixed(36)
BAR = b"".join(b"\r\x1b[32m%3d%%\x1b[0m of it" % n for n in range(101))


@dataclass(frozen=True)
class Told:
    """A long output as it was printed, and what became of it."""

    place: Workplace
    printed: bytes
    done: Done


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Return the outcome of a long output with colours, a progress bar and a secret, in a conversation."""
    place = Workplace(tmp_path_factory.mktemp("told"))
    error = f"\x1b[31mERROR\x1b[0m: token {SECRET} refused\n".encode()
    printed = _numbered(3_000) + error + _numbered(10) + BAR + b"\nworking\rdone\x1b[K\n"
    script = f"cat; : {SECRET}; exit 3"
    done = place.run("--tokens", "100", "--", "sh", "-c", script, given=printed, CLAUDE_CODE_SESSION_ID="abc")
    return Told(place, printed, done)


def test_long_output_is_its_first_lines_a_report_and_a_pointer_to_all_of_it(told: Told) -> None:
    [(artifact, _)] = told.place.artifacts()
    mark = told.done.stdout.decode().partition("token ")[2].partition(" ")[0]
    assert told.done.stdout.decode() == (
        "1 bottles\n2 bottles\n3 bottles\n4 bottles\n5 bottles\n"
        f"[pinfold] 40 KB left out here, from line 6 on. All of it is A1: 40 KB, 3,013 lines,"
        f" {artifact.outline.tokens:,} tokens.\n"
        "[pinfold] 1 line with errors or warnings:\n"
        f"A1#L3001  ERROR: token {mark} refused\n"
        "[pinfold] The end, from A1#L3010 on:\n"
        "9 bottles\n10 bottles\n100% of it\ndone\n"
        '[pinfold] Exit status 3. Read on with fetch_pointer("A1", lines="6-105") or match="…",'
        f" or in a shell with `{command_name()} show A1#L6-105`."
        f" A new store was made for it, of project app ({told.place.project}).\n"
    )
    assert (told.done.returncode, told.done.stderr) == (3, b"")


def test_what_it_says_to_enter_in_a_shell_reads_on(told: Told) -> None:
    command = told.done.stdout.decode().rpartition("in a shell with `")[2].partition("`")[0]
    shell = subprocess.run(
        ["sh", "-c", command], cwd=told.place.project, env=told.place.environment(), capture_output=True
    )
    assert shell.stdout == _numbered(105)[len(_numbered(5)) :]


def test_all_of_it_is_stored_as_given_with_secrets_replaced_everywhere(told: Told) -> None:
    [(artifact, stored)] = told.place.artifacts()
    before, after = told.printed.split(SECRET.encode())
    assert stored.startswith(before + b"[redacted:github-token:")
    assert stored.endswith(after)
    assert (artifact.label[:10], artifact.source) == ("sh -c 'cat", "pinfold run")
    for text in (told.done.stdout.decode(), artifact.label):
        assert SECRET not in text
        assert "[redacted:github-token:" in text


def test_the_artifact_belongs_to_the_conversation_it_was_run_in(told: Told) -> None:
    [(artifact, _)] = told.place.artifacts()
    assert artifact.session == told.place.session_of(Caller("claude-code", "abc"))


def test_outside_of_an_agent_all_commands_share_one_session(place: Workplace) -> None:
    for lines in (500, 501):
        place.run("--tokens=100", "--", "cat", given=_numbered(lines))
    assert [artifact.session for artifact, _ in place.artifacts()] == [1, 1]
    assert place.session_of(Caller(COMMAND_LINE, COMMAND_LINE)) == 1


@pytest.mark.parametrize("lines", [200, 3_000])
def test_a_store_that_was_there_before_anything_was_kept_in_it_is_not_called_new(
    place: Workplace, lines: int
) -> None:
    assert place.artifacts() == []  # makes the store
    done = place.run("--tokens=100", "--", "cat", given=_numbered(lines))
    assert (len(place.artifacts()), b"A new store" in done.stdout) == (1, False)


def test_with_the_usual_threshold_a_report_stays_far_below_it(place: Workplace) -> None:
    from pinfold.context.tokens import count

    printed = b"".join(
        b"2026-01-02T03:04:%02d ERROR [%d] %s\n" % (n % 60, n, b"x1 y2 " * 40) for n in range(900)
    )
    done = place.run("--", "cat", given=printed)
    head, report = done.stdout.decode().split("[pinfold]", 1)
    assert 0 < len(head) <= 3_000
    assert printed.decode().startswith(head)
    assert count(report) <= 1_500
    assert "900 lines with errors or warnings, the first:\nA1#L1  2026" in report


@pytest.mark.parametrize(("tokens", "is_spilled"), [(700, True), (1_500, False)])
def test_between_certainly_short_and_certainly_long_tokens_are_counted(
    place: Workplace, tokens: int, is_spilled: bool
) -> None:
    printed = b"".join(b"%d\n" % n for n in range(600))
    done = place.run(f"--tokens={tokens}", "--", "cat", given=printed)
    assert (b"[pinfold]" in done.stdout) == is_spilled
    assert (done.stdout == printed) == (not is_spilled)


def test_a_threshold_that_is_none_is_refused_before_the_command_runs(place: Workplace) -> None:
    refused = place.run("--", "touch", "made", PINFOLD_SPILL_TOKENS="many")
    assert (refused.returncode, refused.stdout) == (2, b"")
    told = b"Error: PINFOLD_SPILL_TOKENS is not a number of tokens. Set it to e.g. 6000, or unset it.\n"
    assert refused.stderr.endswith(told)
    assert not (place.project / "made").exists()


def test_an_option_that_run_does_not_have_is_refused_before_the_command_runs(place: Workplace) -> None:
    for arguments in (["--json", "--"], ["--bogus"], ["-x"]):
        refused = place.run(*arguments, "touch", "made")
        assert (refused.returncode, refused.stdout) == (2, b"")
        assert refused.stderr.endswith(f"Error: No such option '{arguments[0]}'.\n".encode())
    assert not (place.project / "made").exists()


@pytest.mark.parametrize(("size", "is_spilled"), [(49, False), (2_000, False), (2_001, True)])
def test_what_is_no_longer_than_a_report_passes_whole_whatever_the_threshold(
    place: Workplace, size: int, is_spilled: bool
) -> None:
    printed = (b"error: %d bottles\n" % 5) * (size // 17) + b"x" * (size % 17)
    done = place.run("--tokens=5", "--", "cat", given=printed)
    assert (done.stdout != printed) == is_spilled
    assert len(done.stdout) <= size
    assert place.home.exists() == is_spilled


def test_both_streams_in_one_keep_their_order(place: Workplace) -> None:
    script = "import os\nfor n in range(3000): os.write(1 + n % 2, b'%d bottles\\n' % n)"
    done = place.run("--tokens=100", *in_python(script), together=True)
    [(_, stored)] = place.artifacts()
    assert stored == b"".join(b"%d bottles\n" % n for n in range(3_000))
    assert done.stdout.startswith(stored[:40])


def test_binary_output_is_stored_byte_for_byte_and_not_shown_further(place: Workplace) -> None:
    printed = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100
    done = place.run("--tokens=100", "--", "cat", given=printed)
    assert done.stdout == printed[:19] + (
        b"[pinfold] 26 KB left out here. All of it is A1: 26 KB of image/png.\n"
        b'[pinfold] Exit status 0. Read it with fetch_pointer("A1"), or in a shell with `%s show A1`.'
        b" A new store was made for it, of project app (%s).\n"
        % (command_name().encode(), bytes(place.project))
    )
    assert place.artifacts()[0][1] == printed
    again = place.run("--tokens=100", "--", "cat", given=printed)
    assert again.stdout.endswith(b"show A1`.\n")


def test_one_endless_line_is_cut_between_characters_and_told_where_it_was_written(place: Workplace) -> None:
    printed = "é".encode() * 5_000
    done = place.run("--label", "é" * 600, "sh", "-c", "cat >&2", given=printed, PINFOLD_SPILL_TOKENS="99")
    head, report = done.stderr.decode().split("\n", 1)
    assert done.stdout == b""
    assert head == "é" * 24
    assert f"[pinfold] The end, from A1#L1 on:\n…{'é' * 19}\n[pinfold] Exit" in report
    [(artifact, stored)] = place.artifacts()
    assert (artifact.label, stored) == ("é" * 500, printed)


def test_what_is_over_the_largest_artifact_is_kept_at_both_ends_and_counted(place: Workplace) -> None:
    printed = _numbered(250_000)
    done = place.run("--tokens=100", "--", "cat", given=printed, PINFOLD_MAX_ARTIFACT_BYTES="100000")
    (head, first), (_, last) = place.artifacts()
    assert printed.startswith(first)
    assert 93_750 <= len(first) <= 100_000
    assert printed.endswith(last)
    assert 1024 * 1024 - 20 < len(last) <= 1024 * 1024
    assert first.endswith(b"\n")
    lost = len(printed) - len(first) - len(last)
    assert f"Its first {len(first):,} bytes are A1: 94 KB, {head.lines:,} lines, ".encode() in done.stdout
    assert (
        f"Its last {len(last):,} bytes are A2; the {lost:,} bytes between are not kept.\n".encode()
        in done.stdout
    )
    assert b"249999 bottles\n250000 bottles\n[pinfold] Exit" in done.stdout


def test_a_little_more_than_the_largest_artifact_is_kept_whole_in_two(place: Workplace) -> None:
    printed = _numbered(20_000)
    done = place.run("--tokens=100", "--", "cat", given=printed, PINFOLD_MAX_ARTIFACT_BYTES="100000")
    assert b"".join(stored for _, stored in place.artifacts()) == printed
    assert b"not kept" not in done.stdout
