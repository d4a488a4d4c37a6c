"""The page of `pinfold rent`: what a transcript's prompt cache has cost, drawn."""

from __future__ import annotations

from pathlib import Path

from pinfold import __version__
from pinfold.context.lab.cost import Prices
from pinfold.context.lab.rent import Rent
from pinfold.server.commands.cost_charts import costs_of
from pinfold.server.pages.rendering import render_file


def rent_page(path: Path, paid: Rent, prices: Prices) -> str:
    """Return a self-contained page."""
    facts = {"path": str(path), "name": path.name, "version": __version__}
    return render_file("rent.html", facts | {"costs": costs_of(paid, prices), "prices": prices})
