"""What all pages share: nothing stored becomes markup, and a page in a file needs nothing and lets nothing in."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, UndefinedError

from pinfold.server.pages import assets, rendering
from pinfold.server.pages.charts import Chart, Series
from tests.ui.browser import browser

ROOT = Path(__file__).parents[2]
_VERSION = "4.6.1"
_SHA256 = "87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2"
HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
CHART = Chart(
    "folds",
    f"Folds {HOSTILE}",
    ("F1", HOSTILE, "\u2028\u202eF3"),
    (Series("before", (164_000, 150_000, None)), Series(HOSTILE, (12_000, 9_000, 1), "second")),
    unit="tokens",
    links=("F1", "F2", "F3"),
)
_PAGE = (
    '{% extends "standalone.html" %}{% from "charts.html" import figure %}{% block title %}kept{% endblock %}'
    '{% block content %}<h1 id="{{ said }}">{{ said }}</h1>{{ figure(chart, "fold") }}{% endblock %}'
)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> str:
    """A page of one file that shows a hostile text and a chart of hostile names."""
    loader = DictLoader({"page.html": _PAGE})
    made = rendering.environment().overlay(loader=_Both(loader))
    monkeypatch.setattr(rendering, "environment", lambda: made)
    return rendering.render_file("page.html", {"said": HOSTILE, "chart": CHART})


class _Both(DictLoader):
    def __init__(self, first: DictLoader) -> None:
        folder = ROOT / "src/pinfold/server/pages/templates"
        super().__init__({**first.mapping, **{file.name: file.read_text() for file in folder.glob("*.html")}})


def test_chart_js_is_what_npm_has_under_this_version_and_its_license_is_told() -> None:
    text = assets.asset_text(assets.LIBRARY)
    assert hashlib.sha256(text.encode()).hexdigest() == _SHA256
    assert f"Chart.js v{_VERSION}\n" in text
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert f"Chart.js {_VERSION}" in notice
    assert "Copyright (c) 2014-2024 Chart.js Contributors" in notice


def test_what_a_template_prints_is_escaped_and_hides_nothing() -> None:
    made = rendering.environment().from_string('<a title="{{ said }}">{{ said }}</a>{{ nothing }}')
    told = made.render(said='"><b>\u202e\0\x1b[31m</b>', nothing=None)
    shown = "&#34;&gt;&lt;b&gt;\\u202e\\x00\\x1b[31m&lt;/b&gt;"
    assert told == f'<a title="{shown}">{shown}</a>'


def test_a_short_form_says_that_something_was_cut_off_whatever_that_was() -> None:
    short = rendering.environment().filters["shorten"]
    assert [
        short(text, 9) for text in ("as it is", "longer than that", f"a{' ' * 99}b", "字" * 99, None)
    ] == [
        "as it is",
        "longer t…",
        "a …",
        "字" * 8 + "…",
        "",
    ]


def test_a_template_that_asks_for_what_it_was_not_given_fails() -> None:
    with pytest.raises(UndefinedError):
        rendering.environment().from_string("{{ missing }}").render()


def test_a_page_in_a_file_lets_in_nothing_but_its_own_style_and_scripts(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = set(re.findall(r"sha256-[\w+/=]+", policy[1].replace("&#39;", "'")))
    inline = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.DOTALL)
    assert len(inline) == 3
    assert {assets.source_of(text).strip("'") for text in inline} == allowed
    assert policy[1].startswith("default-src &#39;none&#39;; ")
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert re.findall(r"<(?:link|img|iframe|script src)\b", outside) == []


def test_a_charts_figures_stand_in_a_table_as_well(page: str) -> None:
    cells = re.findall(r'<td class="n"[^>]*>(.*?)</td>', page)
    assert cells == ["164,000", "12,000", "150,000", "9,000", "", "1"]


def test_a_charts_script_reads_json_that_no_name_in_it_can_leave(page: str) -> None:
    told = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert len(told) == 1
    assert "<" not in told[0]
    drawing = json.loads(told[0])
    assert drawing["labels"] == ["F1", "</script><script>document.title='run'</…", "\\u2028\\u202eF3"]
    assert drawing["series"][0]["values"] == [164_000, 150_000, None]


def test_no_command_pays_for_the_pages_before_it_makes_one() -> None:
    loaded = "import sys; import pinfold.server.cli, pinfold.server.commands.reads, pinfold.server.app"
    tell = "print(sorted({'jinja2', 'markupsafe'} & set(sys.modules)))"  # the SDK brings along the web server
    done = subprocess.run(
        [sys.executable, "-c", f"{loaded}; {tell}"], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.full
def test_a_page_in_a_file_draws_its_chart_and_runs_and_loads_nothing_that_was_stored(
    page: str, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(page, "utf-8")
    with browser(tmp_path) as tab:
        tab.show(width=360, dark=True)
        tab.go(file.as_uri())
        drawn = "Chart.getChart(document.querySelector('canvas')).data.datasets.map((each) => each.data)"
        assert tab.value(drawn) == [[164_000, 150_000, None], [12_000, 9_000, 1]]
        assert tab.value("document.title") == "kept"
        assert tab.value("document.documentElement.scrollWidth") == 360
        assert (tab.requested, tab.complaints) == ([file.as_uri()], [])
