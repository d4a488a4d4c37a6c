"""What the environment sets: where data lives, which project, which folders may be read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pinfold.server.limits import spill_tokens, whole_number
from pinfold.server.project import Project, resolve
from pinfold.store.errors import InvalidInputError, NotFoundError
from pinfold.store.values import MAX_ARTIFACT_BYTES

_SERVERS = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a process of pinfold is told from outside.

    `home` is the data directory (`PINFOLD_HOME`, default: the user's), `roots` the folders below which
    `spill_artifact` reads paths (the project's, then `PINFOLD_ROOTS`), `max_artifact_bytes` the largest
    artifact (`PINFOLD_MAX_ARTIFACT_BYTES`), `spill_tokens` how much output is long (`PINFOLD_SPILL_TOKENS`).
    `store` is the address of a store that is shared (`PINFOLD_STORE`, or `PINFOLD_URL` for a team's server, where
    `{project}` stands for the project's name), None for one that lies in a folder: the project's own below `home`, or
    `folder` (`PINFOLD_STORE` without `://`).
    """

    home: Path
    project: Project
    roots: tuple[Path, ...]
    max_artifact_bytes: int
    spill_tokens: int
    store: str | None = None
    folder: Path | None = None

    @property
    def address(self) -> str:
        """Where this project's store is, as `stores.open_by_address` takes it."""
        return self.store or str(self.store_folder)

    @property
    def store_folder(self) -> Path:
        """Where this project's store lies."""
        return self.folder or self.folder_at_home

    @property
    def folder_at_home(self) -> Path:
        """Where this project's store lies unless `PINFOLD_STORE` says otherwise."""
        return stores_folder(self.home) / self.project.folder_name

    @property
    def is_on_a_server(self) -> bool:
        """Whether the store is a team's server's."""
        return (self.store or "").startswith(_SERVERS)

    def own_folder(self) -> Path:
        """Return where this project's store lies on this machine; raises `InvalidInputError` for a shared one."""
        if self.store is not None:
            raise InvalidInputError(
                "This project's store is a shared one, and that is done where its files are.",
                "Ask who runs it; without PINFOLD_STORE and PINFOLD_URL the store of this machine is meant.",
            )
        return self.store_folder

    def existing_store(self) -> Path:
        """Return `own_folder`; raises `NotFoundError` when nothing has been kept for the project yet."""
        if not self.own_folder().exists():
            from pinfold.server.own_command import command_name

            raise NotFoundError(
                f"project {self.project.name} ({self.project.root})",
                "pinfold has kept nothing for it yet",
                f"A client's first prompt here makes a store, or {command_name()} import; PINFOLD_HOME and --project"
                f" choose another one. If there was a prompt: {command_name()} doctor shows whether the client reaches"
                " pinfold, and Codex asks in /hooks to trust it.",
            )
        return self.store_folder


def default_home() -> Path:
    """Return the user's data directory for pinfold, e.g. `~/.local/share/pinfold`."""
    from platformdirs import user_data_path

    return user_data_path("pinfold", appauthor=False)


def stores_folder(home: Path) -> Path:
    """Return where the stores of a data directory lie, a folder for each project."""
    return home / "projects"


def read_home(environment: Mapping[str, str] | None = None) -> Path:
    """Return the data directory: `PINFOLD_HOME`, else the user's. Raises `InvalidInputError`."""
    home = (os.environ if environment is None else environment).get("PINFOLD_HOME")
    return _path("PINFOLD_HOME", home) if home else default_home()


def project_folder(environment: Mapping[str, str]) -> Path:
    """Return the client's folder: `PINFOLD_PROJECT`, the client's own variable, else the working directory.

    Raises `InvalidInputError` when `PINFOLD_PROJECT` names no folder.
    """
    chosen = environment.get("PINFOLD_PROJECT")
    if chosen:
        folder = _path("PINFOLD_PROJECT", chosen)
        if not folder.is_dir():
            raise InvalidInputError(
                "PINFOLD_PROJECT names no folder.", "Set it to a project's folder, or unset it."
            )
        return folder
    return Path(environment.get("CLAUDE_PROJECT_DIR") or _working_folder(environment))


def _working_folder(environment: Mapping[str, str]) -> Path:
    """Return the working directory, or where it was when it (a worktree, say) was removed meanwhile."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(environment.get("PWD") or "/")


def _path(name: str, text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError:
        raise InvalidInputError(f"{name} begins with the home of an unknown user.", "Write it out.") from None


def read_settings(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings; `folder` overrides where the project is looked for.

    Raises `InvalidInputError` for a value that cannot be used.
    """
    environment = os.environ if environment is None else environment
    project = resolve(folder or project_folder(environment))
    roots = environment.get("PINFOLD_ROOTS", "").split(os.pathsep)
    store = _shared_store(environment, project.name)
    named = store is not None and "://" not in store
    return Settings(
        home=read_home(environment),
        project=project,
        roots=(project.root, *(_path("PINFOLD_ROOTS", root) for root in roots if root)),
        max_artifact_bytes=whole_number(
            environment, "PINFOLD_MAX_ARTIFACT_BYTES", MAX_ARTIFACT_BYTES, unit="bytes"
        ),
        spill_tokens=spill_tokens(environment),
        store=None if named else store,
        folder=_path("PINFOLD_STORE", str(store)) if named else None,
    )


def _shared_store(environment: Mapping[str, str], project: str) -> str | None:
    store, url = environment.get("PINFOLD_STORE"), environment.get("PINFOLD_URL")
    if store and url:
        raise InvalidInputError("PINFOLD_STORE and PINFOLD_URL both name a store.", "Unset one of them.")
    if not url:
        return store or None
    if not url.startswith(_SERVERS):
        raise InvalidInputError("PINFOLD_URL is no address of a server.", "It begins with https://.")
    return url.replace("{project}", _name_on_a_server(project)) if "{project}" in url else url


def _name_on_a_server(project: str) -> str:
    name = re.sub(r"[^a-z0-9._-]+", "-", project.casefold()).strip("-._")[:64]
    if not name:
        raise InvalidInputError(
            "A server's projects have names of a-z and 0-9, and this project's name has none of them.",
            "Write the project of the server into PINFOLD_URL in place of {project}.",
        )
    return name
