"""Serving over stdio: the wire first, then the parts, then the server, until the client ends it."""

from __future__ import annotations

from pathlib import Path


def serve_over_stdio(folder: Path | None) -> None:
    """Serve the project of `folder` (default: as the environment says) and return when the client is gone."""
    raise NotImplementedError
