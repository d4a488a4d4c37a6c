"""Secrets in what clients tell: in messages, outputs and summaries, and in names, ids, paths and branches. P24."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from pinfold.server.cli import main
from tests.faults.raw_bytes import everything, leaks
from tests.secret_samples import SECRETS, TOKENS
from tests.server.hooking import Client, Payload, assistant, boundary, summary_line, user

NAMES = [token for _, token in TOKENS if "/" not in token and len(token) < 120]
SECRET_TEXTS = {secret for _, _, secret, _ in SECRETS}
LONG = "a line of output\n" * 1_000


@dataclass(frozen=True, slots=True)
class Round:
    """What one conversation is about: some secrets in texts, others as names."""

    number: int
    texts: tuple[str, ...]
    names: tuple[str, ...]

    def name(self, place: str) -> str:
        """Return a token as the name of something, the same for the same place."""
        places = ("session", "branch", "folder", "model", "tool", "call", "file", "agent", "kind")
        return f"{place}-{self.names[places.index(place) % len(self.names)]}"

    @property
    def text(self) -> str:
        return f"canary{self.number} " + "\n".join(self.texts)


def rounds(most: int) -> list[Round]:
    """Deal every secret out, in `most` conversations."""
    texts = [f"{before}{secret}{after}" for _, before, secret, after in SECRETS]
    return [Round(at, tuple(texts[at::most]), tuple(NAMES[at::most])) for at in range(most)]


def at_work(folder: Path, now: Round) -> Client:
    """Return a client in a project whose folder and branch are named after secrets, as the conversation is."""
    client = Client(folder, session=now.name("session"), piped=False)
    client.project = folder / now.name("folder")
    (client.project / ".git" / "objects").mkdir(parents=True)
    (client.project / ".git" / "refs").mkdir()
    (client.project / ".git" / "HEAD").write_text(f"ref: refs/heads/{now.name('branch')}\n")
    return client


def dialogue(client: Client, now: Round) -> list[Payload]:
    """Return lines of a transcript with a secret wherever a client could put one."""
    place = {"gitBranch": now.name("branch"), "cwd": str(client.project), "sessionId": client.session}
    given = {"command": now.text, "file_path": f"src/{now.name('file')}.py"}
    use = {"type": "tool_use", "id": now.name("call"), "name": now.name("tool"), "input": given}
    result = {"type": "tool_result", "tool_use_id": now.name("call"), "content": now.text}
    told = user(f"r-{now.name('call')}", "") | {"message": {"role": "user", "content": [result]}}
    long = f"{'x' * 70_000}\n{now.text}\n{'y' * 4_000}"
    said = user(f"u-{now.name('call')}", now.text)
    lines = [said, assistant(f"a-{now.name('call')}", now.text, use), told, user("u2", long)]
    return [line | place for line in lines]


def live(client: Client, now: Round) -> str:
    """Go through all that hooks are called for; return what the client was told."""
    pinned = "".join(f"DECISION: canary{now.number} {text}\n" for text in now.texts if "\n" not in text)
    told = [client.hook("session-start", source="startup", model=now.name("model"))]
    told.append(client.hook("user-prompt-submit", prompt=pinned))
    client.write(*dialogue(client, now))
    told.append(client.hook("stop"))
    output = {
        "stdout": f"{LONG}{now.text}\n{LONG}",
        "stderr": now.text,
        "interrupted": False,
        "isImage": False,
    }
    call: Payload = {
        "tool_name": now.name("tool"),
        "tool_input": {"command": now.text},
        "tool_use_id": now.name("call"),
    }
    told.append(client.hook("post-tool-use", tool_response=output, **call))
    told.append(_explored(client, now))
    told.append(client.hook("pre-compact", trigger="auto", custom_instructions=now.text))
    client.write(boundary(f"b-{now.name('call')}"), summary_line(f"s-{now.name('call')}", now.text))
    told.append(client.hook("session-start", source="compact"))
    told.append(client.hook("session-end", reason="other"))
    return "\n".join(told)


def _explored(client: Client, now: Round) -> str:
    path = client.folder / f"{now.name('agent')}.jsonl"
    path.write_text(json.dumps(assistant("x1", now.text)) + "\n")
    return client.hook(
        "subagent-stop",
        agent_id=now.name("agent"),
        agent_type=now.name("kind"),
        agent_transcript_path=str(path),
        last_assistant_message=now.text,
    )


def kinds_of(client: Client) -> Counter[str]:
    """Count the events of the client's log by kind."""
    with closing(sqlite3.connect(client.store_folder / "log.db")) as db:
        return Counter(kind for (kind,) in db.execute("SELECT kind FROM event"))


def imported(client: Client) -> str:
    """Import the transcript once more, by its path."""
    arguments = ["import", "--project", str(client.project), str(client.transcript)]
    ran = CliRunner().invoke(main, arguments, env=client.environment(), catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def each_round(folder: Path, most: int) -> list[tuple[Client, Round]]:
    made = []
    for now in rounds(most):
        place = folder / str(now.number)
        place.mkdir()
        made.append((at_work(place, now), now))
    return made


@pytest.mark.parametrize("most", [6, pytest.param(40, marks=pytest.mark.full)])
def test_a_secret_that_a_client_tells_is_in_no_byte_that_was_written(tmp_path: Path, most: int) -> None:
    looked_through = 0
    for client, now in each_round(tmp_path, most):
        told = live(client, now) + imported(client)
        where = everything(client.home) | {"told": told.encode()}
        looked_through += sum(map(len, where.values()))
        assert kinds_of(client)["message.appended"] >= 4
        assert kinds_of(client)["fold.recorded"] == 1
        assert f"canary{now.number}".encode() in where[f"{client.store_folder}/log.db, unpacked"]
        assert leaks(where, SECRET_TEXTS) == []
    print(f"{most} conversations, {len(SECRET_TEXTS)} secrets, {looked_through:,} bytes looked through")


def test_what_is_named_after_a_secret_is_known_again_by_that_name(tmp_path: Path) -> None:
    for client, now in each_round(tmp_path, 3):
        live(client, now)
        before = kinds_of(client)
        assert before["session.started"] == 1
        with closing(sqlite3.connect(client.store_folder / "log.db", isolation_level=None)) as db:
            db.execute("DELETE FROM transcript")  # how far was read, so that all is read anew
        assert "nothing new" in imported(client)
        client.hook("session-start", source="resume", model=now.name("model"))
        client.hook("stop")
        assert kinds_of(client) == before
