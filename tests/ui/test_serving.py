"""How `pinfold ui` begins and ends."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.server.person import Project, with_a_past
from tests.ui.served import WAIT_S, serving


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return with_a_past(tmp_path_factory.mktemp("ui") / "demo")


def test_its_first_line_is_the_address_and_a_signal_ends_it(project: Project) -> None:
    with serving(project.folder, project.home) as running:
        assert running.address == f"http://127.0.0.1:{running.port}/{running.token}/"
        assert len(running.token) == 43
        assert running.get("").status == 200
        assert running.end(signal.SIGTERM) == 128 + signal.SIGTERM
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", running.port), 5)


@pytest.mark.full
def test_to_be_interrupted_is_its_usual_end(project: Project) -> None:
    with serving(project.folder, project.home) as running:
        assert running.get("").status == 200
        assert running.end(signal.SIGINT) == 0
        assert running.running.stderr is not None
        assert running.running.stderr.read().splitlines()[-1] == "pinfold: ended."


@pytest.mark.full
def test_without_a_visit_it_ends_by_itself(project: Project) -> None:
    with serving(project.folder, project.home, "--idle", "0.02") as running:
        assert running.running.wait(WAIT_S) == 0
        assert running.running.stderr is not None
        assert "no visit for 0.02 minutes; ended" in running.running.stderr.read()


def test_a_port_that_is_taken_is_said(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = project.run("ui", "--no-open", "--port", str(port))
        assert refused.exit_code == 1
        assert f"Port {port} cannot be used: Address already in use. Name another one" in refused.stderr


@pytest.mark.full
def test_a_port_that_is_named_is_used(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(project.folder, project.home, "--port", str(port)) as running:
        assert running.port == port


def test_where_nothing_was_kept_it_says_so_and_makes_no_store(tmp_path: Path) -> None:
    project = Project(tmp_path / "new")
    refused = project.run("ui", "--no-open")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "pinfold has kept nothing for it yet" in refused.stderr
    assert not project.settings.store_folder.exists()


@pytest.mark.full
def test_a_visitor_who_asks_for_nothing_does_not_hold_up_its_end(project: Project) -> None:
    with (
        serving(project.folder, project.home) as running,
        socket.create_connection(("127.0.0.1", running.port), WAIT_S) as idle,
    ):
        idle.sendall(b"GET /half a requ")
        try:
            assert running.end(signal.SIGTERM) == 128 + signal.SIGTERM
        except subprocess.TimeoutExpired:
            pytest.fail("it waits for whoever says nothing")
