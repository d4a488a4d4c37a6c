"""The table of secret shapes: what is replaced before anything is stored, and under which name.

Patterns are RE2 over bytes. A shape is found by `before + start`, which is short and bounded, so that one
combined search skips everything else; only there the whole of it is read. Source: P24.
"""

from __future__ import annotations

from dataclasses import dataclass

from pinfold.store import secret_values as values
from pinfold.store.secret_values import Judge


def _any_of(words: str) -> bytes:
    """Return the pattern of words between bars, also as JSON escapes them."""
    both = "".join(c if c.isascii() else f"(?:{c}|\\\\{{1,7}}u{ord(c):04x})" for c in words)
    return rb"(?:" + both.encode() + rb")"


EDGE = rb"(?:\b|_|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}[mK])"
"""Where a token may begin: a word's edge, or behind an escape or a colour code whose last letter is a letter."""

_WORD = rb"[A-Za-z0-9_-]"
_ALNUM = rb"[A-Za-z0-9]"
_HEX = rb"[0-9a-f]"
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_SLASH = rb"(?:\\?/)"
_SEGMENT = rb"(?:\\?/[A-Za-z0-9_]+)"
_CLOSE = rb"(?:\\{0,7}[\"'`])?\]?[ \t*]{0,4}"
_TYPED = rb"(?::[ \t]{0,2}(?:[Ss]tr(?:ing)?|SecretStr|bytes|&str|Optional\[str\]|str \| None)[ \t]{0,2})?"
_IS = rb"(?:" + _TYPED + rb"(?:={1,3}|\\u003d|:=|=>)[ \t*]{0,4}|" + _any_of(":|：") + rb"[ \t*]{0,4})"
# In front of , ] } or : a quote rather ends a JSON string than opens a value.
_QUOTED_START = rb"\\{0,7}[\"'`](?:[^\s\"'`<>{,\]}:\\]|\\{1,7}[^\s])(?:[^\s\"\\]|\\{1,7}[^\s]){3}"
_CURLY = rb"(?:\xe2\x80[\x98\x9c])?"
_BARE_FIRST = rb"[A-Za-z0-9!#%+/?^_~.\-]"
_BARE = rb"[A-Za-z0-9!#%*+/?@^_~.:$\-]"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a secret is read once its start is found: `pattern` matches all of it.

    `trim` are bytes that do not count as its end, `barred` are bytes that may not follow. `far` says that
    only its end tells whether it matches, so that a first glance is not enough.
    """

    pattern: bytes
    trim: bytes = b""
    barred: bytes = b""
    far: bool = False


BARE = Reading(_BARE_FIRST + _BARE + rb"*={0,2}", trim=b".:?", barred=b"([{=")
"""A value without quotes, up to what ends a word, and not what is called, indexed or compared."""

QUOTED = {
    b'"': Reading(rb"(?:[^\s\"\\]|\\[^\s])+"),
    b"'": Reading(rb"(?:[^\s'\"\\]|\\[^\s\"])+"),
    b"`": Reading(rb"[^\s`\"\\]+"),
    b'\\"': Reading(rb"(?:[^\s\"\\]|\\\\(?:\\\\|\\\"|[^\s\"\\]))+"),
}
"""What may stand in quotes, by the opening one: each writes a quote inside it in its own way."""

ESCAPED = Reading(rb"[^\s\"'`\\]+")
"""The same behind any other opening, such as a quote that is escaped twice."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of a secret: what `start` begins is one if `holds(before, secret)`; `before` stays.

    Without a reading it is a value, bare or in quotes of any depth; `start` then includes the opening quote.
    """

    before: bytes
    start: bytes
    reading: Reading | None
    holds: Judge = values.always

    @property
    def by_context(self) -> bool:
        """Whether only its surroundings, not its own form, make it a secret."""
        return self.before not in (EDGE, b"")


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of secret: the name that stands in its place, what it is, and its shapes."""

    name: str
    what: str
    shapes: tuple[Shape, ...]


