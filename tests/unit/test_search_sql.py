"""Search on SQLite with the real schema: scripts, syntax, relevance, filters, pages, cost.

Inputs are those of public reports about tools that do this job; each stands for its kind.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pinfold.store.sql.search.scan as scan
from pinfold.store.commands import SearchHistory
from pinfold.store.errors import InvalidInputError
from pinfold.store.sql.search import (
    EntryRow,
    Found,
    search,
)
from pinfold.store.sql.search.rank import TIERS
from pinfold.store.sqlite.database import SqliteDatabase
from pinfold.store.values import Caller

CALLER = Caller("test", "conversation")


class Log:
    """A store's tables, and the texts that stand behind its entries."""

    def __init__(self, file: Path | str) -> None:
        self.db = sqlite3.connect(file, factory=SqliteDatabase)
        self.db.execute("PRAGMA synchronous = OFF")
        self.db.executescript((files("pinfold.store") / "schema.sql").read_text("utf-8"))
        self.texts: dict[int, str] = {}

    def add(self, text: str, **given: Any) -> int:
        row = {"kind": "messages", "session": 1, "at": "2026-01-01T00:00:00.000000Z", "chunk": None, **given}
        number = len(self.texts) + 1
        pointer = row.get("pointer", f"H{number}")
        self.db.execute(
            "INSERT INTO entry (id, seq, pointer, chunk, kind, session, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, number, pointer, row["chunk"], row["kind"], row["session"], row["at"]),
        )
        for path in row.get("paths", ()):
            name = path.replace("\\", "/").rpartition("/")[2]
            self.db.execute("INSERT INTO entry_path VALUES (?, ?, ?)", (name, path, number))
        self.texts[number] = text
        self.db.put_words(number, text)
        return number

    def pin(self, number: int, text: str, superseded_by: int | None = None) -> int:
        values = (
            number,
            "",
            "",
            1,
            "agent",
            "decision",
            text,
            "because",
            0,
            "[]",
            "[]",
            1,
            "[]",
            superseded_by,
        )
        marks = ", ".join("?" * len(values))
        self.db.execute(
            "INSERT INTO pin (number, seq, at, session, actor, kind, text, why, session_only, files,"
            f" specifics, tokens, supersedes, superseded_by) VALUES ({marks})",
            (number, number, *values[2:]),
        )
        return self.add(text, kind="pins", pointer=f"P{number}")

    def text_of(self, row: EntryRow) -> str:
        return self.texts[row.id]

    def search(self, text: str, **given: Any) -> Found:
        return search(self.db, SearchHistory(CALLER, text, **given), self.text_of)

    def ids(self, text: str, **given: Any) -> list[int]:
        return [hit.entry.id for hit in self.search(text, **given).hits]

    def tiers(self, text: str) -> dict[int, str]:
        return {hit.entry.id: hit.tier for hit in self.search(text).hits}

    def pages(self, text: str, limit: int) -> list[list[int]]:
        pages, cursor = [], None
        while True:
            found = self.search(text, limit=limit, cursor=cursor)
            pages.append([hit.entry.id for hit in found.hits])
            cursor = found.next_cursor
            if cursor is None:
                return pages


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    made = Log(tmp_path / "store.db")
    yield made
    made.db.close()


NOISE = (
    "The build finished without a warning.",
    "今天天气很好，我们去公园。",
    "오늘 날씨가 좋습니다",
    "Сегодня хорошая погода",
    "วันนี้อากาศดี",
    "Deploy again on Friday, says the plan.",
)


