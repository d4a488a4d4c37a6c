"""Redaction as a whole: streams, repetition, JSON, long secrets, hostile input: P24."""

from __future__ import annotations

import json
import random
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.store.redaction import GLANCE_BYTES, WINDOW_BYTES, Redacted, Redactor
from pinfold.store.secret_shapes import RULES, rules_table
from tests.secret_samples import CONTEXTS, KEY, SECRETS, mark, mixed

REDACTOR = Redactor(KEY)
_DOCUMENTATION = Path(__file__).parents[2] / "docs" / "redaction.md"

PIECES = [
    *(before + secret + after for _, before, secret, after in SECRETS),
    "x" * 999,
    " ",
    "\\n",
    '"',
    "é\n",
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12),
    st.integers(0, 2 * WINDOW_BYTES),
    st.lists(st.integers(0, 600_000), max_size=6),
)
def test_stream_gives_what_the_whole_text_gives_wherever_it_is_cut(
    pieces: list[str], shift: int, cuts: list[int]
) -> None:
    text = "." * (256 * 1024 - shift) + "".join(pieces) + " end" * 9_000
    whole = text.encode()
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    stream = REDACTOR.stream([whole[a:b] for a, b in pairwise(places)])
    redacted = b"".join(stream).decode()
    assert Redacted(redacted, stream.found) == REDACTOR.text(text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "password=", "[redacted:", ":", "https://"]), max_size=8))
def test_redaction_of_any_mixture_is_idempotent(pieces: list[str]) -> None:
    once = REDACTOR.text("".join(pieces)).text
    assert REDACTOR.text(once) == Redacted(once, ())


FRAGMENTS = [
    *PIECES,
    *(before for _, before, _, _ in CONTEXTS),
    *(secret[: len(secret) // 2] for _, _, secret, _ in CONTEXTS),
    "password",
    "token: ",
    "-----END PRIVATE KEY-----",
    "it's",
    "\\",
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=3).map("".join)
NAMES = st.sampled_from(["a", "password", "apiKey", "isMessageOfAnError1234567890", "url", "note"])
DOCUMENTS = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(NAMES, DOCUMENTS, min_size=1, max_size=4), st.booleans(), st.integers(0, 2))
def test_redaction_of_any_json_keeps_its_members_and_changes_only_texts(
    document: object, compact: bool, depth: int
) -> None:
    separators = (",", ":") if compact else (", ", ": ")
    text = json.dumps(document, separators=separators)
    for _ in range(depth):
        text = json.dumps(["log", text], separators=separators)
    text = REDACTOR.text(text).text
    for _ in range(depth):
        _, text = json.loads(text)
    assert _outline(json.loads(text)) == _outline(document)


def _outline(value: object) -> object:
    """A document without its texts; a list of texts counts as one, since a private key may be many lines."""
    if isinstance(value, dict):
        return {name: _outline(member) for name, member in value.items()}
    if isinstance(value, list):
        outlines = [_outline(item) for item in value]
        return [item for item in outlines if item != "text"] + ["text"] * ("text" in outlines)
    return "text" if isinstance(value, str) else value


def test_stream_of_nothing_is_nothing() -> None:
    stream = REDACTOR.stream([b"", b""])
    assert list(stream) == []
    assert stream.found == ()


def test_bytes_that_are_no_text_pass_unchanged() -> None:
    content = random.Random(3).randbytes(600_000)
    assert b"".join(REDACTOR.stream([content])) == content


def test_equal_secrets_have_equal_digests_and_another_key_gives_another() -> None:
    secret = "gh" + "p_" + mixed(36)
    first, second = REDACTOR.text(f"{secret} {secret}").text.split(" ")
    assert first == second
    assert Redactor(b"other").text(secret).text != first


def test_user_in_a_url_that_is_a_token_is_replaced_too() -> None:
    secret = "gl" + "pat-" + mixed(20)
    redacted = REDACTOR.text(f"https://{secret}:{'s3cret' + mixed(6)}@git.example.org")
    assert redacted.found == (("gitlab-token", 1), ("url-password", 1))
    assert secret not in redacted.text


def test_token_as_the_value_of_a_password_keeps_its_better_name() -> None:
    secret = "gh" + "p_" + mixed(36)
    assert REDACTOR.text(f"password: {secret}").text == f"password: {mark('github-token', secret)}"


@pytest.mark.parametrize("size", [GLANCE_BYTES - 1, GLANCE_BYTES, GLANCE_BYTES + 1, 8 * 1024])
@pytest.mark.parametrize(("before", "after"), [('password = "', '"'), ("api_key=", " "), ("x sk-ant-", " ")])
def test_long_secret_is_replaced_to_its_end(before: str, after: str, size: int) -> None:
    redacted = REDACTOR.text(before + mixed(size) + after)
    assert len(redacted.found) == 1
    assert redacted.text.endswith("]" + after)
    assert len(redacted.text) < 80


def test_private_key_of_16_kib_is_replaced_to_its_end() -> None:
    body = "\n".join(mixed(64) for _ in range(248))
    block = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert 16_000 < len(block) <= 16 * 1024
    assert REDACTOR.text(f"a\n{block}\nb").text == f"a\n{mark('private-key', block)}\nb"


HOSTILE = (
    "password=", 'password="', 'password="aaaaaa1', "token: https://a1", "sk-", "sk-a-", "-eyJaaaaaaaaaa", "://u:ppp",
    "-eyJaaaaaaaaaa.eyJaaaaaaaaaa", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "a" * 20,
    "password for a b ", "MTa-", "\\", '\\"', "[redacted:", "a", " ", "AKIA", "://", "secret='aaaaaaaaaa1",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_hostile_repetition_costs_time_in_proportion_to_its_length(unit: str) -> None:
    def cost_s(size: int) -> float:
        block = (unit * (size // len(unit) + 1)).encode()[:size]
        began = time.process_time()
        for _ in REDACTOR.stream([block]):
            pass
        return time.process_time() - began

    cost_s(1_000)
    small = min(cost_s(20_000) for _ in range(2))
    assert cost_s(80_000) < max(4 * small * 2.5, 0.1)


def test_rule_names_are_unique_and_no_name_looks_like_another_secret() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for name in names:
        text = f"[redacted:{name}:0123abcd]"
        assert REDACTOR.text(text) == Redacted(text, ())


def test_documentation_shows_the_rules_of_the_code() -> None:
    assert rules_table() in _DOCUMENTATION.read_text("utf-8")


@pytest.mark.parametrize(
    "colour", ["\x1b[31m", "\x1b[01;31m\x1b[K", "\\u001b[1;31m", "\\x1b[31m", "\\033[0;38;5;9m"]
)
@pytest.mark.parametrize(
    "token", ["ghp_" + "a1B2c3D4e5F6" * 3, "AKIA1234567890ABCDEF", "xoxb-123456789012-" + "AbCdEfGh1234" * 2]
)
def test_a_token_that_a_terminal_shows_in_colour_is_a_token(colour: str, token: str) -> None:
    end = "\\u001b[0m" if colour.startswith("\\") else "\x1b[m"
    redacted = REDACTOR.text(f"found: {colour}{token}{end} in a.env")
    assert token not in redacted.text
    assert redacted.text.startswith(f"found: {colour}[redacted:")
    assert redacted.text.endswith(f"{end} in a.env")
