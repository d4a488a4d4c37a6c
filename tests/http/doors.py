"""Everything that can be asked of the server: each tool, resource and prompt, each route, and a sample of each."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from pinfold.server.app import LISTED
from pinfold.server.http.open_stores import OpenStores
from pinfold.server.http.routes import behind_the_gate
from pinfold.store import Store
from pinfold.tools import TOOLS
from pinfold.tools.tool import Limits

SAMPLES: dict[str, dict[str, Any]] = {
    "pin_decision": {"text": "zstd level 7", "why": "level 3 left 41 GB"},
    "spill_artifact": {"content": "a line\n" * 40, "label": "a log"},
    "fetch_pointer": {"pointer": "P1"},
    "search_history": {"query": "zstd"},
    "checkpoint_state": {"goal": "smaller blocks"},
}
"""One call of each tool. A tool without a sample is a tool that no test of the gate knows."""

PARAMETERS = {"verb": "status"}


def requests() -> list[tuple[str, dict[str, Any]]]:
    """Return every request of the protocol that reads or writes, as (method, params)."""
    calls = [("tools/call", {"name": tool.name, "arguments": SAMPLES[tool.name]}) for tool in TOOLS]
    reads = [("resources/read", {"uri": f"pinfold://{name}"}) for name in (*LISTED, "P1", "A1", "C1", "S1")]
    lists: list[tuple[str, dict[str, Any]]] = [
        (f"{each}/list", {}) for each in ("tools", "resources", "resources/templates", "prompts")
    ]
    return [*calls, *reads, *lists, ("prompts/get", {"name": "resume"}), ("server/discover", {})]


def routes() -> list[tuple[str, str]]:
    """Return every route behind the gate, as (method, path)."""

    async def nothing_to_open(_project: str) -> Store:
        raise AssertionError

    found = behind_the_gate(OpenStores(nothing_to_open), Limits()).routes
    assert all(isinstance(route, Route) for route in found), "a route of a kind that is not looked at here"
    return [
        (method, route.path.format(**PARAMETERS))
        for route in found
        if isinstance(route, Route)
        for method in sorted(route.methods or {"GET"})
    ]
