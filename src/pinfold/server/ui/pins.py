"""Pins: all of them, and one with its history."""

from __future__ import annotations

from operator import attrgetter

from pinfold.server.ui.looking import Look, Page, part
from pinfold.store.results import Fold, PinHistory


async def listing(look: Look) -> Page:
    """Show the pins, newest first, superseded ones too."""
    found = await part(look.store.pins, look, attrgetter("number"))
    return Page("pins.html", "Pins", {"pins": found}, "pins")


async def one(look: Look) -> Page:
    """Show a pin, what it replaced and what replaced it, and what each fold left of it."""
    found = await look.store.pin(look.number)
    chain = sorted((*found.others, found.pin), key=attrgetter("number"))
    survived = [(fold, _left(found, fold), fold.lost.get(look.number, ())) for fold in found.folds]
    facts = {"pin": found.pin, "chain": chain, "folds": survived}
    return Page("pin.html", f"{found.pin.pointer}, a {found.pin.kind.value.replace('_', ' ')}", facts, "pins")


def _left(found: PinHistory, fold: Fold) -> str:
    """Say how many of a pin's specifics a fold's summary still held."""
    present = fold.present.get(found.pin.number)
    if present is None:
        return ""
    return f"{present - len(fold.lost.get(found.pin.number, ()))} of {present}"
