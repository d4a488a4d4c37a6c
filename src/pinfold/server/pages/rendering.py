"""Templates filled in: nothing that was stored becomes markup, and nothing in it hides. Source: P23.

Every value that a template prints has its hidden characters spelled out (`visible`) and is escaped for HTML, without
the template's doing. Whatever takes a detour around that is a `Markup` of our own making.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pinfold import __version__
from pinfold.context.visible import counted, money, shorten, size_text, visible
from pinfold.server.pages.assets import LIBRARY, SCRIPT, STYLE, asset_text, source_of

_MOST_BLANKS = 8
"""How much more than is shown of a text is looked at: it may be megabytes, and blanks in it count once."""
_TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the environment of all pages; filters: `number`, `counted`, `money`, `size`, `shorten`, `when`."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(number="{:,}".format, counted=counted, money=money)
    made.filters.update(size=size_text, shorten=_short, when=_minute)
    return made


def _shown(value: object) -> object:
    """Return what is printed of a value: None is nothing, and only plain text can hide something."""
    if value is None:
        return ""
    return visible(value) if type(value) is str else value


def _short(text: str | None, max_chars: int) -> str:
    given, most = text or "", max_chars * _MOST_BLANKS
    return shorten(visible(given[:most] + "…" * (len(given) > most)), max_chars)


def _minute(at: str) -> Markup:
    """Return an instant of the log to the minute, as an element that machines can read."""
    return Markup('<time datetime="{}">{} {}</time>').format(
        visible(at), visible(at[:10]), visible(at[11:16])
    )


def render(template: str, facts: Mapping[str, Any]) -> str:
    """Return a page that a server serves: style and scripts are files beside it."""
    return environment().get_template(template).render(facts)


def render_file(template: str, facts: Mapping[str, Any]) -> str:
    """Return a page that is one file: style and scripts are within it, and its policy lets it load nothing else.

    The template extends `standalone.html`.
    """
    style, scripts = asset_text(STYLE), (asset_text(LIBRARY), asset_text(SCRIPT))
    policy = (
        f"default-src 'none'; style-src {source_of(style)}; script-src {' '.join(map(source_of, scripts))};"
        " base-uri 'none'; form-action 'none'"
    )
    inlined = {"policy": policy, "style": Markup(style), "scripts": tuple(map(Markup, scripts))}  # noqa: S704 - ours
    return environment().get_template(template).render({**facts, **inlined, "version": __version__})