# --- scripts ---


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("用户身份", "请确认用户身份验证流程"),
        ("用户", "请确认用户身份验证流程"),
        ("用", "请确认用户身份验证流程"),
        ("しりとり", "今日は成語しりとりをした"),
        ("成语接龙", "今天玩成语接龙游戏"),
        ("끝말잇기", "오늘 끝말잇기 게임을 했다"),
        ("게임", "오늘 끝말잇기 게임을 했다"),
        ("누수", "메모리누수가 발생했다"),
        ("中文", "中文优先"),
        ("承認フロー", "新しい承認フローを確認"),
        ("浅瀬記憶", "浅瀬記憶の設計"),
        ("生命科学", "研究生命科学的方法"),
        ("отчёт", "Готов отчет за март"),
        ("σύστημα", "Το ΣΥΣΤΗΜΑ λειτουργεί"),
        ("مرحبا", "قال مَرْحَبًا بالعالم"),
        ("שלום", "הוא אמר שָׁלוֹם לכולם"),
        ("แมว", "เขาหาแมวในบ้าน"),
        ("हिन्दी", "यह हिन्दी में लिखा है"),
        ("café", "Meet at the café at noon"),
        ("cafe", "Meet at the cafe\u0301 at noon"),
        ("CAFÉ", "Meet at the cafe at noon"),
        ("ｶﾀｶﾅ", "カタカナで書く"),
        ("🎉", "released 🎉 at last"),
    ],
)
def test_a_word_in_any_script_is_found_inside_its_sentence(log: Log, query: str, text: str) -> None:
    for noise in NOISE:
        log.add(noise)
    wanted = log.add(text)
    found = log.search(query)
    assert [hit.entry.id for hit in found.hits] == [wanted]
    assert found.tier == "exact phrase"
    assert found.covered == 1.0


def test_a_segment_of_a_longer_run_comes_first(log: Log) -> None:
    log.add("研究了生命和科学")
    whole = log.add("研究生命科学")
    assert log.ids("生命科学")[0] == whole


def test_a_devanagari_word_is_not_found_by_its_consonants(log: Log) -> None:
    log.add("हिन्दी")
    assert log.ids("हनद") == []


# --- syntax ---


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("2026-03-14", "released on 2026-03-14 as planned"),
        ("Downloads/transcripts", "see ~/Downloads/transcripts for all"),
        ("don't use agents", "please don't use agents here"),
        ("pre-edit", "the pre-edit hook failed"),
        ("pre-edit-check", "run pre-edit-check first"),
        ('test "quoted" value', "a test quoted value stands here"),
        ("it's a test", "it's a test of quotes"),
        ("TODO: fix", "TODO: fix the parser"),
        ("error:timeout", "got error:timeout twice"),
        ("time: 9am", "time: 9am sharp"),
        ("namespace:value", "set namespace:value there"),
        ("ubuntu 20.04", "an ubuntu 20.04 image"),
        ("grammar::fa", "loads grammar::fa lazily"),
        (":asd: AND :sdf:", "both :asd: AND :sdf: are labels"),
        ("a/b/c.py:42", "fails at a/b/c.py:42"),
        ("NEAR(", "use NEAR( with care"),
        ("50% of $HOME", "takes 50% of $HOME"),
        ("C++", "rewritten in C++ now"),
        ("--no-verify", "never commit with --no-verify"),
        ("E0382", "error[E0382]: borrow of moved value"),
        ("v1.2.3", "tagged v1.2.3 today"),
        ("ERR_MODULE_NOT_FOUND", "code: 'ERR_MODULE_NOT_FOUND'"),
        ("fix* OR ^build", "fix* OR ^build are words here"),
    ],
)
def test_what_looks_like_syntax_is_text(log: Log, query: str, text: str) -> None:
    for noise in NOISE:
        log.add(noise)
    wanted = log.add(text)
    found = log.search(query)
    assert found.hits[0].entry.id == wanted
    assert found.tier == "exact phrase"


@pytest.mark.parametrize("query", ["()*", "***", '"', "--", "::", " "])
def test_only_symbols_are_refused_in_a_sentence(log: Log, query: str) -> None:
    with pytest.raises(InvalidInputError, match="no letter and no digit"):
        log.search(query)


