"""Made-up secrets for the tests of redaction: P24.

No secret stands in this file: each is put together at run time from its prefix and seeded random parts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import string

import pytest

KEY = b"a project's own key"
_RANDOM = random.Random(20)
_UPPER = string.ascii_uppercase + string.digits


def mixed(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Random characters, with a digit, a lower-case and an upper-case letter where the alphabet has them."""
    return "".join(_RANDOM.choices(alphabet, k=length - 3)) + "".join(
        alphabet[at] for at in (-1, 0, len(alphabet) // 2)
    )


def hexadecimal(length: int) -> str:
    return mixed(length, "0123456789abcdef")


def pem(kind: str, ending: str = "") -> str:
    lines = "\n".join(mixed(64) for _ in range(5))
    return f"-----BEGIN {kind}-----\n{lines}\n{mixed(10)}==\n-----END {kind}-----{ending}"


def _basic() -> str:
    return base64.b64encode(f"user:{mixed(12)}".encode()).decode()


TOKENS: tuple[tuple[str, str], ...] = (
    ("aws-access-key", "AK" + "IA" + mixed(16, _UPPER)),
    ("aws-access-key", "AS" + "IA" + mixed(16, _UPPER)),
    *(("github-token", f"gh{letter}_" + mixed(36)) for letter in "pousr"),
    ("github-pat", "github" + "_pat_" + mixed(22) + "_" + mixed(59)),
    ("gitlab-token", "gl" + "pat-" + mixed(20)),
    ("slack-token", "xo" + "xb-" + mixed(12, string.digits) + "-" + mixed(24)),
    ("slack-app-token", "xa" + "pp-1-A" + mixed(10, _UPPER) + "-" + hexadecimal(64)),
    ("slack-webhook", "hooks.slack" + ".com/services/T" + mixed(9, _UPPER) + "/B01/" + mixed(24)),
    ("stripe-key", "sk" + "_live_" + mixed(24)),
    ("stripe-key", "rk" + "_live_" + mixed(24)),
    ("stripe-webhook", "wh" + "sec_" + mixed(32)),
    ("anthropic-key", "sk-" + "ant-api03-" + mixed(80) + "-AA"),
    ("openai-key", "sk-" + "proj-" + mixed(40) + "-_" + mixed(40)),
    ("openrouter-key", "sk-" + "or-v1-" + hexadecimal(64)),
    ("sk-key", "sk-" + mixed(48)),
    ("google-api-key", "AI" + "za" + mixed(35)),
    ("google-oauth", "GO" + "CSPX-" + mixed(28)),
    ("npm-token", "np" + "m_" + mixed(36)),
    ("pypi-token", "py" + "pi-AgEI" + mixed(120)),
    ("rubygems-token", "ruby" + "gems_" + hexadecimal(48)),
    ("docker-token", "dckr" + "_pat_" + mixed(27)),
    ("huggingface-token", "h" + "f_" + mixed(34)),
    ("model-provider-key", "gs" + "k_" + mixed(52)),
    ("sendgrid-key", "S" + "G." + mixed(22) + "." + mixed(43)),
    ("twilio-key", "S" + "K" + hexadecimal(32)),
    ("telegram-bot", mixed(10, string.digits) + ":AA" + mixed(33)),
    ("discord-token", "MT" + mixed(24) + "." + mixed(6) + "." + mixed(38)),
    ("discord-webhook", "discord" + ".com/api/webhooks/" + mixed(18, string.digits) + "/" + mixed(68)),
    ("digitalocean-token", "do" + "p_v1_" + hexadecimal(64)),
    ("shopify-token", "shp" + "at_" + hexadecimal(32)),
    ("square-token", "sq0" + "atp-" + mixed(22)),
    ("databricks-token", "da" + "pi" + hexadecimal(32)),
    ("linear-key", "lin" + "_api_" + mixed(40)),
    ("notion-token", "nt" + "n_" + mixed(43)),
    ("airtable-token", "pa" + "t" + mixed(14) + "." + hexadecimal(64)),
    ("atlassian-token", "AT" + "ATT3xFf" + mixed(60)),
    ("vault-token", "hv" + "s." + mixed(90)),
    ("supabase-token", "sb" + "p_" + hexadecimal(40)),
    ("grafana-token", "gl" + "sa_" + mixed(32) + "_" + hexadecimal(8)),
    ("newrelic-key", "NR" + "AK-" + mixed(27, _UPPER)),
    ("sentry-token", "sntr" + "ys_" + mixed(60)),
    ("postman-key", "PM" + "AK-" + hexadecimal(24) + "-" + hexadecimal(34)),
    ("planetscale-token", "pscale" + "_pw_" + mixed(43)),
    ("age-key", "AGE-SECRET" + "-KEY-1" + mixed(58, _UPPER)),
    ("memory-service-key", "retain" + "db_" + mixed(32)),
    ("memory-service-key", "hs" + "k-" + mixed(32)),
    ("memory-service-key", "me" + "m0_" + mixed(32)),
    ("memory-service-key", "br" + "v_" + mixed(32)),
    ("jwt", "ey" + "J" + mixed(33) + ".eyJ" + mixed(90) + "." + mixed(43)),
    (
        "jwt",
        "ey" + "J" + mixed(33) + "." + mixed(40) + "." + mixed(16) + "." + mixed(50) + "." + mixed(22),
    ),
)
"""Secrets that their own form gives away."""

CONTEXTS: tuple[tuple[str, str, str, str], ...] = (
    ("private-key", "", pem("PRIVATE KEY"), "\n"),
    ("private-key", "", pem("RSA PRIVATE KEY"), "\n"),
    ("private-key", "", pem("OPENSSH PRIVATE KEY"), "\n"),
    ("private-key", "", pem("PGP PRIVATE KEY BLOCK"), "\n"),
    ("private-key", "", pem("EC PRIVATE KEY").rpartition("\n-----END")[0][:200], "\n$ "),
    ("aws-secret-key", "aws_secret_access_key = ", mixed(38) + "/+", "\n"),
    ("azure-key", "DefaultEndpointsProtocol=https;AccountKey=", mixed(86) + "==", ";EndpointSuffix=x"),
    ("azure-key", "https://a.blob.core.windows.net/c?sv=1&sig=", mixed(43) + "%3D", "&se=2"),
    ("url-password", "postgres://app:", "s3cr3t!" + mixed(5), "@db.internal:5432/app"),
    ("url-password", "redis://:", mixed(20), "@cache:6379"),
    ("url-password", "https://oauth2:", "p@" + mixed(10), "@git.example.org/a.git"),
    ("bearer-token", "Authorization: Bearer ", mixed(40), "\n"),
    ("basic-credentials", "Authorization: Basic ", _basic(), "\n"),
    ("password", "DB_PASSWORD=", "correcthorsebattery", "\n"),
    ("password", "password: ", "hunter" + "2", "\n"),
    ("password", "password = '", "tr0ub4dor&3", "'"),
    ("password", "remember my database password is ", "hunter" + "2", ", and so on"),
    ("password", "The password for the staging database is ", mixed(10), "."),
    ("password", "machine h login me password ", mixed(9), "\n"),
    ("option", "mysql --password ", mixed(9), " -e x"),
    ("option", "curl -u admin:", mixed(10), " https://h.example"),
    ("option", "curl -sS --user 'admin:", mixed(10), "' https://h.example"),
    ("option", "curl --proxy-user=me:", mixed(10), " https://h.example"),
    ("option", "mysql -h db -u root -p", mixed(9), " app"),
    ("option", "mysqldump -uroot -p'", mixed(9), "' app > a.sql"),
    ("option", "sshpass -p ", mixed(9), " ssh me@h"),
    ("option", "sshpass -p '", mixed(9), "' ssh me@h"),
    ("option", "redis-cli -h cache -a ", mixed(20), " ping"),
    ("password", "密码是 ", mixed(9), "。"),
    ("password", "密码：", mixed(9), "\n"),
    ("password", "数据库密码为", mixed(9), "，请记住"),
    ("password", "パスワード：", mixed(9), "\n"),
    ("password", "비밀번호: ", mixed(9), "\n"),
    ("password", "Пароль: ", mixed(9), "\n"),
    ("password", "Das Passwort ist ", mixed(9), "."),
    ("password", "contraseña: ", mixed(9), "\n"),
    ("password", "Password：", mixed(9), "\n"),
    ("password", "<password>", mixed(9), "</password>"),
    ("password", "config['db_password'] = '", mixed(9), "'"),
    ("password", "password: str = '", mixed(9), "'"),
    ("password", "**Password:** `", mixed(9), "`"),
    ("secret", "api_key: ", mixed(24), "\n"),
    ("secret", "const clientSecret = '", mixed(30), "';"),
    ("secret", "Here is my API Key ", mixed(24), " for tests"),
    ("secret", "X-Api-Key: ", hexadecimal(32), "\n"),
    ("token", "ACCESS_TOKEN=", mixed(40), " make"),
    ("token", "https://h.example/hook?token=", hexadecimal(32), "&x=1"),
)
"""Secrets that what stands around them gives away: rule, before, secret, after."""

SECRETS = (*((rule, "see ", secret, " there") for rule, secret in TOKENS), *CONTEXTS)
_IDS = [f"{number}-{rule}" for number, (rule, *_) in enumerate(SECRETS)]
every_secret = pytest.mark.parametrize(("rule", "before", "secret", "after"), SECRETS, ids=_IDS)


def mark(rule: str, secret: str) -> str:
    """What stands in a secret's place, made independently of the code under test."""
    digest = hmac.new(KEY, secret.encode(), hashlib.sha256).hexdigest()
    return f"[redacted:{rule}:{digest[:8]}]"
