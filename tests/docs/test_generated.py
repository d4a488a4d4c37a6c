from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import DOCS, PAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_what_the_code_gives(path: Path) -> None:
    assert path.read_text("utf-8") == PAGES[path](), "run `make docs`"


def test_every_link_between_documents_leads_somewhere() -> None:
    broken = []
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_decision_is_listed() -> None:
    listed = (DOCS / "decisions" / "README.md").read_text("utf-8")
    missing = [page.name for page in (DOCS / "decisions").glob("0*.md") if page.name not in listed]
    assert missing == []


def test_every_file_that_the_architecture_names_exists() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    named = re.findall(r"`((?:server|tools|context|store)/[\w./]+)`", text)
    assert named
    assert [name for name in named if not (ROOT / "src" / "pinfold" / name).exists()] == []
