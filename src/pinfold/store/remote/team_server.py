"""A team's server as its client sees it: asked for one verb at a time, by any number of threads.

What cannot double is asked again when the connection breaks; of a write whose answer was lost the caller is told so.
Source: P5, docs/decisions/0017.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPResponse
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from pinfold.store import Progress
from pinfold.store.errors import (
    InvalidInputError,
    PinfoldError,
    RefusedError,
    UnknownOutcomeError,
    UnreachableError,
)
from pinfold.store.remote.address import Address
from pinfold.store.remote.contract import Verb, verb
from pinfold.store.remote.introduction import Introduction
from pinfold.store.remote.link import BrokenError, Link, Patience, Question
from pinfold.store.remote.machine import Machine
from pinfold.store.remote.parts import Outgoing
from pinfold.store.remote.replies import KIND, CutOffError, read_answer

T = TypeVar("T")
_TOKEN_HINT = "Set PINFOLD_TOKEN, or PINFOLD_TOKEN_FILE; who runs the server makes one: pinfold token add."  # noqa: S105
_URL_HINT = "Look at PINFOLD_URL: https://HOST/p/PROJECT."
_REFUSALS = {
    401: ("it knows no such token, or it has been revoked or has expired", _TOKEN_HINT),
    403: ("this token may not do that", "Ask who runs the server for one that may."),
    404: ("there is no such project for this token", _URL_HINT),
    405: ("there is no such project for this token", _URL_HINT),
    413: ("that is more than it takes", "Keep a part of it."),
    421: ("it does not go by that name", "Look at PINFOLD_URL, or let its operator allow the name."),
} | dict.fromkeys(
    (301, 302, 303, 307, 308), ("it sends callers elsewhere, and no token goes along", _URL_HINT)
)
_NONE_GIVEN = ("it asks for a token, and none is set", _TOKEN_HINT)


class TeamServer:
    """One project of a team's server. `patience.whole_s` counts from the moment at which this is made."""

    def __init__(self, address: Address, machine: Machine, patience: Patience) -> None:
        self.address = address
        self.machine = machine
        self._patience = patience
        self._deadline = None if patience.whole_s is None else time.monotonic() + patience.whole_s
        self._idle: list[Link] = []
        self._is_closed = False

    def introduction(self) -> Introduction:
        """Ask what the project is; raises `UnreachableError`, `RefusedError`, and is closed then."""
        try:
            return self._introduction()
        except BaseException:
            self.close()
            raise

    def _introduction(self) -> Introduction:
        return self._asked(
            Question("/store"), lambda answer: read_answer(Introduction.read, answer), again=True
        )

    def ask(self, name: str, given: tuple[Any, ...], progress: Progress | None = None) -> Any:
        """Carry out one verb on the server and return what it gave.

        Raises what the store there raises, `UnreachableError`, `RefusedError`, and of a write whose answer was lost
        `UnknownOutcomeError`.
        """
        asked = verb(name)
        return self.deliver(asked, self.question(asked, given), progress)

    def question(self, asked: Verb, given: tuple[Any, ...]) -> Question:
        """Return the request for a verb with these arguments, under this machine's names."""
        parts = Outgoing()
        try:
            text = asked.arguments.dump_json(self.machine.told(asked.name, given), context=parts)
        except PydanticSerializationError:
            raise InvalidInputError(
                f"What {asked.name} was given holds half of a surrogate pair.", "Leave it out."
            ) from None
        return Question(f"/store/{asked.name}", text + b"\n", parts.blocks, parts.size_bytes)

    def deliver(self, asked: Verb, question: Question, progress: Progress | None = None) -> Any:
        """Send a request that `question` made; see `ask`."""
        read = partial(_result, asked)
        gave = self._asked(
            question, lambda answer: read_answer(read, answer, progress), again=asked.is_repeatable
        )
        return self.machine.heard(gave)

    def _asked(self, question: Question, read: Callable[[HTTPResponse], T], *, again: bool) -> T:
        def checked(answer: HTTPResponse) -> T | PinfoldError:
            if answer.status != 200:
                return self._refusal(answer.status, again=again)
            if answer.headers.get_content_type() != KIND:
                return self._no_pinfold(again=again)
            try:
                return read(answer)
            except PinfoldError as error:  # an answer as good as any other: the connection stays
                return error
            except ValueError:
                return self._no_pinfold(again=again)

        outcome = self._answered(question, checked, again=again)
        if isinstance(outcome, PinfoldError):
            raise outcome
        return outcome

    def _answered(self, question: Question, read: Callable[[HTTPResponse], T], *, again: bool) -> T:
        try:
            return self._sent(question, read)
        except BrokenError as error:
            is_silent = isinstance(error.__cause__, TimeoutError)
            if is_silent or not (again and error.was_sent and self._has_time()):
                raise self._lost(error, again=again) from error
        try:
            return self._sent(question, read)
        except BrokenError as error:
            raise self._lost(error, again=True) from error

    def _has_time(self) -> bool:
        return self._deadline is None or time.monotonic() < self._deadline

    def _sent(self, question: Question, read: Callable[[HTTPResponse], T]) -> T:
        link = self._idle.pop() if self._idle else Link(self.address, self._patience, self._deadline)
        try:
            return link.ask(question, read)
        except CutOffError:
            raise BrokenError("the connection was cut", was_sent=True) from None
        finally:
            if self._is_closed:  # meanwhile: whoever asked was cancelled
                link.close()
            else:
                self._idle.append(link)

    def _lost(self, error: BrokenError, *, again: bool) -> PinfoldError:
        if error.was_sent and not again:
            return UnknownOutcomeError(f"{self.address} was asked, and then: {error}")
        return UnreachableError(str(self.address), str(error))

    def _no_pinfold(self, *, again: bool) -> PinfoldError:
        """Return what to make of an answer that no pinfold gives, such as a proxy's page."""
        if not again:
            return UnknownOutcomeError(f"{self.address} gave an answer that is none of pinfold's")
        return RefusedError(str(self.address), "what answers there is no pinfold", _URL_HINT)

    def _refusal(self, status: int, *, again: bool) -> PinfoldError:
        if status == 401 and not self.address.token:
            return RefusedError(str(self.address), *_NONE_GIVEN)
        if status in _REFUSALS:
            return RefusedError(str(self.address), *_REFUSALS[status])
        if status >= 500 and status != 503 and not again:
            return UnknownOutcomeError(f"{self.address} answered with HTTP status {status}")
        return UnreachableError(str(self.address), f"HTTP status {status}")

    def close(self) -> None:
        """Let go of all connections; what is asked still goes on to its end. Idempotent."""
        self._is_closed = True
        while self._idle:
            with suppress(OSError):
                self._idle.pop().close()


def _result(asked: Verb, told: bytes) -> Any:
    try:
        return asked.result.validate_json(told)[0]
    except ValidationError:
        raise PinfoldError(
            f"The team's server gave an answer to {asked.name} that this pinfold does not understand.",
            "One of the two is older than the other: bring both up to one version.",
        ) from None