def test_signs_decide_between_otherwise_equal_words(log: Log) -> None:
    sharp, plus = log.add("written in C# mostly"), log.add("written in C++ mostly")
    assert log.ids("C#") == [sharp, plus]
    assert log.ids("C++") == [plus, sharp]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec=None), max_size=80), letter=st.sampled_from("aZ5é用ก한ש٣"))
def test_any_text_with_a_letter_or_digit_is_answered(log: Log, text: str, letter: str) -> None:
    if not log.texts:
        for noise in NOISE:
            log.add(noise)
    found = log.search(text + letter)
    assert found.tier in TIERS
    assert 0.0 <= found.covered <= 1.0
    assert (found.tier == "none") == (not found.hits)


# --- identifiers, stems, parts of words ---


@pytest.mark.parametrize(
    "query", ["getUserById", "get_user_by_id", "user by id", "GET_USER_BY_ID", "userById"]
)
@pytest.mark.parametrize("text", ["call getUserById(7)", "call get_user_by_id(7)", "get the user by id 7"])
def test_identifiers_match_across_styles(log: Log, query: str, text: str) -> None:
    log.add("a user of the library")
    wanted = log.add(text)
    assert log.ids(query)[0] == wanted


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("refreshToken", "the refresh_token_ttl is 900"),
        ("failing tests", "two tests failed"),
        ("9f86d08", "commit 9f86d081884c7d659a2feaa0"),
        ("0x7ffe", "at 0x7ffe1234 it broke"),
        ("7ffe", "at 0x7ffe1234 it broke"),
        ("session.py", "edit src/auth/session.py:42"),
        ("auth/session", "edit src/auth/session.py:42"),
        ("utf 8", "decode as utf8"),
        ("utf8", "decode as UTF-8"),
        ("authent", "the authentication failed"),
    ],
)
def test_forms_beginnings_and_parts_of_words_are_found(log: Log, query: str, text: str) -> None:
    for noise in NOISE:
        log.add(noise)
    wanted = log.add(text)
    assert log.ids(query) == [wanted]


def test_the_inside_of_a_word_is_found_as_a_substring(log: Log) -> None:
    log.add("nothing here")
    wanted = log.add("new XMLHttpRequest()")
    found = log.search("httprequest")
    assert [hit.entry.id for hit in found.hits] == [wanted]
    assert found.tier == "substring"
    assert "XMLHttpRequest" in found.hits[0].snippet
    assert not found.bounded


def test_the_search_for_substrings_ends_and_says_so(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "SCANNED_ENTRIES", 20)
    log.add("new XMLHttpRequest()")
    for n in range(30):
        log.add(f"line number {n}")
    found = log.search("httprequest")
    assert (found.tier, found.hits, found.bounded) == ("none", (), True)


# --- relevance ---


def test_tiers_come_in_order_and_are_named(log: Log) -> None:
    some = log.add("the orphaned pages of the book")
    every = log.add("version of the plugin is orphaned")
    phrase = log.add("found an orphaned plugin version here")
    found = log.search("orphaned plugin version")
    assert [hit.entry.id for hit in found.hits] == [phrase, every, some]
    assert found.tier == "exact phrase"
    assert log.search("version plugin").tier == "all words"
    assert log.search("ambient-total orphaned plugin version").tier == "most words"


def test_each_hit_has_its_own_tier(log: Log) -> None:
    phrase, every = log.add("ERROR: job failed"), log.add("the job printed an error and failed")
    some = log.add("the job began")
    assert log.tiers("ERROR: job failed") == {
        phrase: "exact phrase",
        every: "all words",
        some: "most words",
    }
    found = log.search("ERROR: job failed", limit=1)
    later = log.search("ERROR: job failed", cursor=found.next_cursor)
    assert (found.tier, later.tier) == ("exact phrase", "all words")


