"""The clients' modules, and plans for them as this user, in this environment."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Protocol, cast

from pinfold.server.install.entries import Registration, Scope
from pinfold.server.install.place import Launch, Place
from pinfold.server.install.plan import Planner
from pinfold.server.install.receipts import Receipts
from pinfold.server.settings import Settings

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
    return Planner(name, scope, registration, Receipts(settings.home))
