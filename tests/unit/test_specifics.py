"""Specifics are the concrete parts of a text, in any script, found in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.context.specifics import LIMIT, MAX_REASON_CHARS, Kept, reason, specifics, survives


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "a 15 minute TTL, 872 tokens, 1.5 GB, 80 %, 20% and 50ms",
            "15 minute|872 tokens|1.5 GB|80 %|20%|50ms",
        ),
        (
            "1,742 lines, $20, 5 seconds/req, 100 MB/s, 16KiB, ±3 points",
            "1,742 lines|$20|5 seconds/req|100 MB/s|16KiB|±3 points",
        ),
        ("port 5432 in 2026, 3 of 5, 2 and 1st, the 9 to 5", "5432|2026"),
        ("getUserById get_user_by_id MAX_PIN_CHARS ENOENT HTTPServer os.path.join", None),
        ("sha256 E0382 GH-123 gpt-6.2-sol std::vector x86_64 0x7ffe1234", None),
        (
            "src/auth/session.py:42 config.yaml /etc/hosts ~/x.toml ./run.sh C:\\Users\\me\\a.txt .gitignore",
            None,
        ),
        ("origin/main feature/login docs/decisions/ node_modules/@scope/pkg", None),
        ("v1.2.3 3.11 >=3.11 2.0.0-rc.1 python3.11", None),
        ("git commit --no-verify -rf --color=always", "--no-verify|-rf|--color=always"),
        ("9f86d08 in #1234 and openai/tiktoken#92", "9f86d08|#1234|openai/tiktoken#92"),
        ("see https://example.com/a?b=c,d. Or (http://x.y/z).", "https://example.com/a?b=c,d|http://x.y/z"),
        (
            "run `npm run build` for \"quoted string\" or 'single' or “curly”",
            "npm run build|quoted string|single|curly",
        ),
        ("localhost:6379 $HOME ${X_1} @scope KEY=value me@example.com", None),
        ("call main() first", "main"),
        ("on 2026-01-02 at 12:30 or 2026-01-02T10:00:00Z", "2026-01-02|12:30|2026-01-02T10:00:00Z"),
        (
            "令牌有效期为15分钟，文件在 src/令牌.py 中，版本v2.1。トークンは30日「静的」",
            "15分钟|src/令牌.py|v2.1|30日|静的",
        ),
        (
            "порт 5432 и 15 минут, файл конфиг.yaml; 20 دقيقة; 15 นาที",
            "5432|15 минут|конфиг.yaml|20 دقيقة|15 นาที",
        ),
        (
            "Use Postgres 17. Run it on Ubuntu 24.04, Node.js 20 and iOS 18",
            "Postgres 17|Ubuntu 24.04|Node.js 20|iOS 18",
        ),
        ("Postgres 16, not MySQL", "Postgres 16|MySQL"),
        (
            "PostgreSQL 16 lacks X, Redis v7.2 has it; Python 3.11+ only",
            "PostgreSQL 16|Redis v7.2|Python 3.11",
        ),
        ("Redis 5 minutes, Workers 4%, Retries 3/s, Use 3 workers", "5 minutes|4%|3/s|3 workers"),
        ("C++ 20, C# 12 and Go 1.22.3; step 3 of 5 took 20 minutes", "C++ 20|C# 12|Go 1.22.3|20 minutes"),
        ("Postgres 170 takes Port 5432 from Version 2.0", "170|5432|2.0"),
        ("16 lacks it, 1.5 requires it, 300 because of it", "1.5|300"),
        ("**bold_name** (see PR #12) [P7]: TTL_S.", "bold_name|#12|P7|TTL_S"),
    ],
)
def test_concrete_parts_are_found(text: str, found: str | None) -> None:
    assert specifics(text) == tuple((found or text.replace(" ", "|")).split("|"))


@pytest.mark.parametrize(
    "text",
    [
        "We decided to store the tokens and rotate them on every use, don't ask.",
        "and/or he/she read/write TCP/IP 1/2",
        "e.g. this, i.e. that, at 5 a.m. No. etc.",
        "the client's app isn't ours; it's theirs' too",
        "NEVER do THIS: ALWAYS ask FIRST. DECISION: we MUST",
        "well-known state-of-the-art follow-up",
        "Use 3. The 9 of them; In 16, Keep 5, NEVER 2",
        "",
        "我们决定存储令牌，因为客户端不可靠。",
    ],
)
def test_prose_has_no_specifics(text: str) -> None:
    assert specifics(text) == ()


def test_each_is_given_once_in_order_of_appearance_up_to_the_limit() -> None:
    text = " ".join(f"name_{number} name_1" for number in range(100))
    assert specifics(text) == ("name_0", "name_1", *(f"name_{number}" for number in range(2, LIMIT)))
    assert specifics(text, limit=2) == ("name_0", "name_1")


def test_a_long_quoted_passage_is_read_inside() -> None:
    quoted = '"a passage of more than sixty characters that mentions src/a.py and 15 minutes"'
    assert specifics(quoted) == ("src/a.py", "15 minutes")


@given(st.text())
@settings(max_examples=50)
def test_every_specific_stands_in_its_text(text: str) -> None:
    for each in specifics(text):
        assert each in text


UNITS = [
    '"',
    "'a ",
    '"a\n',
    "a",
    "1.",
    "_",
    "a_",
    "a.",
    "/a",
    "a/",
    "`",
    "`a\n",
    "1-",
    " ",
    "1 ",
    "-",
    "令",
    "()",
    "a::",
]
UNITS += [
    "#1",
    "http://",
    "because ",
    "since 1 ",
    "aA",
    "ab ",
    "1,",
    "$",
    "${",
    "@",
    "A=",
    "0x",
    "\\",
    "12:",
    "é",
    "\u0301",
]
UNITS += [
    "a" * 130 + "\n",
    "a_" * 149 + " ",
    "1-a." * 74 + "! ",
    "A" * 298 + ". ",
    "a=" * 149 + " ",
    "a." * 149 + " ",
]
UNITS += [
    "1" * 299 + " ",
    "1." * 149 + " ",
    "A1" * 149 + "- ",
    "-a" * 149 + " ",
    "/a" * 149 + "! ",
    "x/" * 30 + "y# ",
]


@pytest.mark.parametrize(
    "unit", [*UNITS[::3], *(pytest.param(unit, marks=pytest.mark.full) for unit in UNITS)]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    hostile = (unit * (200_000 // len(unit) + 1))[:200_000]
    began = time.thread_time()
    specifics(hostile, limit=1_000_000)
    reason(hostile)
    survives("15 minutes", hostile)
    survives(unit.strip() or "x", hostile)
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "Use Redis, because the client can't keep 1.5 MB of tokens. Then go.",
            "the client can't keep 1.5 MB of tokens",
        ),
        ("Switch since the proxy takes port 8080", "the proxy takes port 8080"),
        ("Slow due to the trigram index; so what", "the trigram index; so what"),
        ("Rotate so that a stolen token dies!", "a stolen token dies"),
        ("Take SQLite instead of Postgres.\nNext", "Postgres"),
        ("Broken since 2026. Because of the proxy: it hangs", "the proxy: it hangs"),
        ("BECAUSE it is so\n\nnext paragraph", "it is so"),
        ("使用缓存，因为客户端不可靠。下一步", "客户端不可靠"),
        ("Wir nehmen Redis, weil es da ist.", "es da ist"),
        ("Open since yesterday", None),
        ("No reason given", None),
        ("because.", None),
        ("becauses and causes", None),
    ],
)
def test_the_reason_is_the_clause_behind_because(text: str, why: str | None) -> None:
    assert reason(text) == why


def test_a_reason_is_bounded() -> None:
    assert len(reason("because " + "so " * 500) or "") <= MAX_REASON_CHARS


@pytest.mark.parametrize(
    ("specific", "text"),
    [
        ("15 minutes", "a 15-minute TTL"),
        ("15 minutes", "15min"),
        ("15分钟", "TTL is 15 minutes"),
        ("1,742 lines", "1742 of them"),
        ("1742 lines", "1,742 of them"),
        ("1.5 GB", "about 1.5GB"),
        ("80 %", "80%"),
        ("src/auth/session.py:42", "in Session.py we"),
        ("C:\\Users\\me\\notes.txt", "notes.txt"),
        ("v1.2.3", "uses V1.2.3."),
        ("Postgres 17", "postgres:17-alpine"),
        ("Postgres 17", "PostgreSQL v17"),
        ("Python 3.11", "python>=3.11"),
        ("Node.js 20", "node.js version 20"),
        ("--no-verify", "with --no-verify"),
        ("getUserById", "call GETUSERBYID()"),
        ("npm run build", "`npm run build` first"),
        ("令牌", "刷新令牌存储"),
        ("ttl_s", "使用ttl_s缓存"),
        ("15 minutes", "有效期为15分钟"),
        ("300", "限制是300因为2个副本"),
        ("Postgres 17", "使用Postgres 17因为2个副本"),
    ],
)
def test_a_specific_survives(specific: str, text: str) -> None:
    assert survives(specific, text)


@pytest.mark.parametrize(
    ("specific", "text"),
    [
        ("15 minutes", "150 minutes, 1.15, 15.5, 115"),
        ("15 minutes", "some minutes"),
        ("1.5 GB", "11.5 GB, 1.50"),
        ("8 s", "commit 8a1f3"),
        ("getUser", "getUserById"),
        ("#12", "see #123"),
        ("9f86d08", "9f86d08a1"),
        ("src/auth/session.py", "src/auth/sessions.pyc"),
        ("v1.2.3", "v1.2.4"),
        ("Postgres 17", "Postgres 170, Postgres 17.2, Postgres, MyPostgres 17"),
        ("Python 3.11", "3.11, Python 3.1"),
    ],
)
def test_a_specific_that_is_only_part_of_another_does_not_survive(specific: str, text: str) -> None:
    assert not survives(specific, text)


def test_a_text_is_asked_for_thousands_of_specifics_in_a_moment() -> None:
    text = Kept("The worker of src/queue/lease.py holds its row for 15 minutes since Postgres 17. " * 150)
    began = time.thread_time()
    held = [
        text.holds(form.format(n))
        for n in range(1_000)
        for form in ("name_{}", "{} rows", "a/b_{}.py", "Redis {}")
    ]
    assert time.thread_time() - began < 2
    assert held.count(True) == 2
