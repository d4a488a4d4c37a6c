"""Charts of what a prompt cache has cost: by kind and day, and what each resume wrote anew."""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.context.lab.rent import KINDS, Rent, Resume, dollars_by_kind
from pinfold.server.pages.charts import Chart, Series, Tone

MOST_RESUMES = 60
_TONES: dict[str, Tone] = {
    "plain": "second",
    "read": "third",
    "written": "first",
    "rewritten": "lost",
    "output": "fourth",
}


@dataclass(frozen=True, slots=True)
class Costs:
    """What a page shows of costs. `resumes` are the dearest, in order of time; `more` of them are left out."""

    paid: Rent
    kinds: Chart
    days: Chart
    anew: Chart
    resumes: tuple[Resume, ...]

    @property
    def more(self) -> int:
        """Resumes that are not shown."""
        return len(self.paid.resumes) - len(self.resumes)


def costs_of(paid: Rent) -> Costs:
    """Return the charts of what was paid."""
    dearest = sorted(paid.resumes, key=lambda each: each.dollars, reverse=True)[:MOST_RESUMES]
    shown = tuple(sorted(dearest, key=lambda each: each.at))
    return Costs(paid, _kinds(paid), _days(paid), _anew(shown), shown)


def _kinds(paid: Rent) -> Chart:
    spent = dollars_by_kind(paid.total, paid.prices)
    values = [_cents(spent[kind]) for kind in KINDS]
    return Chart(
        "kinds",
        "Dollars paid, by kind",
        KINDS,
        (Series("paid", values),),
        unit="$",
    )


def _days(paid: Rent) -> Chart:
    spent = [dollars_by_kind(each, paid.prices) for each in paid.days.values()]
    series = tuple(Series(kind, [_cents(each[kind]) for each in spent], _TONES[kind]) for kind in KINDS)
    return Chart(
        "days", "Dollars paid, by day (UTC) and kind", list(paid.days), series, unit="$", is_stacked=True
    )


def _anew(resumes: tuple[Resume, ...]) -> Chart:
    labels = [f"{each.at:%m-%d %H:%M}" for each in resumes]
    values = [_cents(each.dollars) for each in resumes]
    title = "Dollars paid at each resume, because the cache had run out"
    return Chart("anew", title, labels, (Series("written anew", values, "lost"),), unit="$")


def _cents(dollars: float) -> float:
    return round(dollars, 4)
