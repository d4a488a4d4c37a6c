"""Every known shape of a secret in every surrounding, and what only looks like one: P24."""

from __future__ import annotations

import base64
import json
import random

import pytest

from pinfold.store.redaction import Redacted, Redactor
from pinfold.store.secret_shapes import RULES
from tests.secret_samples import KEY, SECRETS, TOKENS, every_secret, mark, mixed, pem

REDACTOR = Redactor(KEY)


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
    value = mixed(24)
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


@pytest.mark.parametrize(
    "layout", ["{number:6}\t{line}", "{number:6}→{line}", "> {line}", "+{line}", '    "{line}\\n"']
)
def test_private_key_shown_with_line_numbers_or_marks_is_replaced(layout: str) -> None:
    lines = pem("RSA PRIVATE KEY").split("\n")
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
    cut = pem("RSA PRIVATE KEY")[:180]
    text = json.dumps({"a": cut, name: "-----END RSA PRIVATE KEY-----", "z": [1]}, indent=spaces)
    members = json.loads(REDACTOR.text(text).text)
    assert members.pop("a").startswith("[redacted:private-key:")
    assert members == {name: "-----END RSA PRIVATE KEY-----", "z": [1]}


def test_private_key_as_a_list_of_lines_in_json_becomes_one_line() -> None:
    lines = pem("PRIVATE KEY").split("\n")
    members = json.loads(REDACTOR.text(json.dumps({"key": lines, "n": 1})).text)
    assert len(members["key"]) == 1
    assert members["key"][0].startswith("[redacted:private-key:")
    assert members["n"] == 1


@pytest.mark.parametrize("secret", ["hunter2Secret99", "MyPass2024", "S3cretPass1", "hunter2secret99"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("password: ", " for db"),
        ("password=", "\n"),
        ("The password is ", "."),
        ("The staging password is ", " for all"),
        ("machine h login me password ", "\n"),
    ],
)
def test_password_that_holds_a_word_such_as_pass_or_secret_is_replaced(
    before: str, secret: str, after: str
) -> None:
    expected = Redacted(before + mark("password", secret) + after, (("password", 1),))
    assert REDACTOR.text(before + secret + after) == expected


@pytest.mark.parametrize("secret", ["userPassword1", "password123", "secret123"])
def test_password_that_could_be_a_name_is_replaced_where_a_sentence_tells_it(secret: str) -> None:
    assert REDACTOR.text(f"The password is {secret}.").text == f"The password is {mark('password', secret)}."


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
    "docker run -u 1000:1000 app",
    "git push -u origin:release2024",
    "rsync -u host:path/dir1 .",
    "mysql -u root -p app_db1",
    "mysql -h db -P 3306 -p",
    "curl -u admin:$PASSWORD1 https://h.example",
    "ssh -p 2222 me@h1234567",
    "密码是必填的",
    "密码：请输入8位",
    "Passwort ist zu kurz",
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
    'private_key: "_EllipticCurvePrivateKey"',
    "private_key: Ed25519PrivateKey",
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
    "The password is base64 encoded, then PBKDF2 derived or argon2id hashed",
    "password: userPassword1",
    "login(user=user1, password=user1Password)",
    "password = testUser2Pass or key2Value",
    "password = user_pass_2024",
    "secret = oauth2ClientSecret",
    "if password is user_password2",
    "the password is config.password2",
    "const secretKey = deriveKey2FromInput;",
    "secret_key: Secp256k1PrivateKey",
    "api_key: stripeV2ApiKey",
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


def test_every_rule_has_a_secret_here() -> None:
    assert {rule.name for rule in RULES} == {rule for rule, *_ in SECRETS}
