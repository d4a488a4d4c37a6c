"""What a file was before pinfold went into it: kept in the data directory, under `installed/`."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pinfold.store.errors import InvalidInputError
from pinfold.store.private_files import write_private


@dataclass(frozen=True, slots=True)
class Receipt:
    """`written` is the SHA-256 of the file as we left it, `original` the file without us; None: there was none."""

    written: str
    original: bytes | None
    folders: tuple[str, ...]


def digest(content: bytes) -> str:
    """Return the SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


class Receipts:
    """One receipt for each client and file, in `folder`; nothing is made before the first is kept."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "installed"

    def _place(self, client: str, real: Path) -> Path:
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
        return self.folder / f"{client}-{name}.json"

    def backup(self, client: str, real: Path) -> Path:
        """Return where the original of a file lies, if it had one."""
        return self._place(client, real).with_suffix(".original")

    def find(self, client: str, real: Path) -> Receipt | None:
        """Return the receipt, None where there is none or it cannot be read."""
        try:
            kept = json.loads(self._place(client, real).read_bytes())
            original = self.backup(client, real).read_bytes() if kept["existed"] else None
            return Receipt(kept["written"], original, tuple(kept["folders"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, client: str, real: Path, receipt: Receipt) -> None:
        """Keep a receipt in place of a former one. Raises `InvalidInputError` where that cannot be."""
        fields = asdict(receipt)
        original = fields.pop("original")
        fields |= {"client": client, "path": os.fsdecode(real), "existed": original is not None}
        try:
            if original is not None:
                write_private(self.backup(client, real), original)
            write_private(self._place(client, real), json.dumps(fields, indent=1).encode())
        except OSError as error:
            raise InvalidInputError(
                f"No backup can be kept in {self.folder}: {error.strerror}; {real} was left alone.",
                "Mend that, or set PINFOLD_HOME to another folder.",
            ) from None

    def forget(self, client: str, real: Path) -> None:
        """Remove a receipt, and with the last one the folders that hold nothing else."""
        self._place(client, real).unlink(missing_ok=True)
        self.backup(client, real).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()
            self.folder.parent.rmdir()
