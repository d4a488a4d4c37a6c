"""Keeps one server for a whole run of tests, until nobody holds the run's lock.

Run as a program with the lock's file. It prints the server's address once that answers, and waits for the lock, which
the system takes from a run however it ends.
"""

from __future__ import annotations

import fcntl
import sys
import tempfile
from pathlib import Path

from tests.postgres.cluster import Cluster, binaries


def main() -> None:
    """Keep a server until the lock is free."""
    programs = binaries()
    assert programs is not None
    with tempfile.TemporaryDirectory(prefix="pinfold-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = Cluster(folder, programs)
        try:
            cluster.start()
            print(cluster.address(), flush=True)
            with Path(sys.argv[1]).open() as users:
                fcntl.flock(users, fcntl.LOCK_EX)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