def _token(name: str, what: str, prefix: bytes, byte: bytes, least: int) -> Rule:
    """Return the rule of a vendor's `prefix` followed by at least `least` bytes of a class."""
    start = prefix + byte + b"{%d}" % min(least, 12)
    reading = Reading(prefix + byte + b"{%d,}" % least)
    return Rule(name, what, (Shape(EDGE, start, reading, values.token),))


def _form(name: str, what: str, start: bytes, rest: bytes, holds: Judge = values.token) -> Rule:
    """Return the rule of a token that `start`, which is bounded, tells well enough."""
    return Rule(name, what, (Shape(EDGE, start, Reading(start + rest), holds),))


def _value(before: bytes, least: int, holds: Judge) -> Shape:
    """Return the shape of a value of at least `least` bytes, bare or in quotes of any depth."""
    bare = _BARE_FIRST + _BARE + b"{%d}" % (least - 1)
    return Shape(before, rb"(?:%s|%s)" % (_QUOTED_START, bare), None, holds)


def _assigned(keys: bytes, least: int, holds: Judge) -> Shape:
    return _value(rb"(?i:" + keys + rb")" + _CLOSE + _IS, least, holds)


_OTHER_PASSWORDS = _any_of(
    "passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|hasło|Пароль|пароль|"
    "密码|密碼|口令|パスワード|비밀번호"
)
_PASSWORD_KEYS = rb"pass(?:word|wd|phrase|code)|pwd|[_-]pass|" + _OTHER_PASSWORDS
_SECRET_KEYS = (
    rb"(?:api|access|auth|secret|private|signing|encryption|master|account|service|admin)[ _-]?key|secret"
)
_FOR = rb"(?:\s{1,4}(?:for|of|to|on|at|in)(?:\s{1,4}[\w.@-]{1,30}){1,4})?"
_SAYS = rb"\s{1,4}(?:is|was|will be)(?:\s{1,4}(?:now|set to))?:?\s{1,4}" + _CURLY
_OTHER_SAYS = rb"\s{0,4}" + _any_of("ist|lautet|est|es|é|是|为|為|は|は、|—|-") + rb"\s{0,4}" + _CURLY
_OTHER_PROSE_PASSWORD = rb"(?i:" + _OTHER_PASSWORDS + _OTHER_SAYS + rb")"
_PROSE_PASSWORD = rb"(?i:\b(?:pass(?:word|phrase|code|wd)|pwd)" + _FOR + _SAYS + rb")"
_PROSE_KEY = rb"(?i:\b(?:(?:api|access|secret|private|auth)[ _-]?key|key|token|secret)" + _FOR + _SAYS + rb")"
_PROSE_BARE_KEY = rb"(?i:\bapi[ _-]?key\s{1,4})" + _CURLY
_NETRC = rb"(?i:\blogin\s{1,4}[^\s]{1,64}\s{1,4}password\s{1,4})"
_MARKED_UP = rb"(?i:<(?:[\w-]{1,20}[:_-])?(?:pass(?:word|phrase|wd)?|pwd|secret|token|api-?key)>)"
_FLAG = rb"--(?:[a-z]{1,20}-){0,2}(?:password|passphrase|passwd|pass|token|secret|api-?key)[ \t]{1,4}"
_NAME_AND = rb"[\"'\\]{0,7}[A-Za-z_][\w.@+-]{0,40}:"
_CLIENT_OPTION = (
    rb"[ \t](?:-p[ \t]{0,2}|-a[ \t]{1,2}|(?:-u[ \t]{0,2}|--(?:proxy-)?user[ =])" + _NAME_AND + rb")"
)

