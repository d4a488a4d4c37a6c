"""Sessions and forks along the log, and what happened in one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from pinfold.server.pages.charts import Chart, Series, Tone
from pinfold.server.ui.looking import PAGE, Look, Page, part
from pinfold.server.ui.moments import Moment, moments
from pinfold.store.errors import NotFoundError
from pinfold.store.session_results import Session

LANE_HEIGHT = 29
_ROLES: tuple[tuple[str, Tone], ...] = (
    ("user", "first"),
    ("assistant", "second"),
    ("tool call", "third"),
    ("tool result", "fourth"),
)
_LEAST_WIDTH = 0.4
_LATE = 60


@dataclass(frozen=True, slots=True)
class Lane:
    """A session's place in the picture: percent of the width, pixels of the height.

    `thread` is where the event lies that it was forked from, in the same units, if that is in the picture.
    """

    session: Session
    top: int
    left: float
    width: float
    thread: tuple[float, int] | None

    @property
    def is_late(self) -> bool:
        """Whether its name has more room to the left of its end."""
        return self.left > _LATE


async def listing(look: Look) -> Page:
    """Show the sessions, newest first, and as a picture along the log."""
    found = await part(look.store.sessions, look, attrgetter("number"))
    drawn = list(lanes(found.shown))
    facts = {"sessions": found, "lanes": drawn, "height": LANE_HEIGHT * len(drawn) + 8}
    return Page("sessions.html", "Sessions", facts, "sessions")


def lanes(sessions: tuple[Session, ...]) -> Iterator[Lane]:
    """Yield a lane for each session, the first on top."""
    if not sessions:
        return
    first = min(session.seq for session in sessions)
    length = max(session.last_seq for session in sessions) - first + 1
    tops = {session.number: 4 + LANE_HEIGHT * place for place, session in enumerate(sessions)}
    for session in sessions:
        left = 100 * (session.seq - first) / length
        width = max(_LEAST_WIDTH, 100 * (session.last_seq - session.seq + 1) / length)
        thread = None
        if session.origin_seq is not None and session.origin_session in tops:
            thread = (100 * (session.origin_seq - first) / length, tops[session.origin_session])
        yield Lane(session, tops[session.number], round(left, 3), round(min(width, 100 - left), 3), thread)


async def one(look: Look) -> Page:
    """Show what happened in a session, oldest first, from behind the seq `after` on."""
    found = await look.store.sessions(look.number + 1, 1)
    if not found or found[0].number != look.number:
        raise NotFoundError(f"s{look.number}", "there is no such session", "The sessions are listed above.")
    session = found[0]
    after = look.whole("after") or 0
    events = await look.store.logged(after, session.number)
    shown = events[:PAGE]
    happened = moments(shown)
    facts = {
        "session": session,
        "moments": happened,
        "after": after,
        "later": shown[-1].seq if shown and shown[-1].seq < session.last_seq else None,
        "end": max(0, session.last_seq - PAGE),
        "charts": list(_chart(happened)),
    }
    return Page("session.html", f"Session s{session.number}", facts, "sessions", has_charts=True)


def _chart(happened: list[Moment]) -> Iterator[Chart]:
    counted = [moment for moment in happened if moment.tokens]
    if counted:
        pointers = [moment.pointer for moment in counted]
        series = tuple(
            Series(role, [moment.tokens if moment.what == role else None for moment in counted], tone)
            for role, tone in _ROLES
        )
        title = "Tokens of each entry on this page"
        yield Chart("tokens", title, pointers, series, unit="tokens", is_stacked=True, links=pointers)
