"""Tool calls in transcripts: how they read, which files they name, and which are pinfold's own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_COMMANDS = ("command", "cmd")
_PATHS = ("file_path", "path", "notebook_path")
_PATCHED = r"(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$"
_OWN_TOOL = r"pinfold\w*__(?:pin_decision|spill_artifact|fetch_pointer|search_history|checkpoint_state)"
_OWN_ADDRESS = "pinfold://"
_STARTED_BY = r"""[^\s"']*/|"[^"\n]*/|'[^\n;|&]*/|\S*uvx\s+|\S*pipx\s+run\s+|\S*python\S*\s+-m\s+"""
_READING_COMMAND = (
    rf"\s*(?:{_STARTED_BY})?pinfold(?:\.exe)?[\"']?\s+(?:brief|pins|search|show|folds|misses|recall)\b"
)
_SCRIPTED = r"\btools\.(\w+)"
_MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class Call:
    """What a result needs to know of its call. Results of pinfold's `own` tools say what the store holds already.

    `ran` is its input as a reader would write it, e.g. a command.
    """

    tool: str = ""
    files: tuple[str, ...] = ()
    own: bool = False
    ran: str = ""


def call(tool: str, given: object) -> Call:
    """Return what is to be remembered of a call with its input."""
    return Call(tool, _files(given), _is_own(tool, given), rendered(given))


def rendered(given: object) -> str:
    """Return a tool's input as a reader would write it: a command as it is, other arguments a line each.

    Texts stand as given, since the escapes of JSON would make other words of what they touch.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return "" if given is None else _compact(given)
    command = next((given[name] for name in _COMMANDS if name in given), None)
    if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
        is_shell = len(command) == 3 and command[1] in ("-lc", "-c")
        return str(command[2]) if is_shell else " ".join(command)
    if isinstance(command, str):
        return command
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else _compact(value)}" for name, value in given.items()
    )


def _files(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        found = re.findall(_PATCHED, given)
    elif isinstance(given, dict):
        found = [given[name] for name in _PATHS if isinstance(given.get(name), str) and given[name]]
    else:
        found = []
    return tuple(dict.fromkeys(found))[:_MOST_FILES]


def _is_own(tool: str, given: object) -> bool:
    if re.search(_OWN_TOOL, tool):
        return True
    if isinstance(given, str):
        scripted = re.findall(_SCRIPTED, given)
        return bool(scripted) and all(re.search(_OWN_TOOL, name) for name in scripted)
    if not isinstance(given, dict):
        return False
    address = given.get("uri")
    if isinstance(address, str) and address.startswith(_OWN_ADDRESS):
        return True
    runs = any(name in given for name in _COMMANDS)
    return runs and re.match(_READING_COMMAND, rendered(given)) is not None


def _compact(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "(too deeply nested)"
