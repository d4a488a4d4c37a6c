from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pinfold.store.errors import ReadOnlyError
from pinfold.store.sqlite import opening
from pinfold.store.sqlite.connection import Place
from pinfold.store.sqlite.filesystem import can_carry_wal, filesystem_type
from pinfold.store.sqlite.store import open_store
from tests.contract.acts import pin

TABLE = r"""22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:26 / /home rw - nfs4 server:/home rw,vers=4.2
31 30 259:2 / /home/anna rw shared:5 master:1 - ext4 /dev/nvme1n1 rw
32 22 0:30 / /mnt/my\040drive rw - 9p drive rw
33 22 0:31 / /mnt/grün€ rw - fuse.sshfs anna@host:/ rw
34 22 0:32 / /mnt/tab\011and\134slash rw - virtiofs share rw
35 22 0:33 / /twice rw - tmpfs tmpfs rw
36 35 0:34 / /twice rw - cifs //server/share rw
"""

WHERE = {
    "/etc": ("ext4", True),
    "/home/ben/.local/share": ("nfs4", False),
    "/home/anna/.local/share": ("ext4", True),
    "/home/annabel": ("nfs4", False),
    "/mnt/my drive/notes": ("9p", False),
    "/mnt/my": ("ext4", True),
    "/mnt/grün€/x": ("fuse.sshfs", False),
    "/mnt/tab\tand\\slash": ("virtiofs", False),
    "/twice/over": ("cifs", False),
}


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE, "utf-8")
    return table


@pytest.mark.parametrize("folder", WHERE)
def test_the_filesystem_of_a_folder_is_that_of_its_nearest_mount(mounts: Path, folder: str) -> None:
    found = (filesystem_type(Path(folder), mounts), can_carry_wal(Path(folder), mounts))
    assert found == WHERE[folder]


def test_a_linked_folder_lies_where_the_link_leads(mounts: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/home/ben")
    assert filesystem_type(link, mounts) == "nfs4"


def test_where_there_is_no_table_a_log_is_trusted(tmp_path: Path) -> None:
    assert filesystem_type(tmp_path, tmp_path / "none") == ""
    assert can_carry_wal(tmp_path, tmp_path / "none")


@pytest.mark.anyio
async def test_a_store_on_such_a_filesystem_is_made_without_write_ahead_log(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "can_carry_wal", lambda _: False)
    store = await open_store(place.folder, "demo")
    await pin(store, "kept without")
    assert (await store.status()).journal == "delete"
    assert not place.database.with_name("log.db-wal").exists()
    await store.close()
    again = await open_store(place.folder, "demo")
    assert (await pin(again, "and again")).pin.number == 2
    await again.close()


@pytest.mark.anyio
async def test_a_store_moved_onto_such_a_filesystem_is_read_and_not_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(place.folder, "demo")
    await pin(store, "made on a local disk")
    await store.close()
    monkeypatch.setattr(opening, "can_carry_wal", lambda _: False)
    store = await open_store(place.folder, "demo")
    assert (await store.status()).live_pins == 1
    with pytest.raises(ReadOnlyError, match="move it back to a local disk"):
        await pin(store, "not here")
    await store.close()
    with sqlite3.connect(place.database) as link:
        assert link.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    link.close()
