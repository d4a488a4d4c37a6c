"""One process's service: the settings, the store behind them, and the desk that a call works at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Lock
from typing import Any

import anyio

from pinfold.server.ancestry import names_of_ancestors
from pinfold.server.app import Context, client_name
from pinfold.server.clients import identify
from pinfold.server.notes import note, note_failure
from pinfold.server.repository import head_of
from pinfold.server.settings import Settings
from pinfold.server.stores import open_store_of
from pinfold.store import Store
from pinfold.store.errors import PinfoldError
from pinfold.store.values import Actor, Caller
from pinfold.tools.files import Roots
from pinfold.tools.tool import Desk, Limits

READ_ON_S = 0.5


class Service:
    """Opens the store at the first call, so that a store in trouble never keeps the tools from being listed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # To read and close a file of the store would cost this process the locks that it holds there.
        self._roots = Roots(settings.roots, closed=settings.home)
        self._limits = Limits(artifact_bytes=settings.max_artifact_bytes)
        self._runs = names_of_ancestors()
        self._store: Store | None = None
        self._opening = anyio.Lock()
        self._reading = Lock()

    async def store(self) -> Store:
        """Return the open store; raises what `open_by_address` raises, and tries again at the next call."""
        if self._store is not None:  # without the lock, at which each call would go once around the loop
            return self._store
        async with self._opening:
            if self._store is None:
                self._store = await open_store_of(self.settings)
            return self._store

    async def desk(
        self,
        client: str,
        meta: Mapping[str, Any],
        actor: Actor = "agent",
        environment: Mapping[str, str] | None = None,
    ) -> Desk:
        """Return the surroundings of one call: the store, who calls, what may be read."""
        store = await self.store()
        name, conversation = identify(client, meta, os.environ if environment is None else environment)
        head, branch = head_of(self.settings.project)
        caller = Caller(name, conversation, actor, head, branch, self._runs)
        return Desk(store, caller, self._roots, self._limits)

    async def desk_of(self, ctx: Context) -> Desk:
        """Return the desk of a call as it came over stdio."""
        return await self.desk(client_name(ctx), ctx.meta or {})

    async def read_on(self, desk: Desk) -> None:
        """Take in what is new in the caller's transcript for about 200 ms; a search waits `READ_ON_S` at most.

        Where another process is writing, or a fold has to be audited, reading goes on behind the search's back.
        """
        if not self._reading.locked():
            with anyio.move_on_after(READ_ON_S):
                await anyio.to_thread.run_sync(self._read_on, desk, abandon_on_cancel=True)

    def _read_on(self, desk: Desk) -> None:
        """Read, unless another search does; on the thread, which a cancelled search may never have begun."""
        if self._reading.acquire(blocking=False):
            try:
                self._take_in(desk)
            finally:
                self._reading.release()

    def _take_in(self, desk: Desk) -> None:
        from pinfold.server.loop_store import LoopStore
        from pinfold.server.transcripts.current import read_on

        try:
            read_on(LoopStore(desk.store), desk.caller, os.environ)
        except (PinfoldError, OSError) as error:
            note(f"the transcript was not read: {error}")
        except Exception as error:  # a bug in reading must not keep anybody from what is stored
            note_failure("reading the transcript", error)

    async def close(self) -> None:
        """Let go of the store. Idempotent."""
        async with self._opening:
            if self._store is not None:
                store, self._store = self._store, None
                await store.close()
