"""One call of fetch_pointer, read: what is asked for, which part, how much, and what the next call is."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pinfold.tools.cursor import decode, encode
from pinfold.tools.fit import Room
from pinfold.tools.pointers import ByteRange, LineRange, Place, Target
from pinfold.tools.tool import Desk

_SPELLED_CHARS = 400


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of fetch_pointer. `part` is what the pointer or `lines` restrict it to."""

    desk: Desk
    target: Target
    room: Room
    part: LineRange | ByteRange | None = None
    match: str | None = None
    context: int = 0
    json_path: str | None = None
    given_cursor: str | None = None

    @property
    def call(self) -> str:
        """The canonical call without cursor and size: what a cursor is bound to."""
        whole = Place(self.target.pointer, self.part) if isinstance(self.target, Place) else self.target
        spelled = [f"pointer={json.dumps(str(whole))}"]
        if self.match is not None:
            spelled += [f"match={_quoted(self.match)}", f"context={self.context}"]
        if self.json_path is not None:
            spelled.append(f"json_path={_quoted(self.json_path)}")
        return f"fetch_pointer({', '.join(spelled)})"

    @property
    def at(self) -> int | None:
        """Where to go on; raises `InvalidInputError` for a cursor of another call."""
        return None if self.given_cursor is None else decode(self.given_cursor, self.call)

    @property
    def is_whole(self) -> bool:
        """Whether neither a part nor a continuation is asked for."""
        return self.part is None and self.given_cursor is None

    def next_cursor(self, at: int) -> str:
        """Return the cursor that goes on at `at`."""
        return encode(at, self.call)

    def next_call(self, at: int) -> str:
        """Return the exact call that goes on at `at`."""
        if len(self.call) > _SPELLED_CHARS:
            return f'the same call with cursor="{self.next_cursor(at)}"'
        return f'{self.call[:-1]}, cursor="{self.next_cursor(at)}")'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
