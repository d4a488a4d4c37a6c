"""`pinfold copy`: between stores of every kind, in both directions, to the byte."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path

import anyio
import pytest

from pinfold.server.copying.places import destination_at, place_of, source_at
from pinfold.server.copying.sending import Sending
from pinfold.server.export.json_lines import json_lines
from pinfold.server.export.source import Source
from pinfold.server.stores import open_by_address
from pinfold.store import Store
from pinfold.store.errors import ConflictError, DamagedError, NotFoundError
from pinfold.store.forgetting import Forget
from pinfold.store.values import Pointer, PointerKind, Receipt
from tests.contract.acts import ANNA, find, pin, spill
from tests.server.copying import (
    LOG,
    NOISE,
    PERSON,
    a_project,
    a_team,
    another_log,
    at,
    bytes_of,
    copied,
    damage,
    every_kind,
    log_of,
    run,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a folder; no test changes it."""
    folder = tmp_path_factory.mktemp("past") / "store"
    at(folder, every_kind)
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One that a test may change."""
    at(tmp_path / "source", every_kind)
    return tmp_path / "source"


OTHERS = [pytest.param(kind, marks=pytest.mark.full) for kind in ("postgres", "http")]


@pytest.fixture(params=["sqlite", *OTHERS])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a store that is not there yet."""
    with new_place(request.param, tmp_path, tmp_path_factory) as found:
        yield found


@contextmanager
def new_place(kind: str, folder: Path, places: pytest.TempPathFactory) -> Iterator[str]:
    if kind == "http":
        with a_team(places) as address:
            yield address
    else:
        yield str(folder / "copy") if kind == "sqlite" else a_project(places)


async def _exported(store: Store) -> list[str]:
    """Return an export without its first line, which names the version of the store's file."""
    return [line async for line in json_lines(Source(store, await store.log_end()))][1:]


async def _views(store: Store) -> list[object]:
    return [
        await store.pins(None, 99),
        await store.artifacts(None, 99),
        await store.checkpoints(None, 99),
        await store.folds(None, 99),
        await store.misses(None, 99),
        asdict(await store.brief_state(ANNA)) | {"project": ""},
        {hit.pointer for hit in (await find(store, "jitter", limit=50)).hits},
        store.fence("text"),
    ]


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "http"])
def test_a_copy_has_the_digests_the_views_and_the_bytes_of_its_source(
    past: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, kind: str
) -> None:
    with new_place(kind, tmp_path, tmp_path_factory) as place:
        done = run(past, place, "--json")
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        events = at(past, log_of)
        assert (told["ok"], told["way"], told["events"], told["verified"]) == (
            True,
            "copied",
            len(events),
            True,
        )
        assert told["receipt"] == str(Receipt.of(events[-1].seq, events[-1].digest))
        assert at(place, log_of) == events
        assert at(place, _exported) == at(past, _exported)
        assert at(place, _views) == at(past, _views)
        assert at(place, bytes_of) == at(past, bytes_of)
        assert {LOG, NOISE} <= set(at(place, bytes_of).values())


def test_a_copy_of_a_copy_is_the_first_store_again(past: Path, place: str, tmp_path: Path) -> None:
    copied(past, place)
    copied(place, tmp_path / "back")
    assert at(tmp_path / "back", log_of) == at(past, log_of)
    assert at(tmp_path / "back", _views) == at(past, _views)
    assert at(tmp_path / "back", bytes_of) == at(past, bytes_of)


def test_a_copy_of_what_has_grown_goes_on_where_the_last_one_ended(source: Path, place: str) -> None:
    copied(source, place)
    before = len(at(source, log_of))
    at(source, lambda store: spill(store, b"later\n" * 9, label="later"))
    done = json.loads(run(source, place, "--json", "--no-verify").stdout)
    assert (done["events"], done["artifacts"], done["verified"]) == (1, 1, None)
    assert done["destination"] == {"events_before": before, "same_events": before}
    assert at(place, log_of) == at(source, log_of)
    again = json.loads(run(source, place, "--json", "--no-verify").stdout)
    assert (again["way"], again["ok"]) == ("nothing", True)


def test_what_was_forgotten_stays_forgotten_and_what_is_forgotten_since_goes(
    source: Path, place: str
) -> None:
    copied(source, place)
    assert "heliotrope" not in "".join(at(place, _exported))
    gone = Forget(PERSON, pointers=(Pointer(PointerKind.PIN, 2), Pointer(PointerKind.ARTIFACT, 2)))
    at(source, lambda store: store.forget(gone))
    done = copied(source, place)
    assert done.facts["forgotten"] > 2
    assert done.facts["scrub_owed"] is None
    assert at(place, log_of) == at(source, log_of)
    assert at(place, _views) == at(source, _views)
    assert NOISE not in at(place, bytes_of).values()
    report = at(place, lambda store: store.verify())
    assert report.problems == ()


def test_nothing_of_what_is_forgotten_since_is_left_in_the_files(source: Path, tmp_path: Path) -> None:
    at(source, lambda store: pin(store, "the code word is gillyflower"))
    copied(source, tmp_path / "copy")
    assert b"gillyflower" in _files(tmp_path / "copy")
    at(source, lambda store: store.forget(Forget(PERSON, match="gillyflower")))
    copied(source, tmp_path / "copy")
    assert b"gillyflower" not in _files(tmp_path / "copy")
    with closing(sqlite3.connect(tmp_path / "copy" / "log.db")) as db:
        assert {row[0] for row in db.execute("SELECT name FROM meta")} == {
            "project",
            "secret",
        }  # no scrub is owed


