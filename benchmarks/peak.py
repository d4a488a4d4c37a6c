"""Run pinfold's command line; write its peak memory in bytes to a file: `peak.py FILE COMMAND…`."""

from __future__ import annotations

import atexit
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.memory import peak_bytes
from pinfold.server.cli import main

if __name__ == "__main__":
    report = Path(sys.argv[1])
    atexit.register(lambda: report.write_text(str(peak_bytes())))
    main(sys.argv[2:])
