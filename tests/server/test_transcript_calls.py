from __future__ import annotations

import pytest

from pinfold.server.transcripts.calls import call, rendered
from pinfold.tools import TOOLS


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"command": "make test", "description": "Run the tests"}, "make test"),
        ({"cmd": "make test"}, "make test"),
        ({"command": ["bash", "-lc", "make test"]}, "make test"),
        ({"file_path": "/a.py", "old_string": "x\ny"}, "file_path: /a.py\nold_string: x\ny"),
        ({"limit": 3, "edits": [{"b": "ü"}]}, 'limit: 3\nedits: [{"b":"ü"}]'),
        ("*** Begin Patch", "*** Begin Patch"),
        ([1, 2], "[1,2]"),
        (None, ""),
    ],
)
def test_a_call_reads_as_a_person_would_write_it(given: object, text: str) -> None:
    assert rendered(given) == text


def test_the_files_of_a_call_are_those_it_names() -> None:
    assert call("Edit", {"file_path": "/a.py", "path": 5}).files == ("/a.py",)
    assert call("NotebookEdit", {"notebook_path": "/n.ipynb"}).files == ("/n.ipynb",)
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Add File: a.py\n*** Delete File: c.py\n"
    assert call("apply_patch", patch).files == ("a.py", "b.py", "c.py")
    assert call("Bash", {"command": "ls"}).files == ()


def test_pinfolds_tools_are_its_own_under_every_prefix_and_in_scripts() -> None:
    for tool in TOOLS:
        assert call(f"mcp__pinfold__{tool.name}", {}).own
        assert call(f"mcp__plugin_pinfold_pinfold__{tool.name}", {}).own
        assert not call(f"mcp__notes__{tool.name}", {}).own
        assert call("exec", f"text(await tools.mcp__pinfold__{tool.name}({{}}));").own
        assert not call(
            "exec", f"await tools.exec_command({{}}); await tools.mcp__pinfold__{tool.name}({{}})"
        ).own
    assert not call("exec", "text(1)").own


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("pinfold brief", True),
        ("uvx pinfold show A1", True),
        ("/usr/local/bin/uvx pinfold show A1", True),
        ("/home/a/.venv/bin/pinfold show A1#L1-9", True),
        ("'/home/a/it'\"'\"'s ours/bin/pinfold' search x", True),
        ('"C:/Program Files/bin/pinfold.exe" pins', True),
        ("python3 -m pinfold folds", True),
        ("/home/a/.venv/bin/pinfold run -- make", False),
        ("cat /home/a/pinfold/notes; pinfold show A1", False),
        ("pinfold run -- make", False),
        ("grep pinfold x", False),
    ],
)
def test_reading_the_store_from_a_shell_is_pinfolds_own(command: str, own: bool) -> None:
    assert call("Bash", {"command": command}).own is own
