"""The pages in a real browser: nothing stored runs or loads, the keyboard reaches all, narrow windows do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.person import with_a_past
from tests.ui.browser import Page, browser
from tests.ui.hostile import PAGES, hostile
from tests.ui.served import Served, serving

pytestmark = pytest.mark.full

_FOCUSABLE = "a[href], button, input, select, summary, [tabindex='0']"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory, tab: Page) -> Iterator[Served]:
    project = hostile(tmp_path_factory.mktemp("evil"))
    with serving(project.folder, project.home) as running:
        yield running


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, tab: Page) -> Iterator[Served]:
    project = with_a_past(tmp_path_factory.mktemp("ui") / "demo")
    with serving(project.folder, project.home) as running:
        yield running


@pytest.mark.parametrize("path", PAGES)
def test_what_is_stored_neither_runs_nor_loads_nor_breaks_the_page(
    tab: Page, evil: Served, path: str
) -> None:
    tab.requested.clear()
    tab.complaints.clear()
    tab.show(width=360)
    tab.go(evil.address + path)
    assert tab.value("document.title").endswith("· pinfold")
    assert tab.complaints == []
    assert [each for each in tab.requested if not each.startswith(evil.address)] == []
    assert tab.value(_FOREIGN) == []
    assert tab.value("document.documentElement.scrollWidth") == 360
    assert tab.value(_OVERFLOWING) == []
    tab.show(width=1280)
    assert tab.value(_OVERFLOWING) == []


def test_a_bug_of_ours_would_be_seen_by_the_test_above(tab: Page, evil: Served) -> None:
    """The markup that is stored, put into a page as it is: here the policy of the page is what stops it."""
    tab.go(f"{evil.address}P1")
    tab.complaints.clear()
    tab.requested.clear()
    tab.value(
        "document.body.insertAdjacentHTML('beforeend', document.querySelector('blockquote').textContent), 1"
    )
    tab.wait_for("Log.entryAdded")
    assert any("Content Security Policy" in each for each in tab.complaints)
    assert tab.value("document.title") != "ran"


def test_the_keyboard_reaches_everything_in_order_and_it_is_seen_where_one_is(
    tab: Page, plain: Served
) -> None:
    tab.show(width=1200)
    tab.go(f"{plain.address}folds")
    wanted = tab.value(
        f'[...document.querySelectorAll("{_FOCUSABLE}")].filter((e) => e.checkVisibility()).length'
    )
    for place in range(wanted):
        tab.press("Tab", 9)
        here = tab.value(
            f'[...document.querySelectorAll("{_FOCUSABLE}")].filter((e) => e.checkVisibility())'
            ".indexOf(document.activeElement)"
        )
        assert here == place
        assert tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        box = "document.activeElement.getBoundingClientRect()"
        assert tab.value(f"{box}.left >= 0 && {box}.right <= innerWidth && {box}.width > 0")


def test_the_first_link_skips_to_the_content_and_enter_follows(tab: Page, plain: Served) -> None:
    tab.go(f"{plain.address}pins")
    tab.press("Tab", 9)
    assert tab.value("document.activeElement.textContent") == "Skip to the content"
    tab.press("Enter", 13)
    assert tab.value("document.activeElement.id") == "content"
    tab.press("Tab", 9)
    assert tab.value("document.activeElement.textContent") == "P4"
    tab.press("Enter", 13)
    tab.wait_for("Page.loadEventFired")
    assert tab.value("location.pathname") == f"/{plain.token}/P4"


def test_charts_are_drawn_in_the_readers_colours_and_lead_to_the_folds(tab: Page, plain: Served) -> None:
    shades = []
    for dark in (False, True):
        tab.show(width=1200, dark=dark)
        tab.go(f"{plain.address}folds")
        drawn = "Chart.getChart(document.querySelector('canvas')).data.datasets"
        assert tab.value(f"{drawn}.map((each) => each.data)") == [[164_000], [12_000]]
        assert not tab.value("document.querySelector('figure details').open")
        shades.append(
            (tab.value(f"{drawn}[0].backgroundColor"), tab.value("getComputedStyle(document.body).color"))
        )
    assert shades[0][0] != shades[1][0]
    assert shades[0][1] != shades[1][1]


def test_without_scripts_all_is_read_as_tables(tab: Page, plain: Served) -> None:
    tab.show(width=1200, script=False)
    tab.go(f"{plain.address}folds")
    shown = "[...document.querySelectorAll('figure td')].filter((e) => e.checkVisibility()).map((e) => e.innerText)"
    assert tab.value(shown) == ["164,000", "12,000", "1", "3"]
    assert tab.value("document.querySelector('canvas').checkVisibility()") is False


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", ["", "pins", "P3", "F1", "s1", "C1"])
def test_words_stand_out_from_what_they_stand_on(tab: Page, plain: Served, path: str, *, dark: bool) -> None:
    """Contrast of at least 4.5 to 1, as WCAG 2 asks of text."""
    tab.show(width=1200, dark=dark)
    tab.go(plain.address + path)
    assert tab.value(_FAINT) == []


_FOREIGN = r"""
[...document.querySelectorAll("*")].filter((e) =>
  ["IFRAME", "OBJECT", "EMBED", "STYLE", "BASE"].includes(e.tagName)
  || [...e.attributes].some((a) => a.name.startsWith("on") || /^\s*javascript:/i.test(a.value))
  || (e.href && (e.href.baseVal ? /[:/]/.test(e.href.baseVal) : !e.href.startsWith(location.origin)))
  || (e.tagName === "FORM" && !e.action.startsWith(location.origin))
  || (e.tagName === "SCRIPT" && !e.src && e.type !== "application/json")
).map((e) => e.outerHTML.slice(0, 80))
"""

_OVERFLOWING = r"""
[...document.querySelectorAll("body *")].filter((e) =>
  !e.closest("svg, script, canvas, .unseen, thead") && e.checkVisibility() && !/^(INPUT|SELECT|OPTION)$/.test(e.tagName)
  && getComputedStyle(e).display !== "inline" && e.scrollWidth > e.clientWidth + 1
).map((e) => `${e.tagName} ${e.className} ${e.clientWidth} < ${e.scrollWidth} ${e.textContent.trim().slice(0, 30)}`)
"""

_FAINT = r"""
(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const under = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = [];
  for (const e of document.querySelectorAll("body *")) {
    const says = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!says || !e.checkVisibility() || e.closest("svg, script")) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(under(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${e.tagName} ${e.className} ${e.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return faint;
})()
"""
