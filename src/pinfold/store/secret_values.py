"""Whether a value that stands where a secret would stand looks like one.

Each judge gets the context (what stands in front of the value, its opening quote included) and the beginning
of the value, and says no to what merely names a secret: references, placeholders, types, labels, file names,
expressions. Source: P24 and its near misses.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

Judge = Callable[[bytes, bytes], bool]

_REFERENCE = (
    rb"\$[A-Za-z_({]|%[A-Za-z_]\w*%|%[sdrv(]|%\w?$|\{|<|:\w+$|[!&@][A-Za-z_]+$|"
    rb"\.{1,2}/|~/|/[\w.-]+(/|$)|[A-Za-z]:\\|(https?|file|vault|arn|ssm|op|env|secret|sha256)(:|-from)"
)
_REFERENCE_INSIDE = rb"\$\{|\{\{|\$\(|\[redacted:"
_PLACEHOLDER = (
    rb"(?i)(your[-_]?|my[-_]?(?![A-Za-z_-]*[0-9]{2}))(pass|secret|token|api|key|own|super)|"
    rb"(change|replace|insert|enter|put|add|sample|your|my)[-_ <]|change(me|it|this)|"
    rb"todo|fixme|placeholder|dummy|redacted|masked|example|xxx|\*\*\*|\.\.\.|---|___|"
    rb"(none|null|nil|undefined|true|false|empty|string|password|passwd|pass|secret|token|admin|root|user|"
    rb"hidden|foo|bar|foobar|test\d*|abc\d*)$"
)
_EXAMPLE = rb"(?i)example|placeholder|your[-_]|x{6}|\*{4}|\.\.\."
_TYPE = rb"(?i)(u?int|float|bytes|string|char|varchar|str|bool|utf|sha|md|base|argon|pbkdf|oauth)[-_]?\d+(_t|id?)?$"
_LABEL = (
    rb"(?i)pass|secret|token|kennwort|contras|senha|requir|invalid|incorrect|missing|wrong|optional|forgot|"
    rb"confirm|string|text|field|input|param|hash|bcrypt|argon|plain|default|boolean|object|disabled|enabled|"
    rb"unknown|credential"
)
_NAME = rb"(?i)pass|pwd|pw\d|secret|token|key|user|arg|val|param|input|self|this|conf|env|text|str\d|field"
_NUMBERED = (
    rb"(?:^|_|(?=[A-Z]))(?:"
    rb"(?i:user|pass|password|pwd|token|secret|key|arg|val|value|param|input|text|str|field|account|client|server|"
    rb"host|app|api|db|test|v|s|ec|auth|oauth|web|pbkdf|argon|base|utf|x)[0-9]{1,2}|"
    rb"(?i:sha|md|hs|rs|es|aes|rsa|p|ed|x|curve|base|utf)[0-9]{1,5}|(?i:secp256[kr]1|k8s|e2e|b2b|i18n|p2p|neo4j))(?![0-9a-z])"
)
"""Words that carry a number in names too: `user1Password`, `oauth2Token`, `Ed25519PrivateKey`."""

_IDENTIFIER = rb"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*$"
_PATH = rb"\.|::|->"
_PART = rb"(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+)[0-9]{0,2}|[0-9]{1,3}"
_WORDY = rb"(?:%s)(?:(?:[-_./:]+|->)(?:%s))+$" % (_PART, _PART)
_ENVIRONMENT = rb"[A-Z0-9]=$"
_KEY_BODY = rb"[A-Za-z0-9+/]{32}|[0-9][A-Za-z0-9+/]{11}|[A-Za-z0-9+/]{11}[0-9]"
_CURSOR = (
    rb"(?i)(next|page|continuation|forward|backward|starting|sync|cursor|idempotency|request|publickey)"
    rb"[_-]?token\W{0,12}$"
)
_GIVEN = rb"(?:[ \t]+[^\s|;&\[]{1,24}){0,6}[ \t]+"  # no bracket: what is redacted already brings nothing new into reach
_CLIENT_OPTION = (
    rb"(?:(?:mysql|mariadb)[\w-]*"
    + _GIVEN
    + rb"-p|sshpass"
    + _GIVEN
    + rb"-p[ \t]*|redis-cli"
    + _GIVEN
    + rb"-a[ \t]+|"
    rb"(?:curl|https?|xh)" + _GIVEN + rb"-[^:\s]*[ \t=]*[^:\s]+:)\\{0,7}[\"'`]?$"
)
_UUID = rb"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_RISE = rb"[a-z][A-Z]"
_MEMBER = rb"[\"'`]\]?[ \t*]*:[ \t*]*$"
_NUMBER = rb"-?[0-9.]+([eE][+-]?[0-9]+)?$"
_DIGIT = rb"[0-9]"
_LETTER = rb"[A-Za-z]"
_MARK = rb"[^A-Za-z0-9_.\x80-\xff-]"


def always(_context: bytes, _value: bytes) -> bool:
    """Accept: the shape alone is proof."""
    return True


def token(_context: bytes, value: bytes) -> bool:
    """Accept what follows a vendor's prefix unless it is words, a mask such as `xxxxxx` or an example."""
    return not (re.search(_EXAMPLE, value) or re.match(_WORDY, value))


def dense(_context: bytes, value: bytes) -> bool:
    """Accept a run of 16 letters and digits mixed; needed where the prefix is a common word part (`sk-`)."""
    runs = re.findall(rb"[A-Za-z0-9]{16,}", value[:96])
    return any(re.search(_DIGIT, run) and re.search(_LETTER, run) for run in runs) and token(b"", value)