_PEM_NAME = rb"(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BEGIN = rb"-----BEGIN " + _PEM_NAME
# A quote with a colon behind it ends the name of a JSON member: a block never reaches into the next one.
_PEM_WHOLE = rb"(?:-?(?:[^\[\]{}<()\-\"]|\"[^\[\]{}<()\-:]))*\"?-----END " + _PEM_NAME
_PEM_QUOTES = rb"\\{0,3}[\"'][ \t]*[+\\]?[ \t]*\r?\n[ \t]*\\{0,3}[\"']"
_PEM_GAP = rb"(?:[\s+>|:0-9]|\\{1,4}[nrt]|\xe2\x86\x92|" + _PEM_QUOTES + rb")+"
_PEM_HEADERS = rb"(?:" + _PEM_GAP + rb"[A-Za-z][A-Za-z-]{2,24}: [^\s\\\"]+(?: [^\s\\\"]+)*)*"
_PEM_CUT = _PEM_HEADERS + rb"(?:" + _PEM_GAP + rb"[A-Za-z0-9+/=]{16,})+"
_PEM = _PEM_BEGIN + rb"(?:" + _PEM_WHOLE + rb"|" + _PEM_CUT + rb")"

_BASE64_BYTE = rb"(?:[A-Za-z0-9+/]|\\/)"
_AWS_SECRET = rb"(?i:secret_?access_?key|aws_?secret(?:_?key)?)" + _CLOSE + _IS + rb"(?:\\{0,7}[\"'`])?"
_AWS_KEY = _BASE64_BYTE + rb"{40}"
_AZURE = rb"(?:AccountKey|SharedAccessKey)(?:=|\\u003d)"
_SAS = rb"(?:[?&;]|\\u0026)sig="
_SAS_BYTE = rb"(?:[A-Za-z0-9]|%[0-9A-F]{2})"
_SK = rb"sk-(?:[A-Za-z0-9_]{1,12}-){0,2}[A-Za-z0-9]{16}"
_SLACK_HOOK = rb"(?:workflows" + _SEGMENT + rb"{4}|(?:services|triggers)" + _SEGMENT + rb"{3})"
_JWT_BEGIN = rb"eyJ[A-Za-z0-9_-]{10}"
_JWT_REST = rb"\.(?:eyJ" + _WORD + rb"{8,}\." + _WORD + rb"*|" + _WORD + rb"*(?:\." + _WORD + rb"+){3})"
_JWT = _JWT_BEGIN + _WORD + rb"{0,400}" + _JWT_REST
_URL = rb":" + _SLASH + rb"{2}[^\s/:@\"'`<>\\]{0,64}:"
_URL_BYTE = rb"[^\s/?#\"'`<>\\]"
_BEARER = rb"[A-Za-z0-9._~+/-]"

RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        "private key block (PEM, OpenSSH, PGP), whole or cut off",
        (Shape(b"", _PEM_BEGIN, Reading(_PEM, far=True), values.private_key),),
    ),
    _token("age-key", "age identity", rb"AGE-SECRET-KEY-1", rb"[0-9A-Z]", 50),
    _form(
        "aws-access-key",
        "AWS access key id (not the documentation's samples)",
        rb"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        rb"\b",
        values.not_documentation,
    ),
    Rule(
        "aws-secret-key",
        "AWS secret access key in an assignment",
        (Shape(_AWS_SECRET, _AWS_KEY, Reading(_AWS_KEY, barred=_BASE64), values.not_documentation),),
    ),
    _token("github-token", "GitHub token: ghp_ gho_ ghu_ ghs_ ghr_", rb"gh[pousr]_", _ALNUM, 36),
    _token("github-pat", "GitHub fine-grained token", rb"github_pat_", rb"[A-Za-z0-9_]", 22),
    _token(
        "gitlab-token",
        "GitLab token: glpat- and its relatives",
        rb"gl(?:pat|dt|rt|rtr|ptt|cbt|ft|imt|agent|soat|oas)-",
        _WORD,
        20,
    ),
    _token("slack-token", "Slack token: xoxb- xoxp- and so on", rb"xox[abceoprs](?:\.xox[bp])?-", _WORD, 10),
    _token("slack-app-token", "Slack app token", rb"xapp-", _WORD, 20),
    _form(
        "slack-webhook",
        "Slack webhook address",
        rb"hooks\.slack\.com" + _SLASH,
        _SLACK_HOOK,
    ),
    _token("stripe-key", "Stripe secret or restricted key", rb"[rs]k_(?:live|test|prod)_", _ALNUM, 16),
    _token("stripe-webhook", "webhook signing secret", rb"whsec_", rb"[A-Za-z0-9+/=]", 24),
    _token("anthropic-key", "Anthropic key", rb"sk-ant-", _WORD, 20),
    _token("openrouter-key", "OpenRouter key", rb"sk-or-v1-", _HEX, 32),
    _token("openai-key", "OpenAI project key", rb"sk-(?:proj|svcacct|admin|None)-", _WORD, 20),
    _form("sk-key", "other keys that begin with sk-", _SK, _WORD + rb"{4,}", values.dense),
    _token("google-api-key", "Google or Firebase API key", rb"AIza", _WORD, 35),
    _token("google-oauth", "Google OAuth client secret or access token", rb"(?:GOCSPX-|ya29\.)", _WORD, 20),
    _token("npm-token", "npm token", rb"npm_", _ALNUM, 36),
    _token("pypi-token", "PyPI upload token", rb"pypi-A", _WORD, 40),
    _token("rubygems-token", "RubyGems token", rb"rubygems_", _HEX, 48),
    _token("docker-token", "Docker Hub token", rb"dckr_(?:pat|oat)_", _WORD, 20),
    _token("huggingface-token", "Hugging Face token", rb"(?:hf|api_org)_", _ALNUM, 30),
    _token(
        "model-provider-key",
        "Groq, xAI, Perplexity or Replicate key",
        rb"(?:gsk_|xai-|pplx-|r8_)",
        _ALNUM,
        24,
    ),
    _form(
        "sendgrid-key", "SendGrid key", rb"SG\.[A-Za-z0-9_-]{16}", _WORD + rb"{0,16}\." + _WORD + rb"{32,64}"
    ),
    _form("twilio-key", "Twilio key id", rb"SK[0-9a-f]{32}", rb"\b"),
    _token("telegram-bot", "Telegram bot token", rb"[0-9]{8,10}:AA", _WORD, 33),
    _form(
        "discord-token",
        "Discord bot token",
        rb"(?:M[TDjz]|N[DTjz]|O[DT])[A-Za-z0-9_-]{22,26}\.[A-Za-z0-9_-]{6}\.",
        _WORD + rb"{27,}",
    ),
    _form(
        "discord-webhook",
        "Discord webhook address",
        rb"discord(?:app)?\.com" + _SLASH + rb"api",
        _SLASH + rb"webhooks" + _SLASH + rb"[0-9]{10,}" + _SLASH + _WORD + rb"{40,}",
    ),
    Rule(
        "azure-key",
        "Azure storage or bus key in a connection string, or a signature",
        (
            Shape(_AZURE, _BASE64_BYTE + rb"{40}", Reading(_BASE64_BYTE + rb"{40,}(?:=|\\u003d){0,2}")),
            Shape(_SAS, _SAS_BYTE + rb"{20}", Reading(_SAS_BYTE + rb"+=?")),
        ),
    ),
    _token("digitalocean-token", "DigitalOcean token", rb"do[opr]_v1_", _HEX, 64),
    _token("shopify-token", "Shopify token", rb"shp(?:at|ca|pa|ss|tka)_", rb"[0-9A-Fa-f]", 32),
    _token("square-token", "Square token", rb"sq0(?:atp|csp|idp)-", _WORD, 22),
    _form("databricks-token", "Databricks token", rb"dapi[0-9a-f]{32}", rb"\b"),
    _token("linear-key", "Linear key", rb"lin_(?:api|oauth)_", _ALNUM, 32),
    _token("notion-token", "Notion token", rb"(?:ntn_|secret_)", _ALNUM, 40),
    _token("airtable-token", "Airtable token", rb"pat[A-Za-z0-9]{14}\.", _HEX, 64),
    _token("atlassian-token", "Atlassian token", rb"AT(?:ATT|CTT|BB)3?[A-Za-z0-9]", rb"[A-Za-z0-9_=-]", 24),
    _token("vault-token", "HashiCorp Vault token", rb"hv[sbr]\.", _WORD, 24),
    _token("supabase-token", "Supabase token", rb"sb(?:p|_secret)_", _WORD, 20),
    _token("grafana-token", "Grafana token", rb"gl(?:sa|c)_", rb"[A-Za-z0-9_+/=]", 32),
    _token("newrelic-key", "New Relic key", rb"NRAK-", rb"[A-Z0-9]", 27),
    _token("sentry-token", "Sentry token", rb"sntry[su]_", rb"[A-Za-z0-9_+/=]", 40),
    _form("postman-key", "Postman key", rb"PMAK-", rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    _token(
        "planetscale-token",
        "PlanetScale password or token",
        rb"pscale_(?:pw|tkn|oauth)_",
        rb"[A-Za-z0-9_.=-]",
        32,
    ),
    _token(
        "memory-service-key",
        "keys of memory services: retaindb_ hsk- mem0_ brv_",
        rb"(?:retaindb_|hsk-|mem0_|brv_)",
        _WORD,
        16,
    ),
    Rule("jwt", "JSON web token", (Shape(EDGE, _JWT_BEGIN, Reading(_JWT, far=True)),)),
    Rule(
        "url-password",
        "password in an address: scheme://user:password@host",
        (Shape(_URL, _URL_BYTE + rb"{3}", Reading(_URL_BYTE + rb"+@", trim=b"@"), values.url_password),),
    ),
    Rule(
        "bearer-token",
        "`Bearer` followed by a token",
        (Shape(rb"(?i:\bbearer)\s{1,4}", _BEARER + rb"{16}", Reading(_BEARER + rb"+={0,2}"), values.bearer),),
    ),
    Rule(
        "basic-credentials",
        "`Basic` followed by base64 of user:password",
        (
            Shape(
                rb"(?i:\bbasic)\s{1,4}", rb"[A-Za-z0-9+/]{8}", Reading(rb"[A-Za-z0-9+/]+={0,2}"), values.basic
            ),
        ),
    ),
    Rule(
        "password",
        "password or passphrase, assigned or told in a sentence",
        (
            _assigned(_PASSWORD_KEYS, 6, values.password),
            _value(_PROSE_PASSWORD, 6, values.told),
            _value(_NETRC, 6, values.told),
            _value(_MARKED_UP, 6, values.password),
            _value(_OTHER_PROSE_PASSWORD, 6, values.told),
        ),
    ),
    Rule(
        "secret",
        "API key, client secret and the like, assigned or told in a sentence",
        (
            _assigned(_SECRET_KEYS, 10, values.secret),
            _value(_PROSE_KEY, 12, values.secret),
            _value(_PROSE_BARE_KEY, 12, values.secret),
        ),
    ),
    Rule(
        "option",
        "value of an option such as `--password` or `--token`; `curl -u name:…`, `mysql -p…`, `sshpass -p …`",
        (
            _value(_FLAG, 6, values.spoken),
            _value(_CLIENT_OPTION, 6, values.client_option),
        ),
    ),
    Rule("token", "any other `token = …`", (_assigned(rb"token", 20, values.bearer),)),
)


def rules_table() -> str:
    """Return the rules as the Markdown table that the documentation shows."""
    rows = [f"| `{rule.name}` | {rule.what} |" for rule in RULES]
    return "\n".join(["| name | what is replaced |", "| --- | --- |", *rows])
