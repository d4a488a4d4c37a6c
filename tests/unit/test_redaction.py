"""Known secret shapes are replaced and near misses are not: P24.

No secret stands in this file: each is put together at run time from its prefix and seeded random parts.
"""

from __future__ import annotations

import base64
import json
import random
import string
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinfold.store.redaction import GLANCE_BYTES, WINDOW_BYTES, Redacted, Redactor
from pinfold.store.secret_shapes import RULES, rules_table

REDACTOR = Redactor(b"a project's own key")
_RANDOM = random.Random(20)
_UPPER = string.ascii_uppercase + string.digits
_DOCUMENTATION = Path(__file__).parents[2] / "docs" / "redaction.md"


def _mixed(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Random characters, with a digit, a lower-case and an upper-case letter where the alphabet has them."""
    return "".join(_RANDOM.choices(alphabet, k=length - 3)) + "".join(
        alphabet[at] for at in (-1, 0, len(alphabet) // 2)
    )


def _hex(length: int) -> str:
    return _mixed(length, "0123456789abcdef")


def _pem(kind: str, ending: str = "") -> str:
    lines = "\n".join(_mixed(64) for _ in range(5))
    return f"-----BEGIN {kind}-----\n{lines}\n{_mixed(10)}==\n-----END {kind}-----{ending}"


def _basic() -> str:
    return base64.b64encode(f"user:{_mixed(12)}".encode()).decode()


TOKENS: tuple[tuple[str, str], ...] = (
    ("aws-access-key", "AK" + "IA" + _mixed(16, _UPPER)),
    ("aws-access-key", "AS" + "IA" + _mixed(16, _UPPER)),
    *(("github-token", f"gh{letter}_" + _mixed(36)) for letter in "pousr"),
    ("github-pat", "github" + "_pat_" + _mixed(22) + "_" + _mixed(59)),
    ("gitlab-token", "gl" + "pat-" + _mixed(20)),
    ("slack-token", "xo" + "xb-" + _mixed(12, string.digits) + "-" + _mixed(24)),
    ("slack-app-token", "xa" + "pp-1-A" + _mixed(10, _UPPER) + "-" + _hex(64)),
    ("slack-webhook", "hooks.slack" + ".com/services/T" + _mixed(9, _UPPER) + "/B01/" + _mixed(24)),
    ("stripe-key", "sk" + "_live_" + _mixed(24)),
    ("stripe-key", "rk" + "_live_" + _mixed(24)),
    ("stripe-webhook", "wh" + "sec_" + _mixed(32)),
    ("anthropic-key", "sk-" + "ant-api03-" + _mixed(80) + "-AA"),
    ("openai-key", "sk-" + "proj-" + _mixed(40) + "-_" + _mixed(40)),
    ("openrouter-key", "sk-" + "or-v1-" + _hex(64)),
    ("sk-key", "sk-" + _mixed(48)),
    ("google-api-key", "AI" + "za" + _mixed(35)),
    ("google-oauth", "GO" + "CSPX-" + _mixed(28)),
    ("npm-token", "np" + "m_" + _mixed(36)),
    ("pypi-token", "py" + "pi-AgEI" + _mixed(120)),
    ("rubygems-token", "ruby" + "gems_" + _hex(48)),
    ("docker-token", "dckr" + "_pat_" + _mixed(27)),
    ("huggingface-token", "h" + "f_" + _mixed(34)),
    ("model-provider-key", "gs" + "k_" + _mixed(52)),
    ("sendgrid-key", "S" + "G." + _mixed(22) + "." + _mixed(43)),
    ("twilio-key", "S" + "K" + _hex(32)),
    ("telegram-bot", _mixed(10, string.digits) + ":AA" + _mixed(33)),
    ("discord-token", "MT" + _mixed(24) + "." + _mixed(6) + "." + _mixed(38)),
    ("discord-webhook", "discord" + ".com/api/webhooks/" + _mixed(18, string.digits) + "/" + _mixed(68)),
    ("digitalocean-token", "do" + "p_v1_" + _hex(64)),
    ("shopify-token", "shp" + "at_" + _hex(32)),
    ("square-token", "sq0" + "atp-" + _mixed(22)),
    ("databricks-token", "da" + "pi" + _hex(32)),
    ("linear-key", "lin" + "_api_" + _mixed(40)),
    ("notion-token", "nt" + "n_" + _mixed(43)),
    ("airtable-token", "pa" + "t" + _mixed(14) + "." + _hex(64)),
    ("atlassian-token", "AT" + "ATT3xFf" + _mixed(60)),
    ("vault-token", "hv" + "s." + _mixed(90)),
    ("supabase-token", "sb" + "p_" + _hex(40)),
    ("grafana-token", "gl" + "sa_" + _mixed(32) + "_" + _hex(8)),
    ("newrelic-key", "NR" + "AK-" + _mixed(27, _UPPER)),
    ("sentry-token", "sntr" + "ys_" + _mixed(60)),
    ("postman-key", "PM" + "AK-" + _hex(24) + "-" + _hex(34)),
    ("planetscale-token", "pscale" + "_pw_" + _mixed(43)),
    ("age-key", "AGE-SECRET" + "-KEY-1" + _mixed(58, _UPPER)),
    ("memory-service-key", "retain" + "db_" + _mixed(32)),
    ("memory-service-key", "hs" + "k-" + _mixed(32)),
    ("memory-service-key", "me" + "m0_" + _mixed(32)),
    ("memory-service-key", "br" + "v_" + _mixed(32)),
    ("jwt", "ey" + "J" + _mixed(33) + ".eyJ" + _mixed(90) + "." + _mixed(43)),
    (
        "jwt",
        "ey" + "J" + _mixed(33) + "." + _mixed(40) + "." + _mixed(16) + "." + _mixed(50) + "." + _mixed(22),
    ),
)
"""Secrets that their own form gives away."""

CONTEXTS: tuple[tuple[str, str, str, str], ...] = (
    ("private-key", "", _pem("PRIVATE KEY"), "\n"),
    ("private-key", "", _pem("RSA PRIVATE KEY"), "\n"),
    ("private-key", "", _pem("OPENSSH PRIVATE KEY"), "\n"),
    ("private-key", "", _pem("PGP PRIVATE KEY BLOCK"), "\n"),
    ("private-key", "", _pem("EC PRIVATE KEY").rpartition("\n-----END")[0][:200], "\n$ "),
    ("aws-secret-key", "aws_secret_access_key = ", _mixed(38) + "/+", "\n"),
    ("azure-key", "DefaultEndpointsProtocol=https;AccountKey=", _mixed(86) + "==", ";EndpointSuffix=x"),
    ("azure-key", "https://a.blob.core.windows.net/c?sv=1&sig=", _mixed(43) + "%3D", "&se=2"),
    ("url-password", "postgres://app:", "s3cr3t!" + _mixed(5), "@db.internal:5432/app"),
    ("url-password", "redis://:", _mixed(20), "@cache:6379"),
    ("url-password", "https://oauth2:", "p@" + _mixed(10), "@git.example.org/a.git"),
    ("bearer-token", "Authorization: Bearer ", _mixed(40), "\n"),
    ("basic-credentials", "Authorization: Basic ", _basic(), "\n"),
    ("password", "DB_PASSWORD=", "correcthorsebattery", "\n"),
    ("password", "password: ", "hunter" + "2", "\n"),
    ("password", "password = '", "tr0ub4dor&3", "'"),
    ("password", "remember my database password is ", "hunter" + "2", ", and so on"),
    ("password", "The password for the staging database is ", _mixed(10), "."),
    ("password", "machine h login me password ", _mixed(9), "\n"),
    ("option", "mysql --password ", _mixed(9), " -e x"),
    ("password", "<password>", _mixed(9), "</password>"),
    ("password", "config['db_password'] = '", _mixed(9), "'"),
    ("password", "password: str = '", _mixed(9), "'"),
    ("password", "**Password:** `", _mixed(9), "`"),
    ("secret", "api_key: ", _mixed(24), "\n"),
    ("secret", "const clientSecret = '", _mixed(30), "';"),
    ("secret", "Here is my API Key ", _mixed(24), " for tests"),
    ("secret", "X-Api-Key: ", _hex(32), "\n"),
    ("token", "ACCESS_TOKEN=", _mixed(40), " make"),
    ("token", "https://h.example/hook?token=", _hex(32), "&x=1"),
)
"""Secrets that what stands around them gives away: rule, before, secret, after."""

SECRETS = (*((rule, "see ", secret, " there") for rule, secret in TOKENS), *CONTEXTS)
_IDS = [f"{number}-{rule}" for number, (rule, *_) in enumerate(SECRETS)]
every_secret = pytest.mark.parametrize(("rule", "before", "secret", "after"), SECRETS, ids=_IDS)


def mark(rule: str, secret: str) -> str:
    """What stands in a secret's place, made independently of the code under test."""
    import hashlib
    import hmac

    digest = hmac.new(b"a project's own key", secret.encode(), hashlib.sha256).hexdigest()
    return f"[redacted:{rule}:{digest[:8]}]"


@every_secret
def test_secret_is_replaced_by_its_rule_and_keyed_digest(
    rule: str, before: str, secret: str, after: str
) -> None:
    expected = Redacted(before + mark(rule, secret) + after, ((rule, 1),))
    assert REDACTOR.text(before + secret + after) == expected


@every_secret
def test_second_redaction_changes_nothing_and_counts_nothing(
    rule: str, before: str, secret: str, after: str
) -> None:
    once = REDACTOR.text(before + secret + after).text
    assert REDACTOR.text(once) == Redacted(once, ())


@pytest.mark.parametrize(("rule", "secret"), TOKENS)
@pytest.mark.parametrize(
    "around", ['"{}"', "'{}'", "`{}`", "({})", "x={}", "/tmp/{}", "https://h/{}?x=1", "a_{}", "é{}é", "{}"]
)
def test_token_is_found_whatever_stands_around_it(rule: str, secret: str, around: str) -> None:
    assert REDACTOR.text(around.format(secret)).text == around.format(mark(rule, secret))


@every_secret
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_secret_inside_json_is_replaced_and_the_json_stays_valid(
    rule: str, before: str, secret: str, after: str, depth: int
) -> None:
    text = f"first\n{before}{secret}{after}"
    for _ in range(depth):
        text = json.dumps({"output": text, "n": 1}, ensure_ascii=False)
    redacted = REDACTOR.text(text)
    assert redacted.found == ((rule, 1),)
    inside = redacted.text
    for _ in range(depth):
        inside = json.loads(inside)["output"]
    assert inside.startswith(f"first\n{before}[redacted:{rule}:")
    assert inside.endswith("]" + after)
    assert secret not in inside


@pytest.mark.parametrize("key", ["password", "api_key", "access_token", "clientSecret", "DB_PASSWORD"])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("spaces", [None, 2])
def test_value_of_a_json_member_is_replaced_at_any_depth(key: str, depth: int, spaces: int | None) -> None:
    value = _mixed(24)
    text = json.dumps({"user": "me", key: value, "port": 5432}, indent=spaces)
    for _ in range(depth):
        text = json.dumps({"body": text})
    inside = REDACTOR.text(text).text
    assert value not in inside
    for _ in range(depth):
        inside = json.loads(inside)["body"]
    members = json.loads(inside)
    assert members.pop(key).startswith("[redacted:")
    assert members == {"user": "me", "port": 5432}


@pytest.mark.parametrize("password", ['a1"b2"c3', "a1\\b2\\c3", "a1'b2'c3", 'a1\\"b2', "ends1in\\"])
@pytest.mark.parametrize("depth", [1, 2])
def test_password_with_quotes_or_backslashes_is_replaced_whole(password: str, depth: int) -> None:
    text = json.dumps({"password": password, "n": 1})
    for _ in range(depth - 1):
        text = json.dumps({"body": text})
    inside = REDACTOR.text(text).text
    for _ in range(depth - 1):
        inside = json.loads(inside)["body"]
    members = json.loads(inside)
    assert members["password"].startswith("[redacted:password:")
    assert members["password"].endswith("]")
    assert members["n"] == 1


@every_secret
@pytest.mark.parametrize("cut", ["behind the first byte", "in the middle", "before the last byte"])
def test_secret_across_two_blocks_is_found(rule: str, before: str, secret: str, after: str, cut: str) -> None:
    at = {
        "behind the first byte": 1,
        "in the middle": len(secret) // 2,
        "before the last byte": len(secret) - 1,
    }[cut]
    filler = "lorem ipsum dolor\n" * 20_000
    whole = (filler + before + secret + after + "\n" + filler).encode()
    place = len(filler) + len(before) + at
    stream = REDACTOR.stream([whole[:place], whole[place:]])
    redacted = b"".join(stream).decode()
    assert redacted == filler + before + mark(rule, secret) + after + "\n" + filler
    assert stream.found == ((rule, 1),)


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
    secret = "gh" + "p_" + _mixed(36)
    first, second = REDACTOR.text(f"{secret} {secret}").text.split(" ")
    assert first == second
    assert Redactor(b"other").text(secret).text != first


def test_user_in_a_url_that_is_a_token_is_replaced_too() -> None:
    secret = "gl" + "pat-" + _mixed(20)
    redacted = REDACTOR.text(f"https://{secret}:{'s3cret' + _mixed(6)}@git.example.org")
    assert redacted.found == (("gitlab-token", 1), ("url-password", 1))
    assert secret not in redacted.text


def test_token_as_the_value_of_a_password_keeps_its_better_name() -> None:
    secret = "gh" + "p_" + _mixed(36)
    assert REDACTOR.text(f"password: {secret}").text == f"password: {mark('github-token', secret)}"


@pytest.mark.parametrize("size", [GLANCE_BYTES - 1, GLANCE_BYTES, GLANCE_BYTES + 1, 8 * 1024])
@pytest.mark.parametrize(("before", "after"), [('password = "', '"'), ("api_key=", " "), ("x sk-ant-", " ")])
def test_long_secret_is_replaced_to_its_end(before: str, after: str, size: int) -> None:
    redacted = REDACTOR.text(before + _mixed(size) + after)
    assert len(redacted.found) == 1
    assert redacted.text.endswith("]" + after)
    assert len(redacted.text) < 80


def test_private_key_of_16_kib_is_replaced_to_its_end() -> None:
    body = "\n".join(_mixed(64) for _ in range(248))
    block = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert 16_000 < len(block) <= 16 * 1024
    assert REDACTOR.text(f"a\n{block}\nb").text == f"a\n{mark('private-key', block)}\nb"


@pytest.mark.parametrize(
    "layout", ["{number:6}\t{line}", "{number:6}→{line}", "> {line}", "+{line}", '    "{line}\\n"']
)
def test_private_key_shown_with_line_numbers_or_marks_is_replaced(layout: str) -> None:
    lines = _pem("RSA PRIVATE KEY").split("\n")
    shown = "\n".join(layout.format(number=number, line=line) for number, line in enumerate(lines, 1))
    redacted = REDACTOR.text(f"cat key\n{shown}\ndone")
    assert redacted.found == (("private-key", 1),)
    assert not any(line in redacted.text for line in lines[1:-1])
    assert redacted.text.startswith("cat key\n")
    assert redacted.text.endswith("\ndone")


@pytest.mark.parametrize("name", ["b", "isMessageOfAnError", "privateKeyOfTheServer"])
@pytest.mark.parametrize("spaces", [None, 2])
def test_private_key_that_is_cut_off_in_json_leaves_the_next_member_alone(
    name: str, spaces: int | None
) -> None:
    cut = _pem("RSA PRIVATE KEY")[:180]
    text = json.dumps({"a": cut, name: "-----END RSA PRIVATE KEY-----", "z": [1]}, indent=spaces)
    members = json.loads(REDACTOR.text(text).text)
    assert members.pop("a").startswith("[redacted:private-key:")
    assert members == {name: "-----END RSA PRIVATE KEY-----", "z": [1]}


def test_private_key_as_a_list_of_lines_in_json_becomes_one_line() -> None:
    lines = _pem("PRIVATE KEY").split("\n")
    members = json.loads(REDACTOR.text(json.dumps({"key": lines, "n": 1})).text)
    assert len(members["key"]) == 1
    assert members["key"][0].startswith("[redacted:private-key:")
    assert members["n"] == 1


SAMPLE_KEY = "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"

NEAR_MISSES = (
    "AKIA" + "IOSFODNN7EXAMPLE",
    f"aws_secret_access_key = {SAMPLE_KEY}",
    f'"SecretAccessKey": "{SAMPLE_KEY}"',
    "No Firebase API key in the build",
    "password",
    "The password is required and the token was rejected.",
    "your password is incorrect; passwords must have 12 characters",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "9fceb02..d0ae598 main -> main",
    "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "data:image/png;base64," + base64.b64encode(random.Random(5).randbytes(600)).decode(),
    base64.encodebytes(random.Random(6).randbytes(3000)).decode(),
    "integrity sha512-" + base64.b64encode(random.Random(7).randbytes(64)).decode(),
    "cache-key-d41d8cd98f00b204e9800998ecf8427e",
    "password: str",
    "password: Optional[str] = None",
    "def login(user: str, password: SecretStr) -> Token:",
    "password = getpass.getpass()",
    "password = getpass()",
    "if password == other:",
    "self.password = password",
    "login(user=user, password=password1)",
    "password = config.database.password",
    'password = os.environ["DB_PASSWORD_1"]',
    "api_key=os.getenv('SERVICE_API_KEY2')",
    "apiKey: process.env.OPENAI_API_KEY2,",
    "DB_PASSWORD=${DB_PASSWORD}",
    "DB_PASSWORD=$DB_PASSWORD_2",
    "password: {{ vault_db_password_1 }}",
    "password: ${{ secrets.DB_PASSWORD_1 }}",
    "set PASSWORD=%DB_PASSWORD1%",
    'password = "<your password 1>"',
    'password = "changeme123"',
    'api_key = "YOUR_API_KEY_0123456789"',
    'token: "xxxxxxxxxxxxxxxxxxxxxxxx"',
    "password=********",
    '{"password": "required"}',
    '{"password": "string", "token": "string"}',
    '{"label": "password", "placeholder": "Password"}',
    '{"password": "Password1 is too short"}',
    'errors: {"password": "Incorrect password or email1"}',
    "token = tokens[index1]",
    "token = self.lexer.next_token(2)",
    '{"max_tokens": 4096, "input_tokens": 123456789012345678}',
    "tokenizer: o200k_base_with_special_1",
    'secret: "my-application-secret-v2"',
    "secretName: db-credentials-2024",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf12",
    "arn:aws:secretsmanager:*:*:secret:rds-preview-us-east-2!*",
    "aws ec2 wait --client-token 550e8400-e29b-41d4-a716-446655440000",
    '"NextToken": "abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEF"',
    "aws s3api list --starting-token eyJNYXJrZXIiOiBudWxsLCAiYm90b190",
    "username= message= passphrase= password= ",
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    "api.py,sha256=qaN-fw_htIgKUVXoAuAEVgKxQu3tZ9qE2eiKkWIS7LA,1234",
    "Credential=AKIDEXAMPLE/20220524/us-east-1/iam/aws4_request",
    "private_key = rust_openssl.hpke.MLKEM768X25519PrivateKey",
    "http://<username>:<password>@proxy-host",
    "private_key_path: /etc/ssl/private/server1.pem",
    "private_key: ./keys/server1.pem",
    "PWD=/home/me/work2/project",
    "https://example.com:8443/path/file@2x.png",
    "http://localhost:3000/?email=me@example.com",
    "git@github.com:owner/name2.git",
    "postgres://user:${PGPASSWORD}@host/db",
    "postgres://user:<password>@host/db",
    "see https://user:password@host in the manual",
    "Bearer authentication with OAuth2",
    "Authorization: Bearer ${TOKEN_1}",
    "Authorization: Bearer <access-token-0123456789>",
    "HTTP Basic authentication2",
    "from sklearn import sk-estimator-doc-link-1",
    "mem0_search_memories_tool, hf_hub_download, npm_config_registry, gsk_render",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "xoxb-your-bot-token-goes-here",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1\n-----END PUBLIC KEY-----",
    'pem.replace("-----BEGIN PRIVATE KEY-----", "").replace("-----END PRIVATE KEY-----", "")',
    'key = f"-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----"',
    "password: sha256, md5 or bcrypt",
    "password = hash_password(value2)",
    "passwords.txt:12: see password policy 2024",
    "eyJ" + "zb21lIjoiYmFzZTY0IG9mIEpTT04ifQ==",
    "PASS: test_login2 (0.01s)",
    "[redacted:github-token:9f31c2aa] and [redacted:private-key:12345678]",
    "password=[redacted:password:9f31c2aa]",
)


@pytest.mark.parametrize("text", NEAR_MISSES, ids=lambda text: ascii(text[:40]))
@pytest.mark.parametrize("form", ["plain", "in JSON", "in JSON twice"])
def test_near_miss_stays_as_it_is(text: str, form: str) -> None:
    for _ in range(["plain", "in JSON", "in JSON twice"].index(form)):
        text = json.dumps({"output": text})
    assert REDACTOR.text(text) == Redacted(text, ())


HOSTILE = (
    "password=", 'password="', 'password="aaaaaa1', "token: https://a1", "sk-", "sk-a-", "-eyJaaaaaaaaaa", "://u:ppp",
    "-eyJaaaaaaaaaa.eyJaaaaaaaaaa", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + "a" * 20,
    "password for a b ", "MTa-", "\\", '\\"', "[redacted:", "a", " ", "AKIA", "://", "secret='aaaaaaaaaa1",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_hostile_repetition_costs_time_in_proportion_to_its_length(unit: str) -> None:
    def cost_s(size: int) -> float:
        import time

        block = (unit * (size // len(unit) + 1)).encode()[:size]
        began = time.process_time()
        for _ in REDACTOR.stream([block]):
            pass
        return time.process_time() - began

    cost_s(1_000)
    small = min(cost_s(20_000) for _ in range(2))
    assert cost_s(80_000) < max(4 * small * 2.5, 0.1)


def test_every_rule_has_a_secret_here() -> None:
    assert {rule.name for rule in RULES} == {rule for rule, *_ in SECRETS}


def test_rule_names_are_unique_and_no_name_looks_like_another_secret() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for name in names:
        text = f"[redacted:{name}:0123abcd]"
        assert REDACTOR.text(text) == Redacted(text, ())


def test_documentation_shows_the_rules_of_the_code() -> None:
    assert rules_table() in _DOCUMENTATION.read_text("utf-8")