def not_documentation(_context: bytes, value: bytes) -> bool:
    """Accept unless it is one of the vendor's published sample keys, which end in EXAMPLE or EXAMPLEKEY."""
    return b"EXAMPLE" not in value


def password(context: bytes, value: bytes) -> bool:
    """Accept at least 6 bytes that are no reference, placeholder, label, type or name.

    A literal (in quotes, or an environment assignment) may be of letters only, from 8 on; other values need a
    mixture.
    """
    if len(value) < 6 or _is_named(value) or _is_json_number(context, value):
        return False
    literal = _is_literal(context)
    if value.isalpha():
        spelled = literal and not re.search(_LABEL, value)
        return len(value) >= 8 and (spelled or _is_irregular(value))
    if re.search(_DIGIT, value) or re.search(_MARK, value):
        return literal or not _is_code(value)
    return False


def secret(context: bytes, value: bytes) -> bool:
    """Accept at least 10 bytes with letters and digits that are neither words nor code."""
    return len(value) >= 10 and _is_random(context, value)


def bearer(context: bytes, value: bytes) -> bool:
    """Accept as `secret`, from 20 bytes on, no UUID and no cursor: tokens are an everyday thing here."""
    if len(value) < 20 or re.match(_UUID, value) or re.search(_CURSOR, context):
        return False
    return _is_random(context, value)


def spoken(context: bytes, value: bytes) -> bool:
    """Accept what stands alone behind an option or a name: letters and digits, no words, no code."""
    return _is_spoken(context, value) and not _is_code(value)


def _is_spoken(context: bytes, value: bytes) -> bool:
    mixed = re.search(_DIGIT, value) and (re.search(_LETTER, value) or len(value) >= 8)
    if (
        len(value) < 6
        or not (mixed or _is_irregular(value))
        or re.match(_UUID, value)
        or re.search(_CURSOR, context)
    ):
        return False
    return not _is_named(value)


def client_option(context: bytes, value: bytes) -> bool:
    """Accept as `spoken` what a database or web client takes by a short option, such as `mysql -p…`."""
    return bool(re.search(_CLIENT_OPTION, context)) and spoken(context, value)


def told(context: bytes, value: bytes) -> bool:
    """Accept as `spoken`, and what could be a variable's name too: a sentence tells the password itself."""
    is_path = re.search(_PATH, value) and _is_code(value)
    return _is_spoken(context, value) and not (is_path or re.match(_WORDY, value))


def url_password(_context: bytes, value: bytes) -> bool:
    """Accept any password between `user:` and `@host` that is no reference or placeholder."""
    return len(value) >= 3 and not _is_named(value)


def basic(_context: bytes, value: bytes) -> bool:
    """Accept base64 of `user:password`."""
    try:
        plain = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


def private_key(_context: bytes, value: bytes) -> bool:
    """Accept a block with key material in it, not code that merely names the header and footer."""
    body = re.sub(rb"-----(BEGIN|END)[^-]*-----", b"", value)
    return bool(re.search(_KEY_BODY, body))


def _is_random(context: bytes, value: bytes) -> bool:
    mixed = re.search(_DIGIT, value) and re.search(_LETTER, value)
    if (
        not (mixed or _is_irregular(value))
        or _is_named(value)
        or re.match(_WORDY, value)
        or _is_json_number(context, value)
    ):
        return False
    # Behind a colon without a space it is rather a part of a name, such as an ARN.
    return _is_literal(context) or not (context.endswith(b":") or _is_code(value))


def _is_named(value: bytes) -> bool:
    """Whether it stands for a value kept elsewhere, or for none."""
    named = (
        re.match(_REFERENCE, value)
        or re.search(_REFERENCE_INSIDE, value)
        or re.match(_PLACEHOLDER, value.rstrip(b"="))
    )
    return bool(named or re.match(_TYPE, value) or b"EXAMPLE" in value or len(set(value)) == 1)


def _is_code(value: bytes) -> bool:
    """Whether an unquoted value is rather an expression: a path of names, or a name of what it holds."""
    if len(value) > 80 or not re.match(_IDENTIFIER, value):
        return bool(re.match(_WORDY, value))
    return bool(re.match(_WORDY, value) or (re.search(_NAME, value) and _is_numbered_as_names_are(value)))


def _is_numbered_as_names_are(value: bytes) -> bool:
    """Whether its digits stand where names have them: few, at the end of a word, or in one such as `oauth2`."""
    if b"." in value:
        return True
    if re.search(_PATH, value) or (b"_" in value and (value.islower() or value.isupper())):
        return len(re.findall(_DIGIT, value)) <= 5
    numbers = re.findall(rb"[0-9]+", re.sub(_NUMBERED, b"", value))
    if not numbers:
        return True
    is_at_end = value.endswith(numbers[-1]) or value.islower()
    return len(numbers) == 1 and len(numbers[0]) <= 2 and is_at_end


def _is_irregular(value: bytes) -> bool:
    """Whether its letters change case as no name in camel case does."""
    return len(re.findall(_RISE, value)) >= 3 and not re.fullmatch(_PART, value.strip(b"_"))


def _is_json_number(context: bytes, value: bytes) -> bool:
    """Whether it is a number behind a quoted name, in whose place only another number would be valid."""
    return bool(re.search(_MEMBER, context) and re.match(_NUMBER, value))


def _is_literal(context: bytes) -> bool:
    return context[-1:] in (b'"', b"'", b"`") or bool(re.search(_ENVIRONMENT, context[-16:]))