@pytest.mark.parametrize(
    ("query", "whole", "pieces"),
    [
        ("foo_1500", "set foo_1500 here", "foo w"),
        ("foo_1500", "set foo_1500 here", "foo took 1500 ms"),
        ("handler_45", "in handler_45 it is", "handler 46"),
        ("v1.2.3", "tagged v1.2.3 today", "step 2 of 3"),
        ("2026-03-14", "on 2026-03-14", "at 03 of 14"),
        ("parse_hexDump", "parse_hex_dump", "dump hex: parse"),
    ],
)
def test_pieces_of_an_identifier_are_not_the_identifier(
    log: Log, query: str, whole: str, pieces: str
) -> None:
    part = log.add(pieces)
    found = log.search(query)
    assert {hit.tier for hit in found.hits} <= {"word parts"}
    assert found.covered == 0.0
    holder = log.add(whole)
    found = log.search(query)
    assert found.hits[0].entry.id == holder
    assert found.hits[0].tier in ("exact phrase", "all words")
    assert found.covered == 1.0
    assert log.tiers(query).get(part, "word parts") == "word parts"


def test_one_piece_of_an_unknown_identifier_finds_nothing(log: Log) -> None:
    log.add('{"b": 99}')
    assert log.ids("hunter2Secret99") == []
    most = log.add("a hunter with a secret")
    assert log.tiers("hunter2Secret99") == {most: "word parts"}
    inside = log.add("xhunter2Secret99x")
    assert log.tiers("hunter2Secret99") == {inside: "substring"}


def test_a_beginning_beside_a_whole_word_is_a_substring(log: Log) -> None:
    begun, word = log.add("commit 9f86d081884c7d659a2feaa0"), log.add("a quokka")
    other = log.add("another quokka")
    assert log.tiers("9f86d08 quokka") == {begun: "substring", word: "most words", other: "most words"}


@pytest.mark.parametrize("query", ["getUser/getuser", "A´a", "½/½", "a_b " * 100, "用户_foo", "don't", "/a"])
def test_every_query_has_words_to_cover(log: Log, query: str) -> None:
    wanted = log.add(query)
    found = log.search(query)
    assert ([hit.entry.id for hit in found.hits], found.covered) == ([wanted], 1.0)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("ambient-total orphaned plugin version", "removed the orphaned plugin version"),
        ("email pipeline stalled leads", "the pipeline for email was fixed"),
        ("gpu issues", "driver problem with the GPU"),
        ("laptop hardware", "my laptop is a ThinkPad"),
        ("user identity name", "the user is called by a name"),
        ("shellcheck memory", "shellcheck used 4 GB of memory"),
        ("supervisor task completed", "task done, the supervisor reports"),
        ("auto-update setup deploy", "deploy runs auto-update"),
        ("Te acordas de algo de lo que hablamos?", "hablamos de la base de datos"),
    ],
)
def test_an_absent_word_does_not_hide_what_holds_the_others(log: Log, query: str, text: str) -> None:
    for noise in NOISE:
        log.add(noise)
    wanted = log.add(text)
    assert log.ids(query)[0] == wanted


def test_covered_is_the_share_of_words_of_the_best_hit(log: Log) -> None:
    log.add("redis alone")
    found = log.search("redis cluster failover timeout")
    assert (found.tier, found.covered) == ("most words", 0.25)


def test_a_quoted_phrase_must_be_there(log: Log) -> None:
    wanted = log.add("a lucky feat it was")
    log.add("feat of the lucky")
    log.add("lucky")
    assert log.ids('"lucky feat"') == [wanted]
    assert log.ids('it "lucky feat" lucky') == [wanted]
    assert not log.search('"lucky feat"').unquoted


def test_of_a_quoted_phrase_that_stands_nowhere_the_words_are_found_and_that_is_said(log: Log) -> None:
    both, one = log.add("feat of the lucky"), log.add("lucky")
    log.add("unrelated")
    found = log.search('lucky "feat of luck"')
    assert ([hit.entry.id for hit in found.hits], found.unquoted) == ([both, one], True)
    assert log.ids('"feat of luck"\nunrelated') == [3]


