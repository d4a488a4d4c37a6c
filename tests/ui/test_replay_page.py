"""The pages that replay and rent write: they draw what the table says, load nothing, run nothing that was stored."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pinfold.context.lab.replayed import Replayed, Sent
from pinfold.server.cli import main
from pinfold.server.commands.replay_page import MOST_POINTS, request_charts
from tests.server.replays import HOSTILE, Talk, usage, week
from tests.ui.browser import Page, browser

CHARTS = {
    "replay": ["requests", "lost", "won", "kinds", "days", "anew"],
    "rent": ["kinds", "days", "anew"],
}
DRAWN = """Object.fromEntries([...document.querySelectorAll("figure.chart")].map((figure) => {
    const canvas = figure.querySelector("canvas");
    const { width, height } = canvas, inked = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const shown = Chart.getChart(canvas).data.datasets.map((each) => each.data);
    return [figure.querySelector("figcaption").id.replace("-title", ""), [shown, inked.some((each) => each > 0)]];
}))"""
TICKS = """Chart.getChart(document.querySelector("figure[aria-labelledby={name}-title] canvas"))
    .scales.y.ticks.map((each) => each.label)"""
CUT = """[...document.querySelectorAll("body *")].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width > 1 && !each.closest(".skip, .unseen, thead") && (box.right > innerWidth + 1 || box.left < -1);
}).map((each) => each.outerHTML.slice(0, 80))"""


def _run(command: str, path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, [command, str(path), *options])


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Named so that its name is hostile as well, as far as a file's may be."""
    folder = tmp_path / "<script>hit()<"
    folder.mkdir()
    return week(days=3, turns=12).written(folder / "week.jsonl")


def _page(command: str, transcript: Path) -> tuple[Path, dict[str, Any]]:
    page = transcript.parent.parent / f"{command}.html"
    how = ("--tokens", "estimate") if command == "replay" else ()
    done = _run(command, transcript, "--json", "--html", str(page), *how)
    assert done.exit_code == 0, done.output
    facts: dict[str, Any] = json.loads(done.stdout)
    assert facts["page"] == str(page)
    return page, facts


