"""The page of `pinfold rent`: what a transcript's prompt cache has cost, drawn."""

from __future__ import annotations

from pathlib import Path

from pinfold.context.lab.rent import Rent
from pinfold.server.commands.cost_charts import costs_of
from pinfold.server.pages.rendering import render_file


def rent_page(path: Path, paid: Rent) -> str:
    """Return a self-contained page."""
    facts = {"path": str(path), "name": path.name, "costs": costs_of(paid)}
    return render_file("rent.html", facts)