def test_lines_are_alternatives(log: Log) -> None:
    redis, cache = log.add("redis evicts keys"), log.add("the cache drops entries")
    log.add("unrelated")
    assert set(log.ids("redis evicts\ncache drops")) == {redis, cache}
    both = log.add("redis evicts, the cache drops")
    assert log.ids("redis evicts\ncache drops")[0] == both


def test_what_was_said_around_helps_within_a_session(log: Log) -> None:
    log.add("what about the zebra migration", session=2)
    near = log.add("it is done on monday", session=2)
    for n in range(20):
        log.add(f"filler number {n}", session=2)
    log.add("it is done on monday at last", session=3)
    assert log.ids("zebra monday")[:2] == [1, near]


def test_equal_texts_are_shown_once(log: Log) -> None:
    for _ in range(5):
        log.add("the same alarm again")
    other = log.add("another alarm")
    assert len(log.ids("alarm")) == 2
    assert other in log.ids("alarm")


def test_two_pieces_of_one_artifact_are_enough(log: Log) -> None:
    for n in range(6):
        log.add(f"needle in piece {n}", kind="artifacts", pointer="A1", chunk=n + 1)
    message = log.add("a needle in a message")
    ids = log.ids("needle")
    assert len(ids) == 3
    assert message in ids


# --- pins ---


def test_a_superseded_pin_comes_back_as_a_note_under_its_replacement(log: Log) -> None:
    log.pin(1, "Token lifetime is fifteen minutes", superseded_by=2)
    log.pin(2, "Token lifetime is an hour", superseded_by=5)
    log.add("filler")
    live = log.pin(5, "Sessions last a day")
    hits = log.search("fifteen minutes").hits
    assert [(hit.entry.id, hit.snippet, hit.note) for hit in hits] == [
        (live, "Sessions last a day", "replaces P1: Token lifetime is fifteen minutes")
    ]


def test_a_replacement_that_matches_itself_is_one_hit_with_the_note(log: Log) -> None:
    log.pin(1, "Use redis for sessions", superseded_by=2)
    live = log.pin(2, "Use postgres for sessions")
    hits = log.search("sessions").hits
    assert [hit.entry.id for hit in hits] == [live]
    assert hits[0].note == "replaces P1: Use redis for sessions"


# --- filters ---


def test_filters_hold_in_every_tier(log: Log) -> None:
    wanted = log.add("alpha XMLHttpRequest", kind="tool_results", session=7, at="2026-02-02T00:00:00.000000Z")
    log.add("alpha XMLHttpRequest one", kind="messages", session=7, at="2026-02-02T00:00:00.000000Z")
    log.add("alpha XMLHttpRequest two", kind="tool_results", session=8, at="2026-02-02T00:00:00.000000Z")
    log.add("alpha XMLHttpRequest three", kind="tool_results", session=7, at="2026-01-02T00:00:00.000000Z")
    given = {"kinds": ("tool_results", "dead_ends"), "session": 7, "since": "2026-02-01T00:00:00.000000Z"}
    for query in ("alpha", "alpha missing", "ttpreq"):
        assert log.ids(query, **given) == [wanted]


def test_words_of_filters_are_not_words_of_texts(log: Log) -> None:
    log.add("one", kind="dead_ends", session=12)
    assert log.ids("session12") == []
    assert log.ids("kinddeadends") == []


@pytest.mark.parametrize(
    ("asked", "matches"),
    [
        ("session.py", True),
        ("auth/session.py", True),
        ("./src/auth/session.py", True),
        ("/home/me/repo/src/auth/session.py", True),
        ("src\\auth\\session.py", True),
        ("uth/session.py", False),
        ("oauth/session.py", False),
        ("session.p", False),
        ("src/auth", False),
        ("%", False),
    ],
)
def test_a_path_matches_by_whole_segments(log: Log, asked: str, matches: bool) -> None:
    wanted = log.add("edited the file", paths=("src/auth/session.py",))
    log.add("edited the file, too")
    assert log.ids("file", path=asked) == ([wanted] if matches else [])


