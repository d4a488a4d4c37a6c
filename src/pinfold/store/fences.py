"""Fences: lines around stored text that only the project can make. Source: P23."""

from __future__ import annotations

import hashlib
import hmac

FENCE_DIGITS = 16


def fence(secret: bytes, content: str) -> str:
    """Return the hex digits for `content`: the same each time, and not to be guessed without the secret."""
    digest = hmac.new(secret, content.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return digest.hexdigest()[:FENCE_DIGITS]
