"""Secrets in what is long: files of ten megabytes, documents of JSON, the output of commands. P24, P9."""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path

import pytest

from pinfold.store.redaction import Redactor
from tests.faults.raw_bytes import everything, leaks
from tests.secret_samples import KEY, SECRETS, TOKENS
from tests.server.peer import call, serving
from tests.server.runs import Workplace, in_python

SECRET_TEXTS = {secret for _, _, secret, _ in SECRETS}
_MARK = re.compile(rb"\[redacted:[a-z-]+:[0-9a-f]{8}\]")
_FILE_BYTES = 10_000_000


def strewn(seed: int) -> tuple[bytes, int]:
    """Return ten megabytes of lines with a secret every 10 KB or so, at places that the seed decides, and how many."""
    dice = random.Random(seed)
    pieces, size, count = [], 0, 0
    while size < _FILE_BYTES:
        _, before, secret, after = dice.choice(SECRETS)
        filling = "a line of the log\n" * dice.randrange(1_000) + "." * dice.randrange(4_000)
        pieces.append(f"{filling} {before}{secret}{after}\n")
        size += len(pieces[-1])
        count += 1
    return "".join(pieces).encode(), count


def test_no_secret_of_a_large_file_is_stored_wherever_it_was_cut(home: Path, project: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    content, count = strewn(seed)
    (project / "big.log").write_bytes(content)
    with serving(PINFOLD_HOME=str(home), PINFOLD_PROJECT=str(project)) as peer:
        told = peer.ask(call(1, "spill_artifact", path="big.log"))
        where = everything(home) | {"reply": json.dumps(told).encode()}
    (kept,) = (found for place, found in where.items() if place.endswith("unpacked"))
    print(f"seed {seed}: {count} secrets in {len(content):,} bytes")
    assert len(_MARK.findall(kept)) == count
    assert sum(told["result"]["structuredContent"]["redacted"].values()) == count
    assert leaks(where, SECRET_TEXTS) == []


@pytest.mark.full
def test_a_document_stays_json_when_its_secrets_are_replaced(home: Path, project: Path) -> None:
    rows = [
        {"n": n, "text": f"{before}{secret}{after}\n"} for n, (_, before, secret, after) in enumerate(SECRETS)
    ]
    document = {"rows": rows, "inside": json.dumps(rows), "filling": ["x" * 1_000] * 1_000}
    (project / "rows.json").write_text(json.dumps(document))
    with serving(PINFOLD_HOME=str(home), PINFOLD_PROJECT=str(project)) as peer:
        peer.ask(call(1, "spill_artifact", path="rows.json"))
        where = everything(home)
    (kept,) = (found for place, found in where.items() if place.endswith("unpacked"))
    found = json.loads(kept)
    assert [row["n"] for row in found["rows"]] == [row["n"] for row in json.loads(found["inside"])]
    assert all("[redacted:" in row["text"] for row in [*found["rows"], *json.loads(found["inside"])])
    assert found["filling"] == document["filling"]
    assert leaks(where, SECRET_TEXTS) == []


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="commands of POSIX")
def test_neither_a_commands_line_nor_its_output_leaves_a_secret_behind(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    texts = [f"{before}{secret}{after}" for _, before, secret, after in SECRETS]
    script = "import sys\nfor text in sys.argv[1:]: print('a line of the log\\n' * 500, text)"
    assert place.run(*in_python(script, *texts)).returncode == 0
    for _, token in TOKENS[::20]:
        assert place.run("--label", f"build with {token}", *in_python(script, token, "x")).returncode == 0
    where = everything(place.home)
    (kept,) = (found for name, found in where.items() if name.endswith("unpacked"))
    assert len(_MARK.findall(kept)) >= len(texts)
    assert leaks(where, SECRET_TEXTS) == []


def test_text_without_secrets_passes_at_fifty_megabytes_a_second() -> None:
    dice = random.Random(7)
    words = [
        "".join(dice.choices("abcdefghijklmnopqrstuvwxyz_0123456789", k=dice.randrange(2, 12)))
        for _ in range(5_000)
    ]
    block = " ".join(dice.choices(words, k=150_000)).encode()
    redactor = Redactor(KEY)
    redactor.text("what is loaded once")
    begun = time.process_time()
    stream = redactor.stream([block] * 20)
    size = sum(map(len, stream))
    speed = size / 1e6 / (time.process_time() - begun)
    print(f"{size:,} bytes at {speed:.0f} MB/s")
    assert stream.found == ()
    assert speed >= 50
