"""Tokens: who may reach which projects of this server, to read or to write; the file holds digests, never a token.

The file is read at every request, so that what is revoked is refused at once, by every server that shares the folder.
Source: P27; docs/decisions/0016.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pinfold.store.errors import ConflictError, DamagedError, InvalidInputError, NotFoundError, ReadOnlyError
from pinfold.store.file_lock import lock, unlock
from pinfold.store.private_files import make_private_folder, write_private

PREFIX = "pinfold_"
_BYTES = 32
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAMES = "Use 1 to 64 of a-z, 0-9, dot, underscore and hyphen, a letter or digit first."
_USED_AGAIN_S = 3600.0
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_NONE = b"[]"
"""What a file would hold that has never been written; an empty one is damaged."""


@dataclass(frozen=True, slots=True)
class Token:
    """What one token opens. `digest` is the SHA-256 of the token in hex; instants are of UTC, in ISO 8601."""

    name: str
    digest: str
    projects: tuple[str, ...]
    may_write: bool
    created: str
    expires: str | None = None

    def is_expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now


def checked_name(name: str, what: str) -> str:
    """Return the name of a token or of a project on a server; raises `InvalidInputError`. `what` says which it is."""
    if not _NAME.fullmatch(name):
        raise InvalidInputError(f"This cannot be the name of a {what}.", _NAMES)
    return name


class TokenFile:
    """The tokens of one data directory. Changes wait for each other; every error is one of ours."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "tokens"
        self._file = self.folder / "tokens.json"
        self._was_there = False
        self._read: bytes | None = None
        self._tokens: tuple[Token, ...] = ()

    def exists(self) -> bool:
        """Whether a token was ever added, as far as this process has seen: from then on nobody enters without one.

        Raises `ReadOnlyError` where that cannot be known.
        """
        try:
            self._was_there = self._was_there or self._file.exists()
        except OSError as error:
            raise _unreadable(self._file, error) from None
        return self._was_there

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, revoked ones excepted. Raises `ReadOnlyError` where others can read the file."""
        content = self._content()
        if content != self._read:
            self._tokens = _parsed(content, self._file)
            self._read = content
        return self._tokens

    def find(self, given: str) -> Token | None:
        """Return the token that was given, if it stands; it takes the same time whichever it is, or if none."""
        digest = _digest(given)
        found = None
        for token in self.tokens():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return None if found is None or found.is_expired(datetime.now(UTC)) else found

    def add(self, token: Token) -> str:
        """Make a token of these properties and return it, the only time; raises `ConflictError` for a name in use."""
        made = PREFIX + secrets.token_urlsafe(_BYTES)

        def added(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(each.name == token.name for each in tokens):
                raise ConflictError(
                    f"There is a token {token.name} already.", "Revoke it first, or choose another name."
                )
            return (*tokens, replace(token, digest=_digest(made)))

        self._change(added)
        return made

    def revoke(self, name: str) -> None:
        """Take a token out; raises `NotFoundError`."""

        def left(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            kept = tuple(each for each in tokens if each.name != name)
            if len(kept) == len(tokens):
                raise NotFoundError(
                    f"token {name}", "there is none of that name", "`pinfold token list` shows them."
                )
            return kept

        self._change(left)
        with suppress(OSError):
            self._used(name).unlink()

    def note_use(self, name: str) -> None:
        """Remember that a token was used, to the hour; where that cannot be written, it is not."""
        mark = self._used(name)
        with suppress(OSError):
            if not mark.exists() or time.time() - mark.stat().st_mtime > _USED_AGAIN_S:
                mark.parent.mkdir(mode=0o700, exist_ok=True)
                mark.touch(mode=0o600)

    def last_used(self, name: str) -> datetime | None:
        """Return when a token was last used, to the hour; None: never."""
        try:
            return datetime.fromtimestamp(self._used(name).stat().st_mtime, UTC)
        except OSError:
            return None

    def _used(self, name: str) -> Path:
        return self.folder / "used" / name

    def _content(self) -> bytes:
        try:
            with self._file.open("rb") as file:
                _refuse_shared(self._file, os.fstat(file.fileno()))
                return file.read()
        except FileNotFoundError:
            return _NONE
        except OSError as error:
            raise _unreadable(self._file, error) from None

    def _change(self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> None:
        try:
            make_private_folder(self.folder)
            with _locked(self.folder / "lock"):
                tokens = change(self.tokens())
                write_private(self._file, json.dumps([asdict(token) for token in tokens], indent=1).encode())
        except OSError as error:
            raise ReadOnlyError(
                f"{self.folder} cannot be written ({error.strerror})", "Mend that and try again."
            ) from None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _parsed(content: bytes, file: Path) -> tuple[Token, ...]:
    try:
        match json.loads(content):
            case [*found]:
                return tuple(map(_token, found))
        raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedError(
            str(file), "Bring it back from a backup, or remove it and add tokens anew."
        ) from None


def _token(found: Any) -> Token:
    """Return a token as it was written; raises `ValueError`, `TypeError` or `KeyError` for what none of ours is."""
    projects = found["projects"]
    if not isinstance(projects, list) or not all(map(_NAME.fullmatch, [found["name"], *projects])):
        raise ValueError
    token = Token(**{**found, "projects": tuple(projects)})
    ends = datetime.fromisoformat(token.expires) if token.expires is not None else datetime.now(UTC)
    if not (_DIGEST.fullmatch(token.digest) and isinstance(token.may_write, bool) and ends.tzinfo):
        raise ValueError
    return token


def _unreadable(file: Path, error: OSError) -> ReadOnlyError:
    return ReadOnlyError(f"{file} cannot be read ({error.strerror})", "Let this user read it.")


def _refuse_shared(file: Path, found: os.stat_result) -> None:
    if os.name == "posix" and found.st_mode & _OTHERS:
        raise ReadOnlyError(f"others can read or write {file}", f"Let nobody else: chmod 600 {file}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(held, wait=True)
        yield
        unlock(held)
    finally:
        os.close(held)
