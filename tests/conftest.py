"""What holds for all tests."""

from __future__ import annotations

import signal
from typing import Any

import pytest

_USUAL: dict[str, Any] = {
    "SIGHUP": signal.SIG_DFL,
    "SIGQUIT": signal.SIG_DFL,
    "SIGINT": signal.default_int_handler,
}


def pytest_configure(config: pytest.Config) -> None:
    """Begin with signals as they are usually heeded.

    A run under nohup, or one that a script put into the background, would hand its deafness on to every child.
    """
    for name, usual in _USUAL.items():
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
