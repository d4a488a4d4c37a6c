"""The transcript that a person names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinfold.server.clients import claude_code, codex
from pinfold.server.transcripts.finding import Found, found_at
from pinfold.store.errors import InvalidInputError

ACCEPTED = "Name a transcript of Claude Code or Codex; `pinfold import --dry-run` lists the project's."


def named_transcript(path: Path, client: str | None = None) -> Found:
    """Return what lies at a path, `client`'s (None: it shows). Raises `InvalidInputError` for no transcript, `OSError`.

    Only a file: whatever else is read once, or never ends.
    """
    if not path.is_file():
        what = "is no file" if path.exists() else "is not there"
        raise InvalidInputError(f"{path} {what}.", ACCEPTED)
    found = found_at(path.absolute(), client)
    if found is None or found.client not in (claude_code.NAME, codex.NAME):
        raise InvalidInputError(f"{path} is no transcript of Claude Code or Codex.", ACCEPTED)
    return found


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Tell what cannot be read within as `InvalidInputError`."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror or error}.", ACCEPTED) from error
