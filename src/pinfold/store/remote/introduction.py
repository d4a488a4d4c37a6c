"""What a client has to know of a project: its name, the key of its redaction and its fences, and what it may do."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Introduction:
    """A project as its server introduces it, to whoever may read it. Source: docs/decisions/0017."""

    project: str
    key: bytes = field(repr=False)
    may_write: bool = True

    def line(self) -> bytes:
        """Return the line that ends the server's answer."""
        return b"result " + json.dumps(self._told() | {"may_write": self.may_write}).encode() + b"\n"

    def told(self) -> bytes:
        """Return it as JSON, to be kept: without what the token may do, since the next one may do more."""
        return json.dumps(self._told()).encode()

    def _told(self) -> dict[str, object]:
        return {"project": self.project, "key": base64.b64encode(self.key).decode()}

    @classmethod
    def read(cls, told: bytes) -> Introduction:
        """Read what `told` returned, or `line` after its first word; raises `ValueError` for anything else."""
        match json.loads(told):
            case {"project": str(project), "key": str(key), **more}:
                return cls(project, base64.b64decode(key, validate=True), more.get("may_write") is not False)
        raise ValueError("no introduction")
