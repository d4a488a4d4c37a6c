"""The public retrieval tasks as they are read, the plain ways of looking, and the real server beside them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.retrieval import changelog, dialogues
from benchmarks.retrieval.__main__ import main
from benchmarks.retrieval.baselines import Fts, TagOverlap
from benchmarks.retrieval.measures import Answer, answers, score
from benchmarks.retrieval.product import Pinfold
from benchmarks.retrieval.task import Case, Question, Searcher, Text, half_of

_LINE = "Stop the `downloader <https://example.org>`_ from retrying forever behind a broken proxy (#12)\n"


def test_of_a_dialogue_the_named_turns_are_right_and_questions_without_answer_are_left_out(
    tmp_path: Path,
) -> None:
    [case] = dialogues.turn_cases(_dialogue(tmp_path))
    assert case == Case(
        (
            Text("D1:1", "(1 May) Ann: I bought a red bicycle [shared a bicycle]", "turn", "D1"),
            Text("D2:1", "(2 May) Bob: It rains", "turn", "D2"),
        ),
        (Question("0-0", "What did Ann buy?", frozenset({"D1:1"})),),
    )


def test_over_conversations_a_turn_counts_as_the_one_it_stands_in(tmp_path: Path) -> None:
    [case] = dialogues.conversation_cases(_dialogue(tmp_path))
    assert case.group_of == {"D1:1": "D1", "D2:1": "D2"}
    assert [question.right for question in case.questions] == [frozenset({"D1"})]


def test_of_a_changelog_line_the_commits_of_its_merge_are_right_and_its_own_file_is_in_no_text(
    tmp_path: Path,
) -> None:
    commits = _merged_change(tmp_path)
    [case] = changelog.cases(tmp_path)
    assert [(text.name, text.text) for text in case.texts] == [
        (commits[0], "Begin\nREADME"),
        (commits[1], "Give up after five attempts behind a proxy  \nfetch.py"),
        (commits[2], "Say so"),
    ]
    [question] = case.questions
    assert question.text == "Stop the downloader from retrying forever behind a broken proxy ( )"
    assert question.right == {commits[1], commits[2]}


def test_an_answer_is_scored_by_what_is_right_among_the_first() -> None:
    first = Answer(("x", "right", "y"), frozenset({"right", "other"}), 0.002)
    second = Answer(("x",), frozenset({"right"}), 0.004)
    found = score("task", "searcher", [first, second], 7)
    assert (first.recall(1), first.recall(5), first.reciprocal_rank) == (0.0, 0.5, 0.5)
    assert (found.questions, found.hit_5, found.recall_5, found.recall_10, found.mrr) == (2, 50, 25, 25, 25)
    assert (found.p50_ms, found.p95_ms, found.index_bytes) == (4.0, 4.0, 7)


def test_the_halves_share_no_question_and_leave_none_out() -> None:
    case = _case()
    asked = [len(answers(TagOverlap(), [case], half)[0]) for half in ("a", "b", None)]
    assert asked[0] + asked[1] == asked[2] == len(case.questions)
    assert [half_of(question) for question in case.questions].count("a") == asked[0] > 0 < asked[1]


@pytest.mark.parametrize(
    "searcher",
    [
        TagOverlap(),
        Fts("unicode61", drop_stop_words=False),
        Fts("porter unicode61", drop_stop_words=True),
        Fts("trigram", drop_stop_words=True, shortest=3),
        Pinfold(),
    ],
    ids=lambda searcher: searcher.name,
)
def test_every_way_of_looking_finds_the_text_with_the_word_asked_for(searcher: Searcher) -> None:
    case = _case()
    try:
        given, index_bytes = answers(searcher, [case], None)
        assert [answer.found[0] for answer in given] == [f"t{number}" for number in range(len(given))]
        assert index_bytes > 0
    finally:
        searcher.close()


def test_a_run_without_data_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "--locomo PATH" in capsys.readouterr().err


def test_a_run_is_printed_and_written_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "run.json"
    _merged_change(tmp_path)
    assert main(["--changelog", str(tmp_path), "--ours", "--json", str(written)]) == 0
    [row] = json.loads(written.read_text("utf-8"))["rows"]
    assert (row["task"], row["searcher"], row["questions"]) == ("changelog", "pinfold", 1)
    assert (row["hit_5"], row["recall_5"], row["mrr"]) == (100.0, 50.0, 100.0)
    assert "changelog      pinfold" in capsys.readouterr().out


def _case() -> Case:
    names = ("kestrel", "lantern", "quarry", "walnut", "zephyr", "harbour", "juniper", "marble")
    texts = tuple(Text(f"t{n}", f"the {name} stood there", "user") for n, name in enumerate(names))
    questions = tuple(
        Question(f"q{n}", f"where was the {name}?", frozenset({f"t{n}"})) for n, name in enumerate(names)
    )
    return Case(texts, questions)


def _dialogue(folder: Path) -> Path:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a red bicycle", "blip_caption": "a bicycle"}
    sample = {
        "conversation": {
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "It rains"}],
            "session_2_date_time": "2 May",
            "session_1": [turn],
            "session_1_date_time": "1 May",
        },
        "qa": [
            {"question": "What did Ann buy?", "evidence": ["D1:01; D9:9"], "category": 4},
            {"question": "What did Bob buy?", "evidence": ["D1:1"], "category": 5},
            {"question": "What did nobody say?", "evidence": [], "category": 1},
        ],
    }
    file = folder / "locomo10.json"
    file.write_text(json.dumps([sample]), "utf-8")
    return file


def _merged_change(repository: Path) -> list[str]:
    """Make a repository with a change of two commits that was merged; return its commits, oldest first."""
    _git(repository, "init", "-q", "-b", "main")
    _commit(repository, 1, "Begin", {"README": "x"})
    _git(repository, "switch", "-q", "-c", "change")
    _commit(repository, 2, "Give up after five attempts behind a proxy #12", {"fetch.py": "x"})
    _commit(repository, 3, "Say so", {"news/12.bugfix.rst": _LINE})
    _git(repository, "switch", "-q", "main")
    _git(repository, "merge", "-q", "--no-ff", "--no-edit", "change")
    return _git(repository, "rev-list", "--reverse", "--topo-order", "--no-merges", "HEAD").split()


def _commit(repository: Path, at_s: int, message: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text, "utf-8")
    _git(repository, "add", "-A")
    _git(repository, "commit", "-q", "-m", message, at_s=at_s)


def _git(repository: Path, *arguments: str, at_s: int = 0) -> str:
    as_someone = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **alone, "GIT_COMMITTER_DATE": f"2026-01-01T00:00:0{at_s}Z"}
    command = ["git", "-C", str(repository), *as_someone, *arguments]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=30)
    return done.stdout
