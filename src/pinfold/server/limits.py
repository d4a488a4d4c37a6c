"""Limits, and how they are read from the environment: a quick command does so without loading the settings."""

from __future__ import annotations

TYPE_CHECKING = False  # the module that has it costs a hook more than all else it loads
if TYPE_CHECKING:
    from collections.abc import Mapping

SPILL_TOKENS = 6_000
"""Output up to this size stays where it is: a spilled one costs a model a call to read on."""


def spill_tokens(environment: Mapping[str, str]) -> int:
    """Return from how many tokens on output is long (`PINFOLD_SPILL_TOKENS`); raises `InvalidInputError`."""
    return whole_number(environment, "PINFOLD_SPILL_TOKENS", SPILL_TOKENS, unit="tokens")


def whole_number(environment: Mapping[str, str], name: str, default: int, *, unit: str) -> int:
    """Return a variable's number of `unit`, 1 to 2**40, `default` where it is not set; raises `InvalidInputError`."""
    text = environment.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 2**40:
        from pinfold.store.errors import InvalidInputError

        raise InvalidInputError(
            f"{name} is not a number of {unit}.", f"Set it to e.g. {default}, or unset it."
        )
    return int(text)
