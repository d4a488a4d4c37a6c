"""What is too long, no text, or secret, on its way from a transcript into the log."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pinfold.server.transcripts.follow import Followed
from pinfold.server.transcripts.lines import LeftOut
from tests.secret_samples import mixed
from tests.server.histories import Place, bodies, texts
from tests.server.written import Written, transcript

MIB = 1024 * 1024
PIXELS = bytes(range(256)) * 300


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_long_output_is_kept_whole_named_by_its_command_and_its_message_shows_both_ends(
    place: Place,
) -> None:
    output = "\n".join(f"row {number} of the report" for number in range(5_000))
    place.follow(transcript(place.folder, [Written().runs("Bash", {"command": "make\nreport"}, output)]))
    call, result = texts(place.events())
    assert call == "make\nreport"
    assert result.startswith("row 0 of the report\n")
    assert re.search(r"\n\[… [\d,]+ characters between, whole in …\]\n", result)
    assert result.endswith("row 4999 of the report\n[A1 make report]")
    assert len(result) < 7_000
    assert place.run("show", "A1", "--raw").stdout.strip() == output
    (artifact,) = bodies(place.events(), "artifact.spilled")
    assert artifact["aside"] is True


def test_pictures_are_artifacts_named_behind_the_text(place: Place) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PIXELS).decode()}
    picture = {"type": "image", "source": source}
    lines = [Written().shows({"type": "text", "text": "Look at this."}, picture, picture)]
    place.follow(transcript(place.folder, lines))
    assert texts(place.events()) == ["Look at this.\n[A1 image/png]\n[A1 image/png]"]
    assert place.run("show", "A1", "--raw").stdout_bytes == PIXELS


def test_secrets_are_replaced_wherever_they_stand_and_however_a_text_is_cut(place: Place) -> None:
    secret = f"ghp_{mixed(36)}"
    talk = Written()
    lines = [
        talk.says(f"The token is {secret}.", "user"),
        talk.says(f"DECISION: Deploy with {secret}, because it is ours."),
        *(
            talk.runs("Bash", {"command": "cat"}, f"{'x' * at} {secret} {'y ' * 40_000}")
            for at in range(3_960, 4_010, 7)
        ),
        talk.compacts(f"The token {secret} was used."),
    ]
    assert place.follow(transcript(place.folder, lines)).pins == 1
    assert secret[:20].encode() not in b"".join(
        file.read_bytes() for file in place.home.rglob("*") if file.is_file()
    )
    assert all(secret[:20] not in text for text in texts(place.events()))


def test_long_lines_are_read_up_to_32_mebibytes_and_counted_beyond(place: Place) -> None:
    talk = Written()
    lines = [
        talk.says("Before."),
        talk.runs("Bash", {"command": "dump"}, "A line of output.\n" * (20 * MIB // 18)),
        talk.says("x" * (33 * MIB)),
        talk.says("After."),
    ]
    unknown = LeftOut(1, len(lines[0] + lines[1]))
    assert place.follow(transcript(place.folder, lines)) == Followed(messages=4, unknown=unknown)
    assert [len(text) < 7_000 for text in texts(place.events())] == [True] * 4
    assert texts(place.events())[-1] == "After."


def test_what_was_said_is_dated_when_it_was_said(place: Place) -> None:
    talk = Written()
    lines = [
        talk.says("The walrus was old.", timestamp="2025-01-02T03:04:05.678Z"),
        talk.says("The walrus is new.", timestamp="2026-03-14T10:00:00+01:00"),
        talk.says("The walrus has no date.", timestamp="yesterday"),
    ]
    place.follow(transcript(place.folder, lines))
    assert [body.get("at") for body in bodies(place.events())] == [
        "2025-01-02T03:04:05.678000Z",
        "2026-03-14T09:00:00.000000Z",
        None,
    ]
    with closing(sqlite3.connect(place.database)) as db:
        dates = [at for (at,) in db.execute("SELECT at FROM entry ORDER BY seq")]
    assert dates[:2] == ["2025-01-02T03:04:05.678000Z", "2026-03-14T09:00:00.000000Z"]
    since = json.loads(place.run("search", "walrus", "--since", "2026-03-14T09:00:00Z", "--json").stdout)
    assert len(since["hits"]) == 2