def _files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_a_destination_with_another_log_is_refused_and_stays(past: Path, place: str) -> None:
    at(place, another_log)
    before = at(place, log_of)
    done = run(past, place)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "none of its" in done.stderr
    assert "--join" in done.stderr
    assert at(place, log_of) == before


def test_one_that_went_on_otherwise_is_refused_with_how_far_they_are_the_same(
    source: Path, tmp_path: Path
) -> None:
    copied(source, tmp_path / "copy")
    same = len(at(source, log_of))
    at(source, lambda store: pin(store, "only in the source"))
    at(tmp_path / "copy", lambda store: pin(store, "only in the copy"))
    with pytest.raises(ConflictError, match=f"only the first {same} are the source's"):
        copied(source, tmp_path / "copy")


def test_a_changed_event_ends_the_copy_with_what_to_do(source: Path, tmp_path: Path) -> None:
    damage(source, "UPDATE event SET body = replace(body, 'half', 'whole') WHERE seq = 4")
    with pytest.raises(DamagedError, match=r"Event 4 of the source .* `pinfold verify`"):
        copied(source, tmp_path / "copy")
    assert at(tmp_path / "copy", log_of) == []


def test_a_damaged_artifact_ends_the_copy_behind_what_is_sound(source: Path, tmp_path: Path) -> None:
    seq = next(each.seq for each in at(source, lambda store: store.artifacts(None, 9)) if each.number == 2)
    damage(source, "UPDATE chunk SET packed = x'00' WHERE content = 2 AND start = 0")
    with pytest.raises(DamagedError, match=rf"A2 of the source \(event {seq}\) .* are in the destination"):
        copied(source, tmp_path / "copy")
    found = at(tmp_path / "copy", log_of)
    assert 0 < len(found) < seq
    assert found == at(source, log_of)[: len(found)]
    at(source, lambda store: store.forget(Forget(PERSON, pointers=(Pointer(PointerKind.ARTIFACT, 2),))))
    copied(source, tmp_path / "copy")
    assert at(tmp_path / "copy", log_of) == at(source, log_of)


def test_a_dry_run_makes_nothing_and_a_source_that_is_not_there_is_not_made(
    past: Path, tmp_path: Path
) -> None:
    done = run(past, tmp_path / "copy", "--dry-run")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-2:] == [
        f"to\t{tmp_path / 'copy'}, which would be made",
        f"would be copied\t{len(at(past, log_of))} events",
    ]
    with pytest.raises(NotFoundError, match="there is no store in it"):
        copied(tmp_path / "nowhere", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_source_without_any_event_is_told_and_no_copy_of_it_made(place: str, tmp_path: Path) -> None:
    at(tmp_path / "empty", log_of)
    done = run(tmp_path / "empty", place)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{tmp_path / 'empty'}: its log is empty." in done.stderr


def test_a_projects_folder_means_its_store(
    past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    (tmp_path / "app").mkdir()
    copied(past, tmp_path / "app")
    folders = list((tmp_path / "home" / "projects").iterdir())
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["app"]
    assert at(folders[0], log_of) == at(past, log_of)


def test_a_pipe_gets_a_line_for_each_fact(past: Path, tmp_path: Path) -> None:
    done = run(past, tmp_path / "copy")
    assert done.exit_code == 0, done.output
    names = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert names == ["from", "to", "copied", "both at", "verified"]


@pytest.mark.anyio
async def test_two_copies_at_once_make_one(past: Path, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(source_at(place_of(str(past))))
        target = place_of(str(tmp_path / "copy"))
        others = [
            await stack.enter_async_context(destination_at(target, "demo", makes=True)) for _ in range(2)
        ]
        end = await one.log_end()
        async with anyio.create_task_group() as both:
            for other in others:
                assert other is not None
                both.start_soon(Sending(one, other, 0, end).run)
        assert other is not None
        assert await log_of(other) == await log_of(one)
        assert (await other.verify()).problems == ()


@pytest.mark.anyio
async def test_what_is_forgotten_while_it_is_copied_goes_without_its_bytes(
    source: Path, tmp_path: Path
) -> None:
    one = await open_by_address(str(source), "demo")
    other = await open_by_address(str(tmp_path / "copy"), "demo")
    gone: list[object] = []

    class Forgetting(type(one)):  # type: ignore[misc]
        """Forgets the second artifact between the reading of its event and that of its bytes."""

        async def artifact_bytes(self, number: int, start: int, max_bytes: int) -> object:
            if number == 2 and not gone:
                gone.append(await self.forget(Forget(PERSON, pointers=(Pointer(PointerKind.ARTIFACT, 2),))))
            return await super().artifact_bytes(number, start, max_bytes)

    one.__class__ = Forgetting
    await Sending(one, other, 0, await one.log_end()).run()
    assert gone
    assert (await other.verify()).problems == ()
    assert NOISE not in (await bytes_of(other)).values()
    await one.close()
    await other.close()
