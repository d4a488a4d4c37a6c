"""`pinfold hook EVENT`: what a client's hooks call, with the event as JSON on standard input.

Whatever comes in, the client is not disturbed: the exit status is always 0, a failure is one line on stderr. An event
that leaves nothing to do ends before anything is imported, since a client waits for each. Source: design 3 (Hooks).
"""

from __future__ import annotations

import os
import sys

MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
_SPOKEN = (b"DECISION", b"CONSTRAINT", b"DEAD END", b"FACT")


def main(arguments: list[str]) -> int:
    """Carry out one event and return 0."""
    try:
        _carry_out(arguments)
    except KeyboardInterrupt:
        pass
    except BaseException as error:  # whatever it is, the client goes on
        _complain(error)
    return 0


def _carry_out(arguments: list[str]) -> None:
    event = arguments[0] if arguments else ""
    name = "".join(letter for letter in event.lower() if letter.isalpha())
    payload = _read()
    if name == "posttooluse" and len(payload) <= _spill_tokens():
        return  # a token is a byte at least
    if name == "userpromptsubmit" and not any(word in payload for word in _SPOKEN):
        return
    from pinfold.server.hooks import run

    said = run(event, arguments[1:], payload)
    if said:
        sys.stdout.buffer.write(said.encode("utf-8", "replace"))
        sys.stdout.flush()


def _spill_tokens() -> int:
    text = os.environ.get("PINFOLD_SPILL_TOKENS", "")
    from pinfold.server.limits import SPILL_TOKENS

    return int(text) if text.isascii() and text.isdigit() else SPILL_TOKENS


def _read() -> bytes:
    """Return what the client sent, nothing at a terminal; what is too long is read, too, so that it can be sent."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    stream = sys.stdin.buffer
    payload = stream.read(MAX_PAYLOAD_BYTES + 1)
    if len(payload) > MAX_PAYLOAD_BYTES:
        while stream.read(_BLOCK_BYTES):
            pass
        raise ValueError(f"the event has more than {MAX_PAYLOAD_BYTES:,} bytes")
    return payload


def _complain(error: BaseException) -> None:
    text = " ".join(str(error).split()) or type(error).__name__
    try:
        sys.stderr.write(f"pinfold hook: {text[:500]}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
