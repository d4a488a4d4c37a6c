"""Which transcripts there are: those of a project, of a conversation, of its sub-agents; and how each is read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pinfold.server.clients import claude_code, codex
from pinfold.server.project import Project, resolve
from pinfold.server.transcripts.items import Format, Heading
from pinfold.server.transcripts.lenient import parsed
from pinfold.server.transcripts.lines import first_lines


class _Places(Protocol):
    """Where one client keeps its transcripts."""

    def transcripts(self, environment: Mapping[str, str], /) -> Iterable[Path]: ...

    def transcript_of(self, conversation: str, environment: Mapping[str, str], /) -> Path | None: ...

    def agents_of(self, transcript: Path, /) -> Iterable[Path]: ...

    def heading(self, path: Path, /) -> Heading: ...


def _places(client: str) -> _Places | None:
    """Return a client's places; what reads the others' transcripts is not loaded."""
    if client == claude_code.NAME:
        from pinfold.server.clients.claude_code import places as of_claude_code

        return of_claude_code
    if client == codex.NAME:
        from pinfold.server.clients.codex import places as of_codex

        return of_codex
    return None


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript, and what its beginning says."""

    path: Path
    client: str
    heading: Heading

    def format(self, *, own_tools: bool = False) -> Format:
        """Return what reads it, for one reading from its beginning or from where an earlier one was not open.

        `own_tools`: pinfold's, too, whose calls and results say what the store holds already.
        """
        if self.client == claude_code.NAME:
            from pinfold.server.clients.claude_code.transcript import Transcript

            return Transcript(own_tools=own_tools)
        if self.client == codex.NAME:
            from pinfold.server.clients.codex.transcript import Rollout

            return Rollout(self.heading, own_tools=own_tools)
        from pinfold.server.transcripts.jsonl import JsonLines

        return JsonLines()


def found_at(path: Path, client: str | None = None) -> Found | None:
    """Return the transcript at `path`; whose it is shows at its beginning, unless `client` names it.

    None for a file that no client has written. Raises `OSError`.
    """
    client = client or _client_of(path)
    if client is None:
        return None
    places = _places(client)
    return Found(path, client, Heading() if places is None else places.heading(path))


def of_conversation(client: str, conversation: str, environment: Mapping[str, str]) -> Found | None:
    """Return the transcript of a client's conversation, None if it keeps none."""
    places = _places(client)
    path = None if places is None else places.transcript_of(conversation, environment)
    try:
        return None if path is None else found_at(path, client)
    except OSError:
        return None


def of_agents(parent: Found) -> tuple[Found, ...]:
    """Return the transcripts of a conversation's sub-agents that lie beside its own.

    Codex's lie among those of the project; their headings name the parent.
    """
    places = _places(parent.client)
    return tuple(_readable(parent.client, () if places is None else places.agents_of(parent.path)))


def of_project(project: Project, environment: Mapping[str, str]) -> tuple[Found, ...]:
    """Return all transcripts of a project, those of sub-agents too, the one that was written to last at the end.

    A transcript belongs to the project to which the folder belongs that its conversation began in: worktrees,
    subfolders and other spellings count, a folder that is gone if it lay in the project.
    """
    belongs = _Membership(project)
    found = [
        transcript
        for client in (claude_code.NAME, codex.NAME)
        if (places := _places(client))
        for transcript in _readable(client, places.transcripts(environment))
        if transcript.heading.cwd and belongs.holds(transcript.heading.cwd)
    ]
    return tuple(sorted(found, key=lambda transcript: _written_at(transcript.path)))


class _Membership:
    """Whether folders belong to a project; each is looked up once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._roots = (project.root, *_worktrees(project))
        self._known: dict[str, bool] = {}

    def holds(self, cwd: str) -> bool:
        if cwd not in self._known:
            self._known[cwd] = self._look_up(cwd)
        return self._known[cwd]

    def _look_up(self, cwd: str) -> bool:
        try:
            found = resolve(Path(cwd))
        except (OSError, ValueError):
            return False
        if found.identity == self._project.identity:
            return True
        is_gone = found.git_folder is None and not os.path.isdir(cwd)
        return is_gone and any(found.root.is_relative_to(root) for root in self._roots)


def _worktrees(project: Project) -> list[Path]:
    """Return where git remembers worktrees to be, whether they are there or not."""
    notes = () if project.common_folder is None else project.common_folder.glob("worktrees/*/gitdir")
    links = [note.parent / note.read_text("utf-8", "surrogateescape").strip() for note in notes]
    return [Path(os.path.realpath(link.parent)) for link in links]


def _client_of(path: Path) -> str | None:
    for line in first_lines(path):
        entry = parsed(line)
        if entry is None:
            continue
        if "payload" in entry:
            return codex.NAME
        if "sessionId" in entry or "uuid" in entry:
            return claude_code.NAME
        if "text" in entry:
            return "jsonl"
    return None


def _readable(client: str, paths: Iterable[Path]) -> list[Found]:
    found = []
    for path in filter(os.path.isfile, paths):  # a pipe would never end
        try:
            transcript = found_at(path, client)
        except OSError:  # deleted since it was listed, or somebody else's
            continue
        found += [transcript] if transcript else []
    return found


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
