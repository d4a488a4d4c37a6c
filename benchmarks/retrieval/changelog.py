"""A project's changelog: from the line that its users read to the commits that made the change.

For a git repository that keeps one file for each change (towncrier) and merges branches by merge commits. Asked is
that file's text, right are the commits of the merge that brought it. A text is a commit's message with the paths it
touched, without issue numbers and without the changelog's own files: no diff, so the question itself is in no text.
Lines that a commit message says in the same words are left out: to find those would be no art.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.retrieval.baselines import content_words
from benchmarks.retrieval.task import Case, Question, Text

FOLDERS = ("changelog", "news", "newsfragments", "changes")
MAX_QUESTION_CHARS = 400
MAX_TEXT_CHARS = 4_000
_MAX_PATHS = 40
_MAX_LINES, _MAX_COMMITS = 4, 12
_MIN_WORDS, _COPIED = 4, 0.6
_TITLED = re.compile(r"(?::[\w:.-]+:)?`([^`<]*?)\s*<[^`>]*>`_*")
_ROLE = re.compile(r":[\w:.-]+:`([^`<]*?)`")
_ISSUE = re.compile(r"(?:GH-?|#)\d+\b|\bissues?\s+\d+\b|\bbug\s+\d+\b", re.IGNORECASE)
_DIRECTIVE = re.compile(r"^\.\. .*$", re.MULTILINE)
_LINE_FILE = re.compile(r"[\w/-]+/[\w+-]+\.\w+(?:\.\d+)?(?:\.rst)?")
_OF_NO_USER = re.compile(r"\.(?:trivial|vendor|process)\b|README|template|gitignore|\.toml$")


def cases(repository: Path, folder: str | None = None) -> Iterator[Case]:
    """Yield the one case of a repository; `folder` holds its changelog's files (else the first of `FOLDERS` there)."""
    history = _History(repository, folder)
    yield Case(tuple(history.texts()), tuple(history.questions()))


class _History:
    def __init__(self, repository: Path, folder: str | None) -> None:
        self._repository = repository
        self._folder = folder or self._first_folder()
        self._messages: dict[str, str] = {}

    def texts(self) -> Iterator[Text]:
        log = self._git("log", "--no-merges", "--reverse", "--name-only", "--format=%x01%H%x00%B%x00")
        for record in log.split("\x01")[1:]:
            commit, message, names = record.split("\0", 2)
            touched = [name for name in names.split("\n") if name and not name.startswith(f"{self._folder}/")]
            self._messages[commit] = _ISSUE.sub(" ", message.strip())
            text = "\n".join([self._messages[commit], *touched[:_MAX_PATHS]])
            yield Text(commit, text[:MAX_TEXT_CHARS], "commit")

    def questions(self) -> Iterator[Question]:
        """Yield the lines that later commits did not say in their own words; `texts` must have been read."""
        seen = set()
        for commit, parents in self._mainline():
            lines = self._lines_added(commit, parents)
            right = self._commits(commit, parents) if 0 < len(lines) <= _MAX_LINES else frozenset()
            if not 0 < len(right) <= _MAX_COMMITS:
                continue
            for path in lines:
                text = _plain(self._git("show", f"{commit}:{path}"))[:MAX_QUESTION_CHARS]
                if text not in seen and not self._is_easy(text, right):
                    yield Question(f"{path.rpartition('/')[2]}@{commit[:8]}", text, right)
                seen.add(text)

    def _mainline(self) -> Iterator[tuple[str, list[str]]]:
        for line in self._git("log", "--first-parent", "--format=%H %P").splitlines():
            commit, *parents = line.split()
            if parents:
                yield commit, parents

    def _lines_added(self, commit: str, parents: list[str]) -> list[str]:
        range_ = ("-r", "--diff-filter=A", "--name-only", parents[0], commit, "--", self._folder)
        added = self._git("diff-tree", *range_).splitlines()
        return [path for path in added if _LINE_FILE.match(path) and not _OF_NO_USER.search(path)]

    def _commits(self, commit: str, parents: list[str]) -> frozenset[str]:
        if len(parents) == 1:
            return frozenset({commit} & self._messages.keys())
        brought = self._git("rev-list", "--no-merges", f"{parents[0]}..{parents[1]}").split()
        return frozenset(brought) & self._messages.keys()

    def _is_easy(self, text: str, right: frozenset[str]) -> bool:
        """Whether there is too little to look for, or one commit message holds most of it."""
        words = content_words(text)
        held = (len(words & content_words(self._messages[commit])) for commit in right)
        return len(words) < _MIN_WORDS or max(held) >= _COPIED * len(words)

    def _first_folder(self) -> str:
        there = set(self._git("ls-tree", "--name-only", "HEAD").splitlines())
        return next((name for name in FOLDERS if name in there), FOLDERS[0])

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", self._repository, *arguments], check=True, capture_output=True)
        return done.stdout.decode("utf-8", "replace")


def _plain(written: str) -> str:
    """Return the text of a changelog's file without its markup and issue numbers."""
    text = _ROLE.sub(r"\1", _TITLED.sub(r"\1", written))
    text = _DIRECTIVE.sub(" ", _ISSUE.sub(" ", text))
    return " ".join(re.sub(r"[`*]+", "", text).split())
