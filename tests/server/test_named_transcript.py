"""Whatever a person names as a transcript, `replay` and `rent` say the same of it, and leave it as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pinfold.server.cli import main
from tests.server.replays import week

COMMANDS = ("replay", "rent")
pytestmark = pytest.mark.parametrize("command", COMMANDS)


def _run(command: str, *arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [command, *map(str, arguments)])


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"just text\n", b'{"type": "user"}\n', b"\0" * 5_000, b"{\n" * 50]
)
def test_a_file_that_is_none_is_refused(command: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    done = _run(command, path)
    assert (done.exit_code, f"{path} is no transcript of Claude Code or Codex. Name" in done.stderr) == (
        1,
        True,
    )


def test_what_is_no_file_is_refused_by_its_name(command: str, tmp_path: Path) -> None:
    for given, what in ((tmp_path, "is no file"), (os.devnull, "is no file"), ("nowhere", "is not there")):
        done = _run(command, given)
        assert (done.exit_code, f"{given} {what}. Name a transcript" in done.stderr) == (1, True)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes among its files")
def test_a_pipe_that_nobody_writes_to_keeps_nobody_waiting(command: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = subprocess.run(
        [sys.executable, "-m", "pinfold", command, str(pipe)], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, f"{pipe} is no file." in done.stderr) == (1, True)


def test_a_page_never_takes_the_place_of_its_transcript(command: str, tmp_path: Path) -> None:
    transcript, link = week(days=1, turns=2).written(tmp_path / "t.jsonl"), tmp_path / "link.html"
    link.symlink_to(transcript)
    before = transcript.read_bytes()
    for page in (transcript, link):
        done = _run(command, transcript, "--html", page, "--force")
        assert (done.exit_code, f"{page} is the transcript itself; nothing was written." in done.stderr) == (
            1,
            True,
        )
    assert transcript.read_bytes() == before