def test_a_path_covers_all_pieces_of_its_artifact(log: Log) -> None:
    log.add("head", kind="artifacts", pointer="A1", paths=("out/build.log",))
    piece = log.add("needle", kind="artifacts", pointer="A1", chunk=1)
    log.add("needle elsewhere")
    assert log.ids("needle", path="build.log") == [piece]


# --- pages ---


def test_paging_shows_each_thing_once_while_others_write(log: Log) -> None:
    old = {log.add(f"alarm number {n} of many, {'word ' * (n % 7)}") for n in range(23)}
    shown: list[int] = []
    cursor = None
    for _ in range(10):
        found = log.search("alarm", limit=4, cursor=cursor)
        shown += [hit.entry.id for hit in found.hits]
        for n in range(3):
            log.add(f"alarm alarm {cursor} {n}")
        cursor = found.next_cursor
        if cursor is None:
            break
    assert cursor is None
    assert sorted(shown) == sorted(old)


def test_pages_follow_the_order_of_one_long_page(log: Log) -> None:
    for n in range(17):
        log.add(f"alarm {'word ' * n}{n}")
    pages = log.pages("alarm", 5)
    assert [len(page) for page in pages] == [5, 5, 5, 2]
    assert [entry for page in pages for entry in page] == log.ids("alarm", limit=50)


def test_equal_texts_stay_hidden_on_later_pages(log: Log) -> None:
    for n in range(6):
        log.add("the very same alarm")
        log.add(f"alarm number {n}")
    shown = [log.texts[entry] for page in log.pages("alarm", 2) for entry in page]
    assert len(shown) == len(set(shown)) == 7


def test_a_cursor_is_bound_to_query_and_filters(log: Log) -> None:
    for n in range(9):
        log.add(f"alarm {n}")
    cursor = log.search("alarm", limit=3).next_cursor
    with pytest.raises(InvalidInputError, match="another query"):
        log.search("alarms", limit=3, cursor=cursor)
    with pytest.raises(InvalidInputError, match="another query"):
        log.search("alarm", limit=3, cursor=cursor, session=1)


# --- the index ---


def test_what_is_unindexed_is_gone_and_the_index_stays_sound(log: Log) -> None:
    gone, kept = log.add("secretWord 用户 café one"), log.add("secretWord two")
    log.db.take_out_words(gone, log.texts[gone])
    log.db.execute("DELETE FROM entry WHERE id = ?", (gone,))
    log.db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    assert log.ids("secretWord") == [kept]
    assert log.ids("secret word") == [kept]
    log.db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, words, row)")
    terms = {row[0] for row in log.db.execute("SELECT term FROM temp.vocabulary")}
    assert "cafe" not in terms
    assert "secretword" in terms


@pytest.mark.full
def test_a_search_in_a_long_log_takes_no_longer_than_in_a_short_one() -> None:
    times = {size: _search_times(size) for size in (5_000, 100_000)}
    print({size: [round(1e3 * t, 1) for t in found] for size, found in times.items()})
    assert all(seconds < 0.25 for seconds in times[100_000])
    assert times[100_000][0] < 3 * max(times[5_000][0], 0.002)


def _search_times(size: int) -> list[float]:
    """Return the CPU seconds of a rare, a common and an absent query among `size` entries."""
    log = Log(":memory:")
    vocabulary = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("ran", "tol", "vex", "zip")]
    for n in range(size):
        words = [vocabulary[(n * k + k * k) % len(vocabulary)] for k in range(1, 30)]
        log.add(f"the result {' '.join(words)} of run {n}")
    spent = []
    for query in (f"run {size // 2}", "result run", "inside-nothing"):
        start = time.process_time()
        log.search(query)
        spent.append(time.process_time() - start)
    log.db.close()
    return spent
