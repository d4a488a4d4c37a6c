"""What a chart shows. The same figures always stand in a table beside it, for who cannot or would not look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pinfold.context.visible import shorten, visible

Tone = Literal["plain", "first", "second", "third", "fourth", "kept", "lost"]
"""A colour of the style sheet, which has one for light and one for dark."""

_LABEL_CHARS = 40


@dataclass(frozen=True, slots=True)
class Series:
    """Figures that belong together, one per label; None leaves a gap."""

    name: str
    values: Sequence[float | None]
    tone: Tone = "first"


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over the same labels. `links`, one per label, are where a click leads; `unit` is that of all values.

    `name` is the element's id, unique on its page; `title` says in a sentence what is seen.
    """

    name: str
    title: str
    labels: Sequence[str]
    series: tuple[Series, ...]
    kind: Literal["bar", "line"] = "bar"
    unit: str = ""
    is_stacked: bool = False
    links: Sequence[str] = ()

    @property
    def drawing(self) -> dict[str, Any]:
        """What the script reads, as JSON. Labels are those of `shown_labels`."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "stacked": self.is_stacked,
            "labels": self.shown_labels,
            "links": list(self.links),
            "series": [
                {"name": visible(each.name), "tone": each.tone, "values": list(each.values)}
                for each in self.series
            ],
        }

    @property
    def shown_labels(self) -> list[str]:
        """The labels, short and with nothing hidden in them."""
        return [shorten(visible(label), _LABEL_CHARS) for label in self.labels]
