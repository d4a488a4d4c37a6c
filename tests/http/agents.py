"""Agents of a team that work on one project over HTTP, each over a connection that it keeps, and note what they do."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.faults.history import Diary
from tests.faults.lines import Answer, Call
from tests.faults.noting import ask, looked, pinning, saving, spilling
from tests.http.serving import JSON_HEADERS, bearer
from tests.server.peer import META, PATIENCE_S

_LOOKS = 20
PROJECT = "shop"


@dataclass
class Where:
    """Where the server listens now; it moves when another one takes its place."""

    port: int
    moved: threading.Condition = field(default_factory=threading.Condition)

    def move(self, port: int) -> None:
        with self.moved:
            self.port = port
            self.moved.notify_all()

    def await_other_than(self, port: int) -> None:
        """Wait until it listens elsewhere than at a port where nobody answers."""
        with self.moved:
            assert self.moved.wait_for(lambda: self.port != port, PATIENCE_S)


class Agent(threading.Thread):
    """Does its acts in order; what was not answered it asks again until it is, with the same key."""

    def __init__(self, where: Where, token: str, name: str, calls: int) -> None:
        super().__init__()
        self.diary = Diary(name)
        self.took: list[float] = []
        self.cut = 0
        self.failed: BaseException | None = None
        self._where = where
        self._token = token
        self._calls = calls
        self._line: http.client.HTTPConnection | None = None

    def run(self) -> None:
        """Pin, spill, search, look and save in turn."""
        try:
            for n in range(self._calls):
                self._act(n, f"{self.diary.worker} step {n}")
        except BaseException as error:
            self.failed = error
        finally:
            self._let_go()

    def together(self, calls: Sequence[Call]) -> list[Answer | None]:
        return [self._sent(call) for call in calls]

    def call(self, tool: str, **arguments: object) -> Answer:
        while (answer := self._sent(Call(tool, dict(arguments)))) is None:
            self.cut += 1
        return answer

    def _act(self, n: int, key: str) -> None:
        if n % 5 == 2:
            assert not self.call("search_history", query="decision of step").failed
        elif n % 5 == 3:
            self._look()
        else:
            writes = {0: pinning(key), 1: spilling(key, 500), 4: saving(key)}
            while (answer := ask(self, self.diary, [writes[n % 5]])[0]) is None:
                self.cut += 1
            assert not answer.failed, answer.text

    def _look(self) -> None:
        """Read all pins; anew where the server was killed meanwhile."""
        for _ in range(_LOOKS):
            if looked(self, self.diary):
                return
            self.cut += 1
        raise AssertionError("no look at all pins succeeded")

    def _sent(self, call: Call) -> Answer | None:
        port, began = self._where.port, time.perf_counter()
        try:
            told = self._exchange(port, call)
        except (OSError, http.client.HTTPException):
            self._let_go()
            self._where.await_other_than(port)
            return None
        self.took.append(time.perf_counter() - began)
        text = told["content"][0]["text"]
        return Answer(told.get("structuredContent", {}), text, told["isError"])

    def _exchange(self, port: int, call: Call) -> dict[str, Any]:
        if self._line is None:
            self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        params = {"_meta": META, "name": call.tool, "arguments": call.arguments}
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = JSON_HEADERS | bearer(self._token) | {"Mcp-Method": "tools/call", "Mcp-Name": call.tool}
        self._line.request("POST", f"/p/{PROJECT}/mcp", json.dumps(sent), headers)
        answer = self._line.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        result = json.loads(body)["result"]
        assert isinstance(result, dict)
        return result

    def _let_go(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.close()
            self._line = None
