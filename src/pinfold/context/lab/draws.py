"""The draws of .NET's `System.Random` with a seed: the subtractive generator of Knuth, as its publication needs it."""

from __future__ import annotations

_BIG = 2**31 - 1
_FIRST = 161_803_398
_LENGTH = 55
_APART = 21


class Draws:
    """The same whole numbers for the same seed, as .NET Framework and seeded .NET draw them."""

    def __init__(self, seed: int) -> None:
        self._state = _mixed(_spread(min(abs(seed), _BIG)))
        self._place = 0
        self._other = _APART

    def below(self, stop: int, start: int = 0) -> int:
        """Draw from `start` to below `stop`."""
        return start + int(self._next() * (1.0 / _BIG) * (stop - start))

    def _next(self) -> int:
        self._place = self._place % _LENGTH + 1
        self._other = self._other % _LENGTH + 1
        drawn = _apart(self._state[self._place], self._state[self._other])
        drawn -= drawn == _BIG
        self._state[self._place] = drawn
        return drawn


def _apart(one: int, other: int) -> int:
    """Subtract as 32 bits do, which wrap around, and go up by `_BIG` from below zero."""
    found = (one - other + 2**31) % 2**32 - 2**31
    return found + _BIG if found < 0 else found


def _spread(seed: int) -> list[int]:
    state = [0] * (_LENGTH + 1)
    last, following = _FIRST - seed, 1
    state[_LENGTH] = last
    for number in range(1, _LENGTH):
        place = _APART * number % _LENGTH
        state[place] = following
        following = _apart(last, following)
        last = state[place]
    return state


def _mixed(state: list[int]) -> list[int]:
    for _ in range(4):
        for place in range(1, _LENGTH + 1):
            state[place] = _apart(state[place], state[1 + (place + 30) % _LENGTH])
    return state