class _Tags(HTMLParser):
    """All tags of a page with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("command", ["replay", "rent"])
def test_nothing_stored_becomes_markup_and_nothing_is_named_to_load(command: str, transcript: Path) -> None:
    page = _page(command, transcript)[0].read_text("utf-8")
    assert "&lt;script&gt;hit()" in page
    tags = _Tags()
    tags.feed(page)
    attributes = {name for _, given in tags.found for name in given}
    assert not {name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style")}
    assert {given["href"] for _, given in tags.found if "href" in given} == {"#content"}
    assert not {tag for tag, _ in tags.found} & {"img", "iframe", "link", "object", "embed", "form", "base"}
    scripts = [given.get("type") for tag, given in tags.found if tag == "script"]
    assert scripts == ["application/json"] * len(CHARTS[command]) + [None, None]
    assert not re.search("[\u2028\u202e]", page)


def test_what_a_fold_lost_is_shown_to_the_letter_with_nothing_hidden(transcript: Path) -> None:
    page, facts = _page("replay", transcript)
    named = facts["folds"]["client"][0]["loss"]["named"]
    assert HOSTILE in named
    shown = re.findall(r'<code class="stored">(.*?)</code>', page.read_text("utf-8"), re.DOTALL)
    assert (
        "&lt;/script&gt;&lt;script&gt;hit()&lt;/script&gt;&lt;img src=x onerror=hit()&gt;\\u2028\\u202e${hit()}"
        in shown
    )
    assert len([part for part in shown if part]) == sum(
        len(each["loss"]["named"]) for each in facts["folds"]["client"]
    )


def test_the_tables_say_what_was_counted(transcript: Path) -> None:
    page, facts = _page("replay", transcript)
    text = page.read_text("utf-8")
    days = re.findall(r'data-label="read">([\d,]+)<', text)
    assert days == [f"{day['read']:,}" for day in facts["cost"]["days"]]
    cells = re.findall(r'data-label="(raw|client|projected|reported)">([\d,]*)<', text)
    first = [int(shown.replace(",", "")) for _, shown in cells[:4]]
    assert first == [facts["steps"][0][kind] for kind in ("raw", "client", "projected", "reported")]
    assert f"<b>{facts['totals']['projected']:,}</b> as projected" in text
    assert f"<b>{facts['totals']['raw'] / 1e6:.1f} M</b> tokens, raw" in text
    assert f"{facts['totals']['raw']:,} raw, {facts['totals']['client']:,} as the client folded" in text
    assert "<b>3 → 0</b>" in text


def test_many_requests_share_points_and_the_largest_of_each_is_drawn() -> None:
    sent = tuple(Sent(None, number, 10_000 - number, 5) for number in range(1_000))
    found = Replayed(fixed=0, budget=1, sent=sent)
    [chart] = request_charts(found)
    raw, client, projected = (list(each.values) for each in chart.series)
    assert len(chart.labels) == len(raw) <= MOST_POINTS
    assert (chart.labels[0], chart.labels[-1]) == ("1–5", "996–1,000")
    assert (raw[0], client[0], raw[-1], client[-1]) == (4, 10_000, 999, 10_000 - 995)
    assert set(projected) == {5}
    assert chart.title.endswith("; each point is the largest of 5 requests")
    dwarfed = Replayed(fixed=0, budget=1, sent=(Sent(None, 400, 100, 90), Sent(None, 401, 133, 90)))
    whole, rest = request_charts(dwarfed)
    assert [each.name for each in whole.series] == ["raw", "client", "projected"]
    assert [each.name for each in rest.series] == ["client", "projected"]


def test_a_page_never_takes_the_place_of_a_file_unless_it_is_told_to(transcript: Path) -> None:
    page = transcript.parent / "page.html"
    page.write_text("mine")
    refused = _run("replay", transcript, "--html", str(page))
    assert (refused.exit_code, "is there already; nothing was written." in refused.stderr) == (1, True)
    assert page.read_text() == "mine"
    forced = _run("rent", transcript, "--html", str(page), "--force")
    assert (forced.exit_code, f"Page: {page}" in forced.stderr) == (0, True)
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert page.stat().st_mode & 0o777 == 0o600


def test_a_page_is_whole_or_not_there_and_never_among_the_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk()
    talk.user("Nobody answers.")
    path, page = talk.written(tmp_path / "t.jsonl"), tmp_path / "page.html"
    for command in ("replay", "rent"):
        assert _run(command, path, "--html", str(page)).exit_code == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.jsonl"]
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    inside = tmp_path / "home" / "projects" / "page.html"
    refused = _run("replay", path, "--html", str(inside), "--force")
    assert (refused.exit_code, "lies among the stores" in refused.stderr) == (1, True)


@pytest.mark.full
def test_small_amounts_have_axes_of_their_size_and_no_two_labels_alike(tmp_path: Path) -> None:
    talk = Talk()
    for _ in range(3):
        talk.waits(hours=1)
        talk.begins()
        talk.says("So it is.", usage(5, 0, 9_000, 10))
    page = tmp_path / "rent.html"
    assert _run("rent", talk.written(tmp_path / "t.jsonl"), "--html", str(page)).exit_code == 0
    with browser(tmp_path) as tab:
        _shown(tab, page, width=1_000, dark=False)
        assert tab.value(TICKS.format(name="anew")) == ["0", "0.01", "0.02", "0.03", "0.04"]
        for name in CHARTS["rent"]:
            labels = tab.value(TICKS.format(name=name))
            assert len(labels) == len(set(labels)) > 2


@pytest.mark.full
@pytest.mark.parametrize("command", ["replay", "rent"])
def test_a_browser_draws_every_plot_and_asks_for_nothing(
    command: str, transcript: Path, tmp_path: Path
) -> None:
    page, facts = _page(command, transcript)
    with browser(tmp_path) as tab:
        for width, dark in ((1_280, False), (360, True)):
            _shown(tab, page, width=width, dark=dark)
            drawn = tab.value(DRAWN)
            assert list(drawn) == CHARTS[command]
            assert [name for name, (_, is_inked) in drawn.items() if not is_inked] == []
            assert (
                tab.value("typeof hit + document.images.length + document.title.startsWith('Re')")
                == "undefined0true"
            )
        days = facts["cost"]["days"] if command == "replay" else facts["days"]
        paid = [sum(kinds) for kinds in zip(*drawn["days"][0], strict=True)]
        assert paid == pytest.approx([day["dollars"] for day in days], abs=1e-3)
        tab.show(width=360, script=False)
        tab.go(page.as_uri())
        assert tab.value("document.querySelectorAll('figure details[open] tbody tr').length") > len(days)
        assert set(tab.requested) == {page.as_uri()}
        assert tab.complaints == []


def _shown(tab: Page, page: Path, *, width: int, dark: bool) -> None:
    tab.show(width=width, dark=dark)
    tab.go(page.as_uri())
    assert tab.value("document.documentElement.scrollWidth") == width
    assert tab.value(CUT) == []
