"""An error's words for a person at the command line: what an agent calls, they enter."""

from __future__ import annotations

import re

from pinfold.server.own_command import command_name

_FETCH = re.compile(r'fetch_pointer\((?:pointer=)?"([^"]+)"\)')
_COMMANDS = ("brief", "pins", "folds", "misses")
_ARGUMENT = re.compile(r"`(session|since|path|limit|cursor|json_path|match|lines)`")
_QUERY = "`query`"
_PHRASINGS = "; put each phrasing on its own line"


def for_person(text: str) -> str:
    """Return an error or a hint with the commands and options that do what its tools and arguments do."""
    text = _FETCH.sub(lambda found: f"{command_name()} {_shown_by(found[1])}", text)
    text = _ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
    if "search_history" in text:
        text = text.replace("search_history", f"{command_name()} search")
    return text.replace(_QUERY, "The query").replace(_PHRASINGS, "")


def _shown_by(pointer: str) -> str:
    return pointer if pointer in _COMMANDS else f"show {pointer}"
