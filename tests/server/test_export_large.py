"""An export of much takes no more memory than one of little."""

from __future__ import annotations

import random
from pathlib import Path

import anyio
import pytest

from pinfold.store.sqlite.store import open_store
from tests.contract.acts import say, spill_blocks
from tests.server.person import Project
from tests.store.children import ended

MEBIBYTE = 1024 * 1024

EXPORTING = """
import re, sys
from pathlib import Path
from pinfold.server.cli import main
main(["export", "--project", sys.argv[1], "--output", sys.argv[2], "--format", sys.argv[3]], standalone_mode=False)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def _peak(project: Project, file: Path, form: str) -> int:
    """Return the most memory that an export took, in KiB. Of a child, `getrusage` tells its parent's as well."""
    done = ended(EXPORTING, project.folder, file, form, before=("env", f"PINFOLD_HOME={project.home}"))
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


async def _keep(project: Project, mebibytes: int, messages: int) -> None:
    draw = random.Random(mebibytes)
    store = await open_store(project.settings.store_folder, project.settings.project.name)
    await spill_blocks(store, (draw.randbytes(MEBIBYTE) for _ in range(mebibytes)), label=f"{mebibytes}")
    for n in range(messages // 500):
        await say(store, *(f"{n} {k} {'word ' * 100}" for k in range(500)))
    await store.close()


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc to tell a peak")
def test_an_export_of_sixty_mebibytes_takes_the_memory_of_one(tmp_path: Path) -> None:
    project = Project(tmp_path / "app")
    anyio.run(_keep, project, 1, 500)
    little = {form: _peak(project, tmp_path / f"little.{form}", form) for form in ("jsonl", "markdown")}
    anyio.run(_keep, project, 60, 10_000)
    much = {form: _peak(project, tmp_path / f"much.{form}", form) for form in ("jsonl", "markdown")}
    print(f"peak of little {little}, of much {much}, in KiB")
    assert (tmp_path / "much.jsonl").stat().st_size > 80 * MEBIBYTE
    assert (tmp_path / "much.markdown").stat().st_size > 4 * MEBIBYTE
    assert {form for form in much if much[form] - little[form] > 16 * 1024} == set()
