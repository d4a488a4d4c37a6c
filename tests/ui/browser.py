"""A real Chromium without a window, driven by its DevTools protocol over a pipe: no port, and it ends with us."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

WAIT_S = 30.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
)
Facts = dict[str, Any]


def chromium() -> str:
    """Return the browser's command; skips the test where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


@dataclass
class Page:
    """One tab. `requested` are the addresses that it asked for, `complaints` what its console says of errors."""

    _talk: _Talk
    session: str
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def call(self, method: str, **arguments: Any) -> Facts:
        return self._talk.call(method, arguments, self.session)

    def go(self, address: str) -> None:
        """Load an address and wait until everything on the page is there."""
        self._talk.forget()
        failed = self.call("Page.navigate", url=address).get("errorText")
        assert failed is None, failed
        self._talk.wait_for("Page.loadEventFired")

    def wait_for(self, event: str) -> None:
        """Wait for an event since the last address or key."""
        self._talk.wait_for(event)

    def value(self, expression: str) -> Any:
        """Return what an expression of JavaScript gives."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def show(self, *, width: int, height: int = 800, dark: bool = False, script: bool = True) -> None:
        """Set the window's size, the reader's taste, and whether scripts run."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        taste = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[taste])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def press(self, key: str, code: int) -> None:
        self._talk.forget()
        text = {"text": "\r"} if key == "Enter" else {}
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": code, **text}
        self.call("Input.dispatchKeyEvent", type="keyDown", **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def picture(self, file: Path) -> None:
        """Save the whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def heard(self, event: Facts) -> None:
        match event["method"], event["params"]:
            case "Network.requestWillBeSent", params:
                self.requested.append(params["request"]["url"])
            case "Runtime.exceptionThrown", params:
                self.complaints.append(str(params["exceptionDetails"]))
            case "Log.entryAdded", params if params["entry"]["level"] == "error":
                self.complaints.append(params["entry"]["text"])


class _Talk:
    """Calls and events over two pipes: JSON, each message ended by NUL."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._held = b""
        self._count = 0
        self._events: list[Facts] = []
        self.pages: list[Page] = []

    def call(self, method: str, arguments: Facts, session: str | None = None) -> Facts:
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": arguments}
        if session is not None:
            message["sessionId"] = session
        os.write(self._target, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self._hear(answer)
        assert "error" not in answer, (method, answer["error"])
        return dict(answer["result"])

    def forget(self) -> None:
        self._events.clear()

    def wait_for(self, method: str) -> Facts:
        while True:
            found = next((event for event in self._events if event["method"] == method), None)
            if found is not None:
                return found
            self._hear(self._next())

    def _hear(self, event: Facts) -> None:
        self._events.append(event)
        for page in self.pages:
            if event.get("sessionId") == page.session:
                page.heard(event)

    def _next(self) -> Facts:
        end = time.monotonic() + WAIT_S
        while b"\0" not in self._held:
            ready = select.select([self._source], [], [], max(0, end - time.monotonic()))[0]
            assert ready, "the browser said nothing in time"
            piece = os.read(self._source, 1024 * 1024)
            assert piece, "the browser is gone"
            self._held += piece
        message, _, self._held = self._held.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Run a browser whose profile lies in `folder`, and give a page of it; skips where there is no browser."""
    command = chromium()
    from_us, to_it = os.pipe()
    from_it, to_us = os.pipe()
    shell = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'  # it reads and writes fd 3 and 4
    running = subprocess.Popen(
        ["/bin/bash", "-c", shell, command, f"--user-data-dir={folder / 'profile'}", *_OPTIONS],
        pass_fds=(from_us, to_us),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_us)
    os.close(to_us)
    try:
        yield _page(_Talk(from_it, to_it))
    finally:
        os.close(to_it)
        running.terminate()
        running.wait(WAIT_S)
        os.close(from_it)


def _page(talk: _Talk) -> Page:
    targets = talk.call("Target.getTargets", {})["targetInfos"]
    target = next(each["targetId"] for each in targets if each["type"] == "page")
    session = talk.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
    page = Page(talk, session)
    talk.pages.append(page)
    for domain in ("Page", "Network", "Runtime", "Log"):
        page.call(f"{domain}.enable")
    return page
