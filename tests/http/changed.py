"""What a warm server does before all else, where a test needs it: shorter limits, writes that wait, spans."""

from __future__ import annotations

import json
import logging
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.util._decorator import _agnosticcontextmanager as agnosticcontextmanager

from pinfold.server.http import answering, connection, gate, serving
from pinfold.store.sql import pinning

PATIENCE_S = 20.0


def short_of_time() -> None:
    answering.SILENCE_S = 0.25
    connection.HEADER_S = 0.25
    serving.IDLE_S = 1


def short_of_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))


def short_of_room() -> None:
    """Let no file of this process be longer than 6 MiB, as on a disk that is full by then."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6 << 20, hard))


def short_of_connections() -> None:
    connection.MAX_CONNECTIONS = 4


def short_of_calls() -> None:
    gate.MAX_CALLS = 1
    held_pins()


def held_pins() -> None:
    """Have each pin say that it has begun, in its transaction, and wait for leave to go on."""
    whole = pinning._append

    def held(*given: Any, **named: Any) -> Any:
        place = Path(os.environ["HELD"])
        place.with_suffix(".begun").touch()
        wait_for(place.with_suffix(".let-go"))
        return whole(*given, **named)

    pinning._append = held


def broken() -> None:
    """Have each pin meet a bug that speaks of what it was about, and a library that does so too."""

    def fails(*given: Any, **named: Any) -> Any:
        logging.getLogger("some.library").error("failed on %s", given)
        raise RuntimeError(f"{given} {named}")

    pinning._append = fails


def traced() -> None:
    """Have spans written to the file that SPANS names."""
    trace.set_tracer_provider(_Provider())


class _Provider(trace.TracerProvider):
    def get_tracer(self, *_given: Any, **_named: Any) -> trace.Tracer:
        return _Tracer()


class _Tracer(trace.Tracer):
    def start_span(self, name: str, *given: Any, **named: Any) -> trace.Span:
        told = {"name": name, "given": repr(given), "named": repr(named)}
        with Path(os.environ["SPANS"]).open("a") as file:
            file.write(json.dumps(told) + "\n")
        return trace.INVALID_SPAN

    @agnosticcontextmanager
    def start_as_current_span(self, name: str, *given: Any, **named: Any) -> Iterator[trace.Span]:
        yield self.start_span(name, *given, **named)


def wait_for(place: Path) -> None:
    """Wait until there is a file."""
    ends = time.monotonic() + PATIENCE_S
    while not place.exists():
        assert time.monotonic() < ends, f"{place} never came"
        time.sleep(0.01)
