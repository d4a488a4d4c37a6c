"""The clients' modules, and plans for them as this user, in this environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Any, Protocol, cast

from pinfold.server.install import files
from pinfold.server.install.entries import (
    Entry,
    Member,
    Registration,
    Scope,
    Target,
    UnfitTextError,
    address_in,
)
from pinfold.server.install.place import TOKEN_VARIABLE, Launch, Place
from pinfold.server.install.plan import Planner
from pinfold.server.install.receipts import Receipts
from pinfold.server.install.trees import find
from pinfold.server.settings import Settings

_TOKEN = f"Set {TOKEN_VARIABLE} where the client is started from: no file holds the token."
_MODULES = {"claude": "claude_code.registration", "codex": "codex.registration"}


class Client(Protocol):
    """What a client's module offers."""

    TITLE: str
    PROGRAM: str

    def folder(self, place: Place) -> Path:
        """Return its configuration folder."""

    def registration(self, place: Place, launch: Launch) -> Registration:
        """Return what is to stand in its files."""


def client_named(name: str) -> Client:
    """Return the module of one of `CLIENTS`."""
    module = _MODULES.get(name, name.replace("-", "_"))
    return cast(Client, import_module(f"pinfold.server.clients.{module}"))


def is_here(name: str) -> bool:
    """Say whether a client has its folder or its program on this machine."""
    client = client_named(name)
    place = Place("user", Path.home(), Path.cwd(), os.environ)
    return client.folder(place).is_dir() or which(client.PROGRAM) is not None


def planner(name: str, scope: Scope, settings: Settings, launch: Launch) -> Planner:
    """Return what plans for one client. Raises `InvalidInputError` for a scope that it does not have."""
    place = Place(scope, Path.home(), settings.project.root, os.environ)
    registration = client_named(name).registration(place, launch)
    if launch.url:
        registration = replace(registration, next_steps=(*registration.next_steps, _TOKEN))
    return Planner(name, scope, registration, Receipts(settings.home))


def planner_as_registered(name: str, scope: Scope, settings: Settings, launch: Launch) -> Planner:
    """Return what plans to install a client as it is now: over HTTP where its server's entry names an address."""
    made = planner(name, scope, settings, launch)
    address = next(filter(None, map(_address, made.registration.targets)), None)
    if address is None:
        return made
    return planner(name, scope, settings, replace(launch, url=address.removesuffix("/mcp")))


def _address(target: Target) -> str | None:
    members = (found for entry, found in present(target) if isinstance(entry, Member))
    return next(map(address_in, members), None)


def present(target: Target) -> Iterator[tuple[Entry, Any]]:
    """Yield each entry of a file, and what stands in its place; nothing of a file that cannot be read as what it is."""
    content = files.read(target.path).content or b""
    try:
        tree = target.syntax.read(content.decode("utf-8-sig"))
    except (UnfitTextError, UnicodeDecodeError):
        return
    for entry in target.entries:
        yield entry, find(tree, entry.path)
