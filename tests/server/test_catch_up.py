"""What is new in a transcript is found by a search in a real server, although no hook ever ran."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from backports import zstd

from tests.server.histories import Place, bodies, texts
from tests.server.peer import META, Answer, Peer, request, running, text_of
from tests.server.transcript_samples import CODEX, CODEX_AGENT, CODEX_FORK
from tests.server.written import SESSION, Written, transcript

PRINTED = "E   AssertionError: walrus_pool timed out after 977 ms"
QUERY = "walrus_pool timed out"
MOST_SEARCHES = 50
MIB = 1024 * 1024
BOUND_S = 0.5
"""What a search may take that has much to read: 0.2 s of it, what it began then, and the search itself."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Client:
    """A client that has begun a server and searches through it."""

    def __init__(self, peer: Peer, name: str) -> None:
        self.peer = peer
        self._about = {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}
        self._numbers = itertools.count(1)

    def search(self, query: str, **meta: str) -> list[Answer]:
        """Search; return the hits of an answer, which is no error."""
        given = {"name": "search_history", "arguments": {"query": query, "limit": 50}}
        meant = {**META, **self._about, **meta}
        answer = self.peer.ask(request(next(self._numbers), "tools/call", **given, _meta=meant))
        assert not answer["result"].get("isError"), text_of(answer)
        hits = answer["result"]["structuredContent"]["hits"]
        assert isinstance(hits, list)
        return hits

    def find(self, query: str, **meta: str) -> list[Answer]:
        """Search until something is found: on a slow machine little may be read each time."""
        searches = (self.search(query, **meta) for _ in range(MOST_SEARCHES))
        return next(hits for hits in searches if hits)


@contextmanager
def claude(place: Place) -> Iterator[Client]:
    known = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_PROJECT_DIR": str(place.project)}
    with running(place.command("serve"), **place.variables, **known) as peer:
        yield Client(peer, "claude-code")


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Place]]:
    """Codex hands its servers nothing but the home folder; each call names the thread."""
    place = Place(tmp_path_factory.mktemp("codex"))
    alone = {"PINFOLD_HOME": str(place.home), "HOME": str(place.folder)}
    with running(place.command("serve"), **alone) as peer:
        yield Client(peer, "codex-mcp-client"), place


def rollout(place: Place, name: str, content: bytes) -> Path:
    path = place.folder / ".codex" / "sessions" / "2026" / "11" / "30" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_what_the_test_printed_an_hour_ago_is_found_and_the_search_for_it_does_not_become_history(
    place: Place,
) -> None:
    talk = Written()
    own = "mcp__plugin_pinfold_pinfold__search_history"
    lines = [
        talk.runs("Bash", {"command": "pytest"}, PRINTED),
        talk.calls(own, {"query": QUERY}, "toolu_own"),
    ]
    path = transcript(place.folder, lines)
    with claude(place) as client:
        (hit,) = client.find(QUERY)
        assert hit["kind"] == "tool_results"
        assert "walrus_pool timed out after 977 ms" in hit["text"]
        with path.open("ab") as growing:
            growing.write(talk.results("toolu_own", f"1 hit for {QUERY}") + talk.says("Port 3000 it was."))
        assert client.find("port 3000")
    assert texts(place.events()) == ["pytest", PRINTED, "Port 3000 it was."]


def test_what_a_command_printed_is_found_in_codex(codex: tuple[Client, Place]) -> None:
    client, place = codex
    rollout(place, CODEX.name, CODEX.read_bytes())
    (hit,) = client.find('"echo before"', threadId=CODEX.stem[-36:])
    assert (hit["kind"], hit["text"]) == ("messages", "echo before")


def test_a_sub_agents_search_takes_in_nothing_of_its_exploration(codex: tuple[Client, Place]) -> None:
    client, place = codex
    path = rollout(place, CODEX_AGENT.name, CODEX_AGENT.read_bytes())
    client.search("look around", threadId=path.stem[-36:])
    assert "Look around." not in texts(place.events())


def test_a_search_does_without_a_transcript_that_cannot_be_read(codex: tuple[Client, Place]) -> None:
    client, place = codex
    packed = zstd.compress(CODEX_FORK.read_bytes() + os.urandom(MIB).hex().encode() + b"\n")
    path = rollout(place, f"{CODEX_FORK.name}.zst", packed[: len(packed) * 2 // 3])
    client.search("echo", threadId=path.name[-46:-10])
    client.peer.wait_for_note(b"the transcript was not read")
    client.search("echo", threadId=path.name[-46:-10])


def test_an_unread_transcript_is_taken_in_bit_by_bit_by_searches_that_answer(place: Place) -> None:
    path = unread(place, 16 * MIB)
    searched(place)
    with closing(place.store()) as store:
        mark = store.transcript_mark(str(path))
    assert mark is not None
    assert 0 < mark.offset < path.stat().st_size
    commands = [body["text"] for body in bodies(place.events()) if body["role"] == "tool_call"]
    assert commands == [f"step {number}" for number in range(len(commands))]


@pytest.mark.full
def test_a_search_with_200_megabytes_unread_answers_in_half_a_second(place: Place) -> None:
    unread(place, 200 * MIB)
    assert searched(place) < BOUND_S


def unread(place: Place, size_bytes: int) -> Path:
    talk = Written()
    row = "A line that some command printed, with a number: {}.\n" * 60
    lines = (talk.runs("Bash", {"command": f"step {n}"}, row.format(*[n] * 60)) for n in itertools.count())
    path = transcript(place.folder, [talk.says("Nothing yet.", "user")])
    with path.open("ab") as file:
        while file.tell() < size_bytes:
            file.write(next(lines))
    return path


def searched(place: Place) -> float:
    """Search three times, with more to be found each time; return the longest time that one took but the first."""
    counts, taken = [0], []
    with claude(place) as client:
        for _ in range(3):
            began = time.monotonic()
            client.search("Nothing yet")
            taken.append(time.monotonic() - began)
            counts.append(len(bodies(place.events())))
    assert counts == sorted(counts)
    assert counts[0] < counts[1] < counts[3], counts
    return max(taken[1:])
