"""Whether the clients on this machine can reach this pinfold: command, place of the store, hooks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pinfold.server.install import CLIENTS, files
from pinfold.server.install.entries import Item, Member, Scope, Target
from pinfold.server.install.known import client_named, planner_as_registered, present
from pinfold.server.install.listing import Standing, standings
from pinfold.server.install.place import Launch, find_launch
from pinfold.server.install.strict import hooks_off, unread
from pinfold.server.install.trees import MISSING
from pinfold.server.own_command import command_name
from pinfold.server.settings import Settings
from pinfold.store.errors import InvalidInputError
from pinfold.store.findings import Finding, bad, ok, warn

_HOME = "PINFOLD_HOME"


def registrations(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield how each client stands that is here, a line for each scope that pinfold is installed in."""
    try:
        launch = find_launch(environment)
    except InvalidInputError as error:
        yield bad("clients", error.message, error.hint)
        return
    found = [each for each in standings(settings, launch) if each.found or each.installed]
    for standing in found:
        yield from _client(standing, settings, launch)
    if not found:
        yield ok("clients", f"none of those that pinfold knows is here ({', '.join(CLIENTS)})")


def _client(standing: Standing, settings: Settings, launch: Launch) -> Iterator[Finding]:
    title = client_named(standing.client).TITLE
    again = f"{command_name()} install {standing.client}"
    if standing.fault:
        yield bad(title, standing.fault, "")
    elif not standing.installed:
        yield ok(title, "pinfold is not registered", f"If you want it there: {again}")
    for scope in standing.installed:
        advice = again + " --scope project" * (scope == "project")
        yield _scope(
            title,
            planner_as_registered(standing.client, scope, settings, launch).registration.targets,
            launch,
            (scope, advice),
        )


def _scope(title: str, targets: tuple[Target, ...], launch: Launch, told: tuple[Scope, str]) -> Finding:
    scope, advice = told
    subject = title if scope == "user" else f"{title}, this project"
    skipped = list(_said(targets, unread))
    if skipped:
        return bad(subject, " ".join(skipped), "Take them out.")
    unreachable = [fault for target in targets for fault in _unreachable(target)]
    if unreachable:
        return bad(subject, "; ".join(unreachable), advice)
    faults = [fault for target in targets for fault in _other(target, launch)]
    if faults:
        return warn(subject, "; ".join(faults), advice)
    switched_off = list(_said(targets, hooks_off))
    if switched_off:
        return warn(subject, " ".join(switched_off), "Take it out, unless it is meant so.")
    return ok(subject, "registered" + ", with hooks" * any(map(_hooks, targets)))


def _said(targets: tuple[Target, ...], caution: Callable[[Target, str], str]) -> Iterator[str]:
    """Yield why what stands in a client's files does nothing."""
    for target in targets:
        content = files.read(target.path).content
        said = caution(target, content.decode("utf-8-sig")) if content else ""
        if said:
            yield said


def _unreachable(target: Target) -> Iterator[str]:
    """Yield why the server, or a hook, cannot be started."""
    for entry, found in present(target):
        if isinstance(entry, Member) and entry.address is None:
            command = found.get("command") if isinstance(found, Mapping) else None
            program = command[0] if isinstance(command, list) and command else command
            if not isinstance(program, str) or shutil.which(os.path.expanduser(program)) is None:
                yield f"its command {program} is not there or cannot be run"


def _other(target: Target, launch: Launch) -> Iterator[str]:
    """Yield what is not as this pinfold would install it."""
    missing = old = 0
    for entry, found in present(target):
        if isinstance(entry, Member):
            yield from _member_faults(entry, found, launch)
        else:
            ours = [item for item in found if entry.owns(item)] if isinstance(found, list) else []
            missing += not ours
            old += bool(ours) and ours != [entry.value]
    if missing:
        yield f"{missing} of its hooks and permissions are missing"
    if old:
        yield f"{old} of its hooks are another version's, or lead elsewhere"


def _member_faults(entry: Member, found: Any, launch: Launch) -> Iterator[str]:
    if found is MISSING or not isinstance(found, Mapping):
        yield "its server is not registered"
        return
    environment = found.get(entry.env)
    home = environment.get(_HOME) if isinstance(environment, Mapping) else None
    if entry.address is None and home != launch.store:
        yield f"it keeps its memory in {home or 'the default place'}, not in {launch.store or 'the default place'}"
    elif entry.merged(found) != found:
        yield "its server is registered as another version does it"


def _hooks(target: Target) -> bool:
    return any(isinstance(entry, Item) and entry.path[0] == "hooks" for entry in target.entries)
