"""What installing or uninstalling would do to each file, and doing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pinfold.server.install import files
from pinfold.server.install.edits import with_entries, without_entries
from pinfold.server.install.entries import Registration, Scope, Target, UnfitTextError
from pinfold.server.install.files import ConfigFile
from pinfold.server.install.receipts import Receipt, Receipts, digest
from pinfold.server.install.strict import caution
from pinfold.store.errors import InvalidInputError

_BOM = b"\xef\xbb\xbf"
_NEW_MODE = {"user": 0o600, "project": 0o644}


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what it holds and what it will hold; None: it is not there.

    `receipt` is what has to be kept of it, `folders` are those that go with it when it goes; `caution` is why its
    client will not read it.
    """

    file: ConfigFile
    after: bytes | None
    receipt: Receipt | None = None
    folders: tuple[Path, ...] = ()
    caution: str = ""

    @property
    def before(self) -> bytes | None:
        """What the file holds."""
        return self.file.content

    @property
    def action(self) -> str:
        """One word for what happens to the file."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "updated" if self.after is not None else "removed"


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one client in one scope; nothing is written until `carry_out`."""

    client: str
    scope: Scope
    changes: tuple[Change, ...]
    receipts: Receipts
    is_removal: bool

    @property
    def changed(self) -> Sequence[Change]:
        """The files that will not stay as they are."""
        return [change for change in self.changes if change.before != change.after]

    @property
    def cautions(self) -> Sequence[str]:
        """What a person has to mend before a client reads its file, a sentence each."""
        return [change.caution for change in self.changes if change.caution]

    def carry_out(self) -> None:
        """Write the files. A receipt is on disk before its file changes, and goes after it.

        Raises `InvalidInputError` or `ConflictError`; running the command again then does the rest.
        """
        for change in self.changes:
            real = change.file.real
            if change.receipt is not None:
                self.receipts.keep(self.client, real, change.receipt)
            self._write(change)
            if self.is_removal:
                self.receipts.forget(self.client, real)

    def _write(self, change: Change) -> None:
        if change.before == change.after:
            return
        if change.after is None:
            files.remove(change.file, list(change.folders))
        else:
            files.write(change.file, change.after, _NEW_MODE[self.scope])


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for one client in one scope."""

    client: str
    scope: Scope
    registration: Registration
    receipts: Receipts

    def install(self) -> Plan:
        """Plan to put every entry in. Raises `InvalidInputError` for a file that cannot be read or changed."""
        return self._plan(map(self._install, self.registration.targets), is_removal=False)

    def uninstall(self) -> Plan:
        """Plan to take every entry out. Raises as `install`."""
        return self._plan(map(self._uninstall, self.registration.targets), is_removal=True)

    def _plan(self, changes: Iterable[Change], *, is_removal: bool) -> Plan:
        return Plan(self.client, self.scope, tuple(changes), self.receipts, is_removal)

    def _install(self, target: Target) -> Change:
        change = self._with_entries(target)
        return replace(change, caution=caution(target, _text(change.after or b"")))

    def _with_entries(self, target: Target) -> Change:
        file = files.read(target.path)
        receipt = self.receipts.find(self.client, file.real)
        present = file.content or b""
        if _with(target, present) == present:
            return Change(file, file.content)
        bare = _bare(target, file, receipt) if receipt else file.content
        after = _with(target, bare or b"")
        folders = tuple(map(Path, receipt.folders)) if receipt else tuple(files.missing_folders(file))
        return Change(file, after, Receipt(digest(after), bare, tuple(map(str, folders))))

    def _uninstall(self, target: Target) -> Change:
        file = files.read(target.path)
        receipt = self.receipts.find(self.client, file.real)
        folders = tuple(map(Path, receipt.folders)) if receipt else ()
        return Change(file, _bare(target, file, receipt), folders=folders)


def _bare(target: Target, file: ConfigFile, receipt: Receipt | None) -> bytes | None:
    """Return a file without us: its original to the byte if nothing else was changed in it since."""
    if file.content is None:
        return None
    if receipt is not None and receipt.written == digest(file.content):
        return receipt.original
    original = (receipt.original or b"") if receipt else None
    bare = _without(target, file.content, original)
    nothing_left = not bare.removeprefix(_BOM).strip() or bare.split() in ([b"{}"], [b"{", b"}"])
    return None if receipt and receipt.original is None and nothing_left else bare


def _with(target: Target, content: bytes) -> bytes:
    mark = _BOM if content.startswith(_BOM) else b""
    try:
        return mark + with_entries(target, _text(content)).encode()
    except UnfitTextError as error:
        raise _refusal(target.path, error) from None


def _without(target: Target, content: bytes, original: bytes | None) -> bytes:
    mark = _BOM if content.startswith(_BOM) else b""
    before = None if original is None else _text(original)
    try:
        return mark + without_entries(target, _text(content), before).encode()
    except UnfitTextError as error:
        raise _refusal(target.path, error) from None


def _text(content: bytes) -> str:
    plain = content.removeprefix(_BOM)
    try:
        return plain.decode()
    except UnicodeDecodeError as error:
        raise UnfitTextError(plain.count(b"\n", 0, error.start) + 1, "bytes that are not UTF-8") from None


def _refusal(path: Path, error: UnfitTextError) -> InvalidInputError:
    where = f"{path}, line {error.line}" if error.line else str(path)
    return InvalidInputError(f"{where}: {error.reason}; the file was left alone.", "Mend it and try again.")
