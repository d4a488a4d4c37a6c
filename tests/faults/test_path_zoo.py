"""Paths that a caller may name, and what must happen to each: P22.

Inputs follow public advisories: a prefix twin (CVE-2025-53110), a link that points out (CVE-2025-53109), a
parent swapped for a link between check and use (GHSA-53mr-w429-c597), values like options (CVE-2025-68145),
`..` (CVE-2026-27735).
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pinfold.store.errors import InvalidInputError, NotFoundError, PinfoldError, TooLargeError
from pinfold.tools import files
from pinfold.tools.files import BLOCK_BYTES, Roots

LIMIT = 256 * 1024 * 1024
QUICKLY_S = 0.2
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file kinds")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with one file in it, a twin beside it whose name begins alike, and a secret outside."""
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "sub" / "log.txt").write_bytes(b"inside")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil" / "log.txt").write_bytes(b"outside")
    (tmp_path / "secret.txt").write_bytes(b"outside")
    return tmp_path / "root"


@pytest.fixture(params=["walked", "resolved"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of opening: by descriptors, and the one for systems without them."""
    way: str = request.param
    if way == "walked" and not files._WALKS:
        pytest.skip("no directory descriptors here")
    monkeypatch.setattr(files, "_WALKS", way == "walked")
    return way


def read(roots: Roots, path: str, max_bytes: int = LIMIT) -> tuple[str, int, bytes]:
    with roots.open(path, max_bytes) as file:
        return file.name, file.size_bytes, b"".join(file.blocks())


def refusal(roots: Roots, path: str, max_bytes: int = LIMIT) -> PinfoldError:
    """The error that a path gives, which must come quickly, on one line, and leave no descriptor open."""
    open_before = _descriptors()
    began = time.monotonic()
    with pytest.raises(PinfoldError) as caught:
        read(roots, path, max_bytes)
    assert time.monotonic() - began < QUICKLY_S
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    assert _descriptors() == open_before
    return caught.value


def _descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd")) if sys.platform == "linux" else set()


@pytest.mark.parametrize("spelling", ["sub/log.txt", "./sub/log.txt", "sub//log.txt", "sub/./log.txt"])
@pytest.mark.usefixtures("way")
def test_relative_path_is_read_below_the_first_root(root: Path, spelling: str) -> None:
    assert read(Roots([root]), spelling) == ("sub/log.txt", 6, b"inside")


@pytest.mark.usefixtures("way")
def test_absolute_path_below_any_root_is_read_and_named_from_that_root(root: Path) -> None:
    roots = Roots([root / "sub", root])
    (root / "top.txt").write_bytes(b"top")
    assert read(roots, str(root / "top.txt")) == ("top.txt", 3, b"top")
    assert read(roots, str(root / "sub" / "log.txt"))[2] == b"inside"


@posix
@pytest.mark.usefixtures("way")
def test_root_is_known_in_the_spelling_of_a_link_to_it(root: Path) -> None:
    spelled = root.parent / "spelled"
    spelled.symlink_to(root)
    assert read(Roots([root]), str(spelled / "sub" / "log.txt")) == ("sub/log.txt", 6, b"inside")
    assert read(Roots([spelled]), str(root / "sub" / "log.txt")) == ("sub/log.txt", 6, b"inside")


@posix
@pytest.mark.parametrize(
    "name",
    [
        "-rf",
        "--output=x",
        "~",
        "~root",
        "$HOME",
        "a\nb",
        " ",
        "a ",
        'a"',
        "a.",
        "é",
        "e\u0301",
        "日本",
        "%2e%2e",
    ],
)
@pytest.mark.usefixtures("way")
def test_odd_name_is_a_name_and_nothing_else(root: Path, name: str) -> None:
    (root / name).write_bytes(name.encode())
    assert read(Roots([root]), name) == (name, len(name.encode()), name.encode())


@posix
@pytest.mark.parametrize(
    "twin", ["log.txt ", "log.txt.", 'log.txt"', "Log.txt", "log.txt\n", "~/log.txt", "-log.txt"]
)
@pytest.mark.usefixtures("way")
def test_nearly_the_name_of_a_file_is_not_found(root: Path, twin: str) -> None:
    error = refusal(Roots([root / "sub"]), twin)
    assert isinstance(error, NotFoundError)
    assert "not expanded" in str(error)


@posix
@pytest.mark.usefixtures("way")
def test_composed_and_decomposed_names_are_two_files(root: Path) -> None:
    (root / "é.txt").write_bytes(b"composed")
    if (root / "e\u0301.txt").exists():
        pytest.skip("this file system takes them for one")
    assert isinstance(refusal(Roots([root]), "e\u0301.txt"), NotFoundError)


BAD_SPELLINGS = {
    "": "empty",
    "a\0b": "NUL",
    "\0": "NUL",
    "x" * 5000: "5,000 characters",
    "sub/": "slash",
    "sub/log.txt/": "slash",
    "../secret.txt": "`..`",
    "sub/../sub/log.txt": "`..`",
    "sub/../../secret.txt": "`..`",
    "..": "`..`",
    ".": "directory",
    "bad\udc80name": "Unicode",
}


@pytest.mark.parametrize("path", BAD_SPELLINGS, ids=lambda path: ascii(path[:20]))
@pytest.mark.usefixtures("way")
def test_spelling_that_cannot_be_a_file_is_refused_by_its_fault(root: Path, path: str) -> None:
    error = refusal(Roots([root]), path)
    assert isinstance(error, InvalidInputError)
    assert BAD_SPELLINGS[path] in error.message


@pytest.mark.usefixtures("way")
def test_absolute_path_outside_is_refused_even_where_its_text_begins_like_a_root(root: Path) -> None:
    for outside in (f"{root}-evil/log.txt", str(root.parent / "secret.txt"), f"{root}/../secret.txt"):
        error = refusal(Roots([root]), outside)
        assert isinstance(error, InvalidInputError)
        assert "outside" in error.message or "`..`" in error.message
    assert refusal(Roots([root]), f"{root}-evil/log.txt").hint == (
        "Give the path of a regular file below the project's root, "
        "or let the user add a folder to PINFOLD_ROOTS."
    )


@pytest.mark.usefixtures("way")
def test_name_that_is_too_long_for_the_file_system_is_not_found(root: Path) -> None:
    assert isinstance(refusal(Roots([root]), "n" * 300), NotFoundError)


def _link_to_file(place: Path) -> None:
    place.symlink_to(place.parent.parent / "secret.txt")


def _link_to_inside(place: Path) -> None:
    place.symlink_to(place.parent / "sub" / "log.txt")


def _dangling_link(place: Path) -> None:
    place.symlink_to("nowhere")


def _link_loop(place: Path) -> None:
    place.symlink_to(place.name)


def _hard_link(place: Path) -> None:
    os.link(place.parent.parent / "secret.txt", place)


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(place.parent)  # a socket's path must be short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place.name)
    finally:
        os.fchdir(here)
        os.close(here)


ANIMALS: dict[str, tuple[Callable[[Path], None], str]] = {
    "link to a file outside": (_link_to_file, "a link"),
    "link to a file inside": (_link_to_inside, "a link"),
    "dangling link": (_dangling_link, "a link"),
    "link to itself": (_link_loop, "a link"),
    "hard link to a file outside": (_hard_link, "2 hard links"),
    "pipe": (_pipe, "a pipe"),
    "socket": (_socket, "a socket"),
    "directory": (Path.mkdir, "a directory"),
}


@posix
@pytest.mark.parametrize("animal", ANIMALS)
@pytest.mark.usefixtures("way")
def test_anything_but_a_plain_file_is_refused_by_its_kind(root: Path, animal: str) -> None:
    make, kind = ANIMALS[animal]
    make(root / "it")
    error = refusal(Roots([root]), "it")
    assert isinstance(error, InvalidInputError)
    assert f"'it' {'has' if 'links' in kind else 'is'} {kind}" in error.message


@posix
@pytest.mark.parametrize("target", ["outside", "inside"])
@pytest.mark.usefixtures("way")
def test_directory_behind_a_link_is_refused(root: Path, target: str) -> None:
    (root / "way").symlink_to(root.parent / "root-evil" if target == "outside" else root / "sub")
    error = refusal(Roots([root]), "way/log.txt")
    assert isinstance(error, InvalidInputError)
    assert "link" in error.message


@pytest.mark.usefixtures("way")
def test_file_in_the_place_of_a_directory_is_refused(root: Path) -> None:
    assert isinstance(refusal(Roots([root]), "sub/log.txt/more"), InvalidInputError)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev and /proc as Linux has them")
@pytest.mark.parametrize(("place", "name"), [("/dev", "zero"), ("/dev", "full"), ("/dev", "tty")])
@pytest.mark.usefixtures("way")
def test_device_is_refused_without_being_opened(place: str, name: str) -> None:
    assert stat.S_ISCHR(os.stat(f"{place}/{name}").st_mode)
    assert "a device" in refusal(Roots([Path(place)]), name).message


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.usefixtures("way")
def test_generated_file_without_a_size_is_refused() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    assert "generated" in refusal(Roots([Path("/proc/self")]), "status").message


@pytest.mark.usefixtures("way")
def test_empty_file_is_read_as_nothing(root: Path) -> None:
    (root / "empty").touch()
    assert read(Roots([root]), "empty") == ("empty", 0, b"")


@posix
@pytest.mark.usefixtures("way")
def test_sparse_terabyte_is_too_large_by_its_size(root: Path) -> None:
    with (root / "huge").open("wb") as huge:
        huge.truncate(2**40)
    error = refusal(Roots([root]), "huge")
    assert isinstance(error, TooLargeError)
    assert (error.size, error.limit) == (2**40, LIMIT)


@pytest.mark.usefixtures("way")
def test_limit_is_the_largest_size_that_is_read(root: Path) -> None:
    assert read(Roots([root]), "sub/log.txt", 6)[2] == b"inside"
    assert isinstance(refusal(Roots([root]), "sub/log.txt", 5), TooLargeError)


@pytest.mark.usefixtures("way")
def test_blocks_are_at_most_a_mebibyte_and_make_up_the_file(root: Path) -> None:
    content = os.urandom(2 * BLOCK_BYTES + 17)
    (root / "big").write_bytes(content)
    with Roots([root]).open("big", LIMIT) as file:
        blocks = list(file.blocks())
    assert max(map(len, blocks)) <= BLOCK_BYTES
    assert b"".join(blocks) == content


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _shrink(path: Path) -> None:
    os.truncate(path, BLOCK_BYTES + 1)


def _rewrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"changed!")
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("change", [_grow, _shrink, _rewrite])
@pytest.mark.usefixtures("way")
def test_file_that_changes_while_it_is_read_is_refused_at_the_end(
    root: Path, change: Callable[[Path], None]
) -> None:
    (root / "log").write_bytes(b"x" * (2 * BLOCK_BYTES))
    with Roots([root]).open("log", LIMIT) as file:
        blocks = file.blocks()
        assert len(next(blocks)) == BLOCK_BYTES
        change(root / "log")
        with pytest.raises(InvalidInputError, match="changed while"):
            list(blocks)


@posix
@pytest.mark.usefixtures("way")
def test_file_deleted_while_it_is_read_is_read_to_its_end(root: Path) -> None:
    (root / "log").write_bytes(b"x" * (2 * BLOCK_BYTES))
    with Roots([root]).open("log", LIMIT) as file:
        blocks = file.blocks()
        first = next(blocks)
        (root / "log").unlink()
        assert first + b"".join(blocks) == b"x" * (2 * BLOCK_BYTES)


def _directory_becomes_a_link(root: Path) -> Path:
    (root / "sub").rename(root.parent / "away")
    (root / "sub").symlink_to(root.parent / "root-evil")
    return root / "sub"


def _file_becomes_a_link(root: Path) -> Path:
    (root / "sub" / "log.txt").unlink()
    (root / "sub" / "log.txt").symlink_to(root.parent / "secret.txt")
    return root / "sub" / "log.txt"


def _file_becomes_a_pipe(root: Path) -> Path:
    (root / "sub" / "log.txt").unlink()
    os.mkfifo(root / "sub" / "log.txt")
    return root / "sub" / "log.txt"


@pytest.mark.skipif(not files._WALKS, reason="needs directory descriptors")
@pytest.mark.parametrize(
    ("swap", "message"),
    [
        (_directory_becomes_a_link, "became a link"),
        (_file_becomes_a_link, "became a link"),
        (_file_becomes_a_pipe, "a pipe"),
    ],
)
def test_swap_between_look_and_open_is_noticed(
    root: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path], Path], message: str
) -> None:
    look, swapped = os.stat, list[Path]()
    last = "sub" if swap is _directory_becomes_a_link else "log.txt"

    def swap_behind_the_look(
        path: str | Path, *, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> os.stat_result:
        found = look(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == last and not swapped:
            swapped.append(swap(root))
        return found

    monkeypatch.setattr(os, "stat", swap_behind_the_look)
    error = refusal(Roots([root]), "sub/log.txt")
    assert len(swapped) == 1
    assert message in error.message


@posix
@pytest.mark.skipif(not files._WALKS, reason="the other way is documented as weaker")
def test_parent_swapped_for_a_link_again_and_again_never_gives_what_is_outside(root: Path) -> None:
    roots, seen = Roots([root]), {"read": 0, "refused": 0}
    deadline = time.monotonic() + 20
    with _swapping(root / "sub", root.parent / "root-evil"):
        while sum(seen.values()) < 200 or not all(seen.values()):
            assert time.monotonic() < deadline, f"the race never happened: {seen}"
            try:
                assert read(roots, "sub/log.txt")[2] == b"inside"
                seen["read"] += 1
            except PinfoldError:
                seen["refused"] += 1


@contextmanager
def _swapping(directory: Path, outside: Path) -> Iterator[None]:
    """While entered, a thread puts a link to `outside` in the place of `directory` and back without end."""
    over = threading.Event()

    def swap() -> None:
        away = directory.with_name("away")
        while not over.is_set():
            directory.rename(away)
            directory.symlink_to(outside)
            directory.unlink()
            away.rename(directory)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(5)
    assert not thread.is_alive()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


def test_home_and_file_system_and_missing_directories_are_no_roots(home: Path) -> None:
    roots = Roots([Path(home.anchor), home, home / "missing"])
    assert roots.usable == ()
    assert [root.why for root in roots.unusable] == [
        "is the whole file system",
        "is the home directory",
        "is not a directory",
    ]
    (home / "notes.txt").write_text("x")
    error = refusal(roots, "notes.txt")
    assert isinstance(error, InvalidInputError)
    assert "PINFOLD_ROOTS" in error.hint
    assert "whole file system" in error.message


def test_directory_below_home_is_a_root(home: Path) -> None:
    (home / "project").mkdir()
    (home / "project" / "a").write_bytes(b"a")
    assert read(Roots([home / "project"]), "a") == ("a", 1, b"a")


def test_without_any_root_the_caller_learns_how_to_set_one() -> None:
    assert "PINFOLD_ROOTS" in refusal(Roots([]), "a").hint


def test_root_that_was_removed_later_is_refused(root: Path) -> None:
    roots = Roots([root])
    root.rename(root.parent / "gone")
    assert isinstance(refusal(roots, "sub/log.txt"), PinfoldError)
