"""Every address there is: the pages by name, each pointer's page, and the files beside them."""

from __future__ import annotations

from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from pinfold import __version__
from pinfold.server.notes import note_failure
from pinfold.server.pages.assets import MEDIA_TYPES, asset_text
from pinfold.server.pages.rendering import render
from pinfold.server.ui import (
    artifacts,
    briefs,
    checkpoints,
    entries,
    folds,
    misses,
    overview,
    pins,
    searches,
    sessions,
)
from pinfold.server.ui.looking import NAME, Look, Page, Show
from pinfold.server.wording import for_person
from pinfold.store import Store
from pinfold.store.errors import DamagedError, InvalidInputError, NotFoundError, PinfoldError

NAMED: dict[str, Show] = {
    "": overview.show,
    "brief": briefs.show,
    "pins": pins.listing,
    "sessions": sessions.listing,
    "folds": folds.listing,
    "artifacts": artifacts.listing,
    "checkpoints": checkpoints.listing,
    "misses": misses.listing,
    "search": searches.show,
}
NUMBERED: dict[str, Show] = {
    "P": pins.one,
    "A": artifacts.one,
    "C": checkpoints.one,
    "H": entries.one,
    "F": folds.one,
    "S": misses.one,
    "s": sessions.one,
}
"""By the letter of a `NAME`."""

_TRIES = 3
_STATUS: dict[type[PinfoldError], int] = {NotFoundError: 404, InvalidInputError: 400, DamagedError: 500}


def application(store: Store) -> Starlette:
    """Return what is inside of the gate; `store` is one that can only be read."""
    files = [Route(f"/{name}", partial(_file, name)) for name in MEDIA_TYPES]
    pages = [Route(f"/{name}", partial(_answer, store, show, 0)) for name, show in NAMED.items()]
    return Starlette(routes=[*files, *pages, Route("/{name}", partial(_numbered, store))])


async def _file(name: str, _request: Request) -> Response:
    return Response(
        asset_text(name), headers={"Cache-Control": "private, max-age=3600"}, media_type=MEDIA_TYPES[name]
    )


async def _numbered(store: Store, request: Request) -> Response:
    found = NAME.fullmatch(request.path_params["name"])
    if found is None:
        return await _answer(store, _nowhere, 0, request)
    return await _answer(store, NUMBERED[found[1]], int(found[2]), request)


async def _nowhere(_look: Look) -> Page:
    raise NotFoundError(
        "This address", "there is no such page", "The navigation above leads to all there are."
    )


async def _answer(store: Store, show: Show, number: int, request: Request) -> Response:
    """Return a page, or a page that says why there is none; a bug is noted without anybody's values."""
    look = Look(store, number, request.query_params)
    try:
        page, seq = await settled(look, show)
        return HTMLResponse(_rendered(store, page, seq), page.status)
    except PinfoldError as error:
        status = _STATUS.get(type(error), 503)
        said = error.message if isinstance(error, NotFoundError) else for_person(str(error))
        page = Page("error.html", "Not to be shown", {"said": said}, status=status)
    except Exception as error:  # a bug must not end the server
        note_failure("a page", error)
        said = "This page failed inside pinfold; stderr says where."
        page = Page("error.html", "Failed", {"said": said}, status=500)
    return HTMLResponse(_rendered(store, page, None), page.status)


async def settled(look: Look, show: Show) -> tuple[Page, int | None]:
    """Return a page all of which is of one moment of the log, and that moment's seq.

    A page is made of several reads: where the log grew between the first and the last, it is made again, and where it
    still grows, the seq is None.
    """
    for _ in range(_TRIES):
        before = await look.store.log_end()
        page = await show(look)
        if await look.store.log_end() == before:
            return page, before.seq
    return page, None


def _rendered(store: Store, page: Page, seq: int | None) -> str:
    surroundings = {
        "project": store.project,
        "version": __version__,
        "title": page.title,
        "section": page.section,
        "has_charts": page.has_charts,
        "seq": seq,
    }
    return render(f"ui/{page.template}", {**surroundings, **page.facts})
