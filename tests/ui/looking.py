"""Pages read inside of the test: the application without its gate, over a real store, and what stands in a page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser

import httpx2

from pinfold.server.reading_only import reading_only
from pinfold.server.ui.routes import application
from pinfold.store import Store
from pinfold.store.sqlite.store import open_store
from tests.server.person import Project


class Looking:
    """Somebody who looks at pages."""

    def __init__(self, client: httpx2.AsyncClient, store: Store) -> None:
        self._client = client
        self.store = store

    async def at(self, page: str, status: int = 200) -> Seen:
        answer = await self._client.get(f"/{page}")
        assert answer.status_code == status, answer.text
        return Seen(answer.text)


class Seen(HTMLParser):
    """What stands in a page: `text` all of it, `rows` of tables by cells, `links` by where they lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.text = ""
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.items: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._open.append(tag)
        if tag == "a":
            self.links.append(named["href"] or "")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            return
        self.text += data + " "
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] = " ".join(f"{self.rows[-1][-1]} {data}".split())
        if "li" in self._open:
            self.items[-1] += data


@asynccontextmanager
async def looking(project: Project) -> AsyncIterator[Looking]:
    """Open a project's store, and give somebody who looks at its pages."""
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    try:
        inside = httpx2.ASGITransport(application(reading_only(store)))
        async with httpx2.AsyncClient(transport=inside, base_url="http://127.0.0.1") as client:
            yield Looking(client, store)
    finally:
        await store.close()
