"""The protocol's own conformance suite against a running server: all that does not ask for tools made for it.

A check that the suite itself calls untestable without such a tool is not counted; what it could test has to pass.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients import programs
from tests.http.serving import Served, served

pytestmark = [pytest.mark.clients, pytest.mark.timeout(600)]

GENERIC = {
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "resources-list",
        "prompts-list",
        "caching",
        "http-header-validation",
        "dns-rebinding-protection",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "input-required-result-missing-input-response",
    ),
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ),
}
SCENARIOS = [(revision, scenario) for revision, names in GENERIC.items() for scenario in names]

Checks = dict[tuple[str, str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def node() -> Path:
    """Node 22, which the suite needs: the one of the PATH, or where there is none the package's."""
    found = shutil.which("node")
    if found and int(re.sub(r"^v(\d+).*", r"\1", _printed([found, "--version"]))) >= 22:
        programs.install((programs.CONFORMANCE,))
        return Path(found)
    if sys.platform != "linux":
        pytest.skip("the conformance suite needs Node 22 on the PATH")
    programs.install((programs.CONFORMANCE, programs.NODE))
    return programs.NODE.binary()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("conformance")) as running:
        yield running


@pytest.fixture(scope="module")
def checks(node: Path, server: Served, tmp_path_factory: pytest.TempPathFactory) -> Checks:
    """Every check of every scenario, by revision and scenario."""
    found: Checks = {}
    for revision in GENERIC:
        folder = tmp_path_factory.mktemp(revision)
        url = f"http://127.0.0.1:{server.port}/mcp"
        asked = ("server", "--url", url, "--requirements", revision, "-o", str(folder))
        print(_printed([str(node), str(programs.CONFORMANCE.binary()), *asked]))
        for place in folder.glob("server-*/checks.json"):
            scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", place.parent.name)
            found[revision, scenario] = json.loads(place.read_bytes())
    return found


@pytest.fixture(scope="module", autouse=True)
def _in_reach() -> None:
    try:
        programs.install((programs.CONFORMANCE,))
    except programs.OutOfReachError as missing:
        pytest.skip(f"the conformance suite is not here: {missing}")


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_the_server_passes_what_can_be_asked_of_any_server(
    checks: Checks, revision: str, scenario: str
) -> None:
    made = checks[revision, scenario]
    failed = [check for check in made if check["status"] == "FAILURE"]
    assert [check for check in failed if not check.get("details", {}).get("untestable")] == []
    assert [check["id"] for check in made if check["status"] == "SUCCESS"] != []


def _printed(command: list[str]) -> str:
    """Return what a command prints; the suite's exit status counts what no server of ours could pass, too."""
    return subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
