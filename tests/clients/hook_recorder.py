"""A hook that writes down what a client gave it: `python hook_recorder.py LOG`, the client's JSON on standard input."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    """Append one line; say nothing to the client."""
    payload = json.load(sys.stdin)
    transcript = Path(payload.get("transcript_path") or "")
    hook = {
        "payload": payload,
        "environment": dict(os.environ),
        "transcript_bytes": transcript.stat().st_size if transcript.is_file() else None,
    }
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(hook) + "\n")


main()
