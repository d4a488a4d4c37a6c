"""What a client has to know of a project: its name, and the key of its redaction and its fences."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Introduction:
    """A project as its server introduces it, to whoever may read it. Source: docs/decisions/0018."""

    project: str
    key: bytes = field(repr=False)

    def line(self) -> bytes:
        """Return the line that ends the server's answer."""
        return b"result " + self.told() + b"\n"

    def told(self) -> bytes:
        """Return it as JSON."""
        return json.dumps({"project": self.project, "key": base64.b64encode(self.key).decode()}).encode()

    @classmethod
    def read(cls, told: bytes) -> Introduction:
        """Read what `told` returned; raises `ValueError` for anything else."""
        match json.loads(told):
            case {"project": str(project), "key": str(key)}:
                return cls(project, base64.b64decode(key, validate=True))
        raise ValueError("no introduction")
