"""The error tree: what a caller learns when something cannot be done.

Every error has a `code`, a `message` (what was asked and what is wrong) and a `hint` (what to do next).
Constructors take facts, so the wording lives here alone. Source: docs/promises, P5.
"""

from __future__ import annotations

import errno
from typing import ClassVar

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the operating system says where no more can be written: a full disk, a quota, a limit on files."""


class PinfoldError(Exception):
    """Root of every error that a caller is meant to read; anything else is a bug."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """One line: what is wrong, then what to do next."""
        return f"{self.message} {self.hint}".strip()


class InvalidInputError(PinfoldError):
    """The input is not acceptable; nothing happened. `accepted` says which form is."""

    code = "invalid"

    def __init__(self, what: str, accepted: str) -> None:
        super().__init__(what, accepted)


class NotFoundError(PinfoldError):
    """The pointer leads nowhere. `why` is one of: never existed, forgotten, another project, out of range."""

    code = "not_found"

    def __init__(self, asked: str, why: str, hint: str) -> None:
        super().__init__(f"{asked}: {why}.", hint)


class ConflictError(PinfoldError):
    """Another write stands: the same key with other arguments, or a pin that is already superseded."""

    code = "conflict"

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what, hint)


class TooLargeError(PinfoldError):
    """Something is over a named limit; nothing happened."""

    code = "too_large"

    def __init__(self, what: str, size: int, limit: int, *, unit: str, hint: str) -> None:
        super().__init__(f"{what} has {size:,} {unit}; the limit is {limit:,}.", hint)
        self.size = size
        self.limit = limit


class BusyError(PinfoldError):
    """The store was locked for the whole waiting time; nothing happened."""

    code = "busy"

    def __init__(self, waited_s: float, holder: str) -> None:
        super().__init__(
            f"The store was busy for {waited_s:.0f} s (lock held by {holder}); nothing was written.",
            "Try again; if it stays busy, look at that process.",
        )
        self.holder = holder


class NoSpaceError(PinfoldError):
    """The disk or a quota is full; nothing was acknowledged and reads go on."""

    code = "no_space"

    def __init__(
        self, where: str, refused: str = "", hint: str = "Free some space and try again; reads still work."
    ) -> None:
        uncertain = f"{where} takes no more bytes ({refused}: full, over a limit, or failing)"
        super().__init__(
            f"{uncertain if refused else f'No space left in {where}'}; nothing was written.", hint
        )


class ReadOnlyError(PinfoldError):
    """The store cannot be written: read-only place, or a file made by a newer pinfold. Reads go on."""

    code = "read_only"

    def __init__(self, why: str, hint: str = "Reads still work.") -> None:
        super().__init__(f"The store is read-only: {why}; nothing was written.", hint)


class UnknownOutcomeError(PinfoldError):
    """The write may or may not exist: the commit itself failed, or its answer was lost. `cause` says which."""

    code = "unknown"

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"The outcome is unknown: {cause}, the write may exist.",
            "Send the same call again with the same key; it never makes a second one.",
        )


class DamagedError(PinfoldError):
    """Stored content does not match its digest, or the file is no database of ours. Nothing was changed."""

    code = "damaged"

    def __init__(
        self,
        what: str,
        hint: str = "Run `pinfold verify` to see what is affected.",
        outcome: str = "nothing was changed",
    ) -> None:
        super().__init__(f"{what} is damaged; {outcome}.", hint)
        self.what = what


class UnreachableError(PinfoldError):
    """The server that holds the store cannot be spoken to; nothing was written. `why` is a few words."""

    code = "unreachable"

    def __init__(
        self, server: str, why: str, hint: str = "Try again when it is there; PINFOLD_URL says where it is."
    ) -> None:
        super().__init__(f"The team's server at {server} is out of reach ({why}); nothing was written.", hint)


class RefusedError(PinfoldError):
    """The team's server does not let this token do that; nothing happened."""

    code = "refused"

    def __init__(self, server: str, why: str, hint: str) -> None:
        super().__init__(f"The team's server at {server} refused: {why}.", hint)


class MayNotWriteError(RefusedError):
    """The token may only read; nothing happened, and nothing waits, since later it would be refused as well."""

    def __init__(self, server: str) -> None:
        super().__init__(server, "this token may only read", "Ask who runs it for one that may write.")


class DeferredError(PinfoldError):
    """It cannot be written now; it is kept on this machine, and sent when the team's server takes it."""

    code = "deferred"

    def __init__(self, cause: PinfoldError) -> None:
        super().__init__(
            cause.message,
            f"{cause.hint} What was to be written waits here, and is sent once: `pinfold outbox`.",
        )
