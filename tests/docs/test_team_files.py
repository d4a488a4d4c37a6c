"""The files beside docs/team.md: each is taken by the program that it is for, and brings up a server that serves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.team_page import FILES, PATIENCE_S, ROOT, UNIT, Machine, free_port
from tests.http.serving import JSON_HEADERS, bearer, run, served
from tests.server.peer import META

NAME = "pinfold.example.com"
EXPOSURE = "20"
"""Tenths: 0 is a unit that can do nothing, 96 one without any line on this."""


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here")
    return found


def _analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [_program("systemd-analyze"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_systemd_takes_the_unit_and_finds_little_that_it_may_do(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("/opt/pinfold/bin/pinfold", sys.executable))
    verified = _analyzed("verify", str(unit))
    if "systemd instance" in verified.stderr or "cgroup" in verified.stderr:
        pytest.skip(f"systemd-analyze cannot verify here: {verified.stderr.strip()}")
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = _analyzed("security", "--offline=yes", f"--threshold={EXPOSURE}", str(unit))
    assert judged.returncode == 0, judged.stdout[-300:] + judged.stderr


def test_the_unit_serves_once_there_is_a_token(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert "Assertion failed" in machine.run("systemctl start pinfold 2>&1 || true").stdout
    machine.run(f"PINFOLD_HOME={machine.home} pinfold token add anna --project shop")
    machine.run("systemctl start pinfold")
    assert _status(machine.port, "/health", "127.0.0.1") == 200
    assert _status(machine.port, "/health", NAME) == 200
    assert _status(machine.port, "/health", "another.example.com") == 421
    machine.run("systemctl stop pinfold")
    with pytest.raises(ConnectionRefusedError):
        _status(machine.port, "/health", NAME)


def _status(port: int, path: str, host: str) -> int:
    line = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        line.request("GET", path, headers={"Host": host})
        return line.getresponse().status
    finally:
        line.close()


def _instructions(name: str) -> dict[str, str]:
    """Return the last of each instruction of the container file."""
    text = re.sub(r"\\\n", "", (FILES / "Containerfile").read_text("utf-8"))
    return dict(re.findall(rf"^({name}) (.*)$", text, re.M))


def test_the_image_has_all_that_pinfold_is_built_from() -> None:
    text = (FILES / "Containerfile").read_text("utf-8")
    copied = {word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M) for word in line.split()}
    build = (ROOT / "pyproject.toml").read_text("utf-8")
    needed = set(re.findall(r'"?(README\.md|LICENSE|NOTICE)"?', re.sub(r"(?m)^include = .*$", "", build)))
    assert copied == needed | {"pyproject.toml", "src"}
    assert all((ROOT / each).exists() for each in copied)


def test_the_container_serves_once_there_is_a_token(tmp_path: Path) -> None:
    command = [
        *json.loads(_instructions("ENTRYPOINT")["ENTRYPOINT"]),
        *json.loads(_instructions("CMD")["CMD"]),
    ]
    assert command == ["pinfold", "serve", "--http", "0.0.0.0:7463"]
    refused = run(tmp_path, *command[1:])
    assert (refused.returncode, "there is no token yet" in refused.stderr) == (1, True)
    added = _compose()["services"]["pinfold"]["command"]
    assert added[: len(command) - 1] == command[1:]
    with served(tmp_path, *added[len(command) - 1 :]) as server:
        token = server.token("anna", "shop")
        assert server.call(token, "shop", "fetch_pointer", pointer="brief").status == 200
        assert _healthy(server.port) == 0
    assert _healthy(server.port) == 1


def _healthy(port: int) -> int:
    """Run the health check of the composition against a port; return its exit status."""
    kind, python, *rest = _compose()["services"]["pinfold"]["healthcheck"]["test"]
    assert (kind, python) == ("CMD", "python")
    words = [word.replace(":7463", f":{port}") for word in rest]
    return subprocess.run(
        [sys.executable, *words], capture_output=True, timeout=PATIENCE_S, check=False
    ).returncode


def _compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FILES / "compose.yaml").read_text("utf-8"))
    return found


def test_the_composition_names_only_what_is_there() -> None:
    composed = _compose()
    services = composed["services"]
    assert set(services) == {"pinfold", "database", "proxy"}
    mounts = [mount.split(":") for service in services.values() for mount in service["volumes"]]
    assert {place for place, *_ in mounts if not place.startswith("./")} == set(composed["volumes"])
    assert all((FILES / place).exists() for place, *_ in mounts if place.startswith("./"))
    assert all(set(service.get("depends_on", ())) <= set(services) for service in services.values())
    build = services["pinfold"]["build"]
    assert (FILES / build["context"] / build["dockerfile"]).samefile(FILES / "Containerfile")
    secrets = set(re.findall(r"\$\{(\w+):\?", (FILES / "compose.yaml").read_text("utf-8")))
    assert secrets == {"POSTGRES_PASSWORD", "PINFOLD_PASSWORD"}
    assert services["proxy"]["environment"]["PINFOLD_UPSTREAM"] == "pinfold:7463"


@contextmanager
def _proxied(command: list[str], port: int, folder: Path) -> Iterator[None]:
    with (folder / "proxy.said").open("w") as said:
        proxy = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        ends = time.monotonic() + PATIENCE_S
        while not _listens(port):
            assert proxy.poll() is None, (folder / "proxy.said").read_text()
            assert time.monotonic() < ends
            time.sleep(0.02)
        yield
    finally:
        proxy.terminate()
        proxy.wait(PATIENCE_S)


def _listens(port: int) -> bool:
    with suppress(OSError):
        return bool(_status(port, "/health", NAME))
    return False


def _caddy(folder: Path, port: int, upstream: int) -> list[str]:
    text = (FILES / "Caddyfile").read_text("utf-8")
    plain = text.replace(f"\n{NAME} {{", f"\nhttp://{NAME}:{port} {{").replace(":7463}", f":{upstream}}}")
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + plain)
    return [_program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def _nginx(folder: Path, port: int, upstream: int) -> list[str]:
    text = (FILES / "nginx.conf").read_text("utf-8")
    plain = re.sub(r"^ *ssl_certificate.*\n", "", text, flags=re.M).replace(
        "listen 443 ssl", f"listen 127.0.0.1:{port}"
    )
    (folder / "site.conf").write_text(plain.replace(":7463", f":{upstream}"))
    rest = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{rest}include {folder}/site.conf;\n}}\n"
    )
    return [_program("nginx"), "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


@pytest.mark.parametrize("made", [_caddy, _nginx])
def test_calls_and_large_bodies_pass_the_proxy_as_configured(tmp_path: Path, made: Any) -> None:
    port = free_port()
    with served(tmp_path, "--allow-host", NAME) as server:
        token = server.token("anna", "shop")
        with _proxied(made(tmp_path, port, server.port), port, tmp_path):
            assert _called(port, token, "x" * 4_000_000) == 200
            assert _called(port, token + "x", "short") == 401


def _called(port: int, token: str, text: str) -> int:
    arguments = {"label": "log", "content": text}
    params = {"_meta": META, "name": "spill_artifact", "arguments": arguments}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    named = {"Host": NAME, "Mcp-Method": "tools/call", "Mcp-Name": "spill_artifact"}
    line = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        line.request("POST", "/p/shop/mcp", json.dumps(sent), JSON_HEADERS | bearer(token) | named)
        answer = line.getresponse()
        body = answer.read()
        assert answer.status != 200 or not json.loads(body)["result"]["isError"], body[:300]
        return answer.status
    finally:
        line.close()
