"""`pinfold hook EVENT`: what a client's hooks call, with the event as JSON on standard input.

Whatever comes in, the client is not disturbed: the exit status is always 0, a failure is one line on stderr. An event
that leaves nothing to do ends before anything is imported, since a client waits for each. Source: design 3 (Hooks).
"""

from __future__ import annotations

import os
import sys

from pinfold.server.limits import spill_tokens

MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
_FAULT_CHARS = 500
_SPOKEN = (b"DECISION", b"CONSTRAINT", b"DEAD END", b"FACT")
_PARTIAL = (b"persistedOutputPath", b"truncated output (original token count")
"""How a client says that there was more output than the event holds."""


def main(arguments: list[str]) -> int:
    """Carry out one event and return 0."""
    faults: list[str] = []
    try:
        said, faults = carry_out(arguments, _read())
        if said:
            _say(said)
    except KeyboardInterrupt:
        pass
    except BaseException as error:  # whatever it is, the client goes on
        from pinfold.server.notes import in_words

        faults = [in_words(error)]
    if faults:
        _complain(" ".join("; ".join(_each_once(faults)).split()))
    return 0


def _each_once(faults: list[str]) -> list[str]:
    """Return the sentences without those that another one says as well."""
    different = list(dict.fromkeys(faults))
    return [each for each in different if not any(each in other for other in different if other != each)]


def carry_out(arguments: list[str], payload: bytes) -> tuple[str, list[str]]:
    """Carry out the event that the arguments name; return what the client is to read, and what went wrong on the way.

    Raises whatever keeps it from being carried out at all.
    """
    event = arguments[0] if arguments else ""
    name = "".join(letter for letter in event.lower() if letter.isalpha())
    if name == "posttooluse" and len(payload) <= spill_tokens(os.environ) and not _has(payload, _PARTIAL):
        return "", []  # a token is a byte at least
    if name == "userpromptsubmit" and not _has(payload, _SPOKEN):
        return "", []
    from pinfold.server.hooks import run

    return run(event, arguments[1:], payload)


def _has(payload: bytes, words: tuple[bytes, ...]) -> bool:
    return any(word in payload for word in words)


def _read() -> bytes:
    """Return what the client sent, nothing at a terminal; what is too long is read, too, so that it can be sent."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    stream = sys.stdin.buffer
    payload = stream.read(MAX_PAYLOAD_BYTES + 1)
    if len(payload) > MAX_PAYLOAD_BYTES:
        while stream.read(_BLOCK_BYTES):
            pass
        from pinfold.store.errors import InvalidInputError

        raise InvalidInputError(
            f"The event has more than {MAX_PAYLOAD_BYTES:,} bytes.", "Nothing was kept of it."
        )
    return payload


def _say(text: str) -> None:
    if sys.stdout is None:
        raise OSError("standard output is closed")
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()


def _complain(text: str) -> None:
    try:
        sys.stderr.write(f"pinfold hook: {text[:_FAULT_CHARS]}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
