"""What names a thing of one machine, told apart from the same name on another: processes, paths, a person's shell.

Two machines have processes of the same number, transcripts at the same path and a command line each; a team's log
holds them under the machine's name as well. Source: docs/decisions/0017.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pinfold.store.commands import StartSession, TranscriptMark
from pinfold.store.private_files import make_private_folder
from pinfold.store.values import COMMAND_LINE, Caller

_NAME_DIGITS = 12


def machine_name(folder: Path) -> str:
    """Return a name for this machine: of a number drawn once and kept in `folder`, and of the host's name.

    The number tells clones of one image apart as long as they were not copied with it, the host's name those that
    share a folder.
    """
    drawn = folder / "machine"
    make_private_folder(folder)
    try:
        handle = os.open(drawn, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(16))
    number = drawn.read_text("ascii", "replace")
    return hashlib.sha256(f"{number}@{socket.gethostname()}".encode()).hexdigest()[:_NAME_DIGITS]


class Machine:
    """Gives names of this machine to a team's server, and takes them back."""

    def __init__(self, name: str) -> None:
        self._name = name

    def told(self, verb: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a verb's arguments as a team's server is told of them."""
        if verb == "transcript_mark":
            return tuple(map(self._path, given))
        return tuple(map(self._told, given))

    def heard(self, gave: Any) -> Any:
        """Return what a verb gave: of marks those of this machine, with their paths here."""
        match gave:
            case TranscriptMark():
                return self._own(gave)
            case (TranscriptMark(), *_):
                return tuple(mark for each in gave if (mark := self._own(each)) is not None)
        return gave

    def _path(self, path: str) -> str:
        return f"{self._name}:{path}"

    def _own(self, mark: TranscriptMark) -> TranscriptMark | None:
        name, _, path = mark.path.partition(":")
        return replace(mark, path=path) if name == self._name else None

    def _told(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return tuple(map(self._told, value))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        parts = {each.name: self._told(getattr(value, each.name)) for each in fields(value) if each.init}
        match value:
            case Caller():
                parts |= self._caller(value)
            case StartSession():
                parts |= self._start(value)
            case TranscriptMark():
                parts["path"] = self._path(value.path)
        return replace(value, **parts)

    def _caller(self, caller: Caller) -> dict[str, Any]:
        is_person = caller.client == COMMAND_LINE
        conversation = self._run(caller.conversation) if is_person else caller.conversation
        return {"runs": tuple(map(self._run, caller.runs)), "conversation": conversation}

    def _start(self, command: StartSession) -> dict[str, Any]:
        """A run that is the conversation's own name is no process, and the same everywhere."""
        run, path = command.run, command.transcript
        is_process = run is not None and run != command.caller.conversation
        return {
            "run": self._run(run) if run is not None and is_process else run,
            "transcript": None if path is None else self._path(path),
        }

    def _run(self, name: str) -> str:
        return f"{name}@{self._name}"
