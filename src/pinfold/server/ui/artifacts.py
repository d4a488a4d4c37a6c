"""Artifacts: all of them, and one by parts."""

from __future__ import annotations

from operator import attrgetter

from pinfold.server.ui.looking import Look, Page, part
from pinfold.server.ui.slices import hex_slice_of, slice_of
from pinfold.tools.body import ArtifactBody


async def listing(look: Look) -> Page:
    """Show the artifacts, newest first."""
    found = await part(look.store.artifacts, look, attrgetter("number"))
    return Page("artifacts.html", "Artifacts", {"artifacts": found}, "artifacts")


async def one(look: Look) -> Page:
    """Show an artifact's facts, its preview and a part of it."""
    artifact = await look.store.artifact(look.number)
    body = ArtifactBody(look.store, artifact)
    sliced = await (hex_slice_of(body, look) if body.is_binary else slice_of(body, look, artifact.pointer))
    facts = {"artifact": artifact, "slice": sliced, "is_binary": body.is_binary}
    return Page("artifact.html", f"{artifact.pointer}, an artifact", facts, "artifacts")
