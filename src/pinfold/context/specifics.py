"""The concrete parts of a text: what a summary drops first and a later reader needs exactly.

Numbers with units, identifiers, paths, versions, flags, commit ids, issue numbers, addresses, quoted strings, and the
clause that gives the reason. Linear time on any text. Source: design 1 (Words), design 3 (Folds and their audit).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pinfold.context.visible import clip

LIMIT = 40
MAX_REASON_CHARS = 300

_WIDE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
)
"""Scripts written without spaces: a word of ours ends where they begin, except inside a path."""

_WIDE_LETTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

_PIECE = re.compile(
    rf"""
    `{{1,3}}(?P<code>[^`\n]{{1,120}})`
    | "(?P<double>[^"\n]{{1,120}})"
    | (?<!\w)'(?P<single>[^'\n]{{1,120}})'(?!\w)
    | “(?P<curly>[^”\n]{{1,120}})” | «(?P<guillemets>[^»\n]{{1,120}})» | 「(?P<corner>[^」\n]{{1,120}})」
    | (?P<address>\b[a-z][a-z0-9+.]{{1,20}}://[^\s"'`<>{_WIDE}]{{1,500}})
    | (?P<word>\$\{{\w{{1,60}}\}}
        | (?:[<>]=?(?=\d))?
          (?:[^\s"'`“”«»()\[\]{{}}<>,;|!?{_WIDE}] | (?<=\d),(?=\d) | (?<=/)[{_WIDE_LETTERS}]{{1,40}}(?=[./]))+)
    """,
    re.VERBOSE,
)
_MAX_QUOTE_CHARS = 60
_MAX_WORD_CHARS = 300

_NUMBER = r"\d+(?:[.,_]\d+)*"
_WIDE_UNIT = (
    "毫秒|秒钟|秒|分钟|分|小时|時間|天|周|个月|月|年|日|次|個|个|件|条|行|倍|円|元"
    "|회|초|분|시간|일|개|นาที|วินาที|ชั่วโมง|วัน"
)
_PLAIN_NUMBER = re.compile(rf"[~±<>≤≥=$€£¥+-]{{0,3}}{_NUMBER}")
_JOINED_UNIT = re.compile(
    rf"[~±<>≤≥=$€£¥]{{0,3}}{_NUMBER}(?:[^\W\d_]{{1,12}}(?:/[^\W\d_]{{1,8}})?|[%‰°€$£×]|°[CF])"
)
_UNIT_BEHIND = re.compile(
    rf"[ \u00a0\u202f]?(?:(?:[%‰€$£°]|°[CF]|{_WIDE_UNIT})"
    rf"|(?<=[ \u00a0\u202f])(?P<unit>[^\W\d_{_WIDE}]{{1,20}}(?:/[^\W\d_]{{1,12}})?)(?!\w))"
)
_SHORT_UNITS = frozenset(
    "ms s m h d w ns us µs μs B kB KB MB GB TB KiB MiB GiB TiB k K M G x px pt em rem Hz kHz MHz".split()
)
_NO_UNITS = frozenset(
    "about above adds after again against all allows already also always and any are became because become"
    " becomes before behind below between both breaks brings but came can cannot causes comes contains could"
    " creates depends did does doesn don during each every exists fits for from gave gets gives goes had handles"
    " has have held helps here his holds how however ignores includes instead into introduces is isn its just"
    " keeps lacks later lets like made makes may means might must needs never nor not now off offers once one only"
    " onto our out over per provides ran rather refuses rejects remains removes replaces requires said seems shall"
    " she ships should since solves some stays still such supports takes than that the their then there they this"
    " those though through throughout too took two und under unless until upto uses using very via wants was wasn"
    " went were what when where whether which while who whose why will with within without won works would yet you"
    " your".split()
)
_UNITS = _SHORT_UNITS | frozenset(
    f"{unit}{plural}"
    for unit in "second sec minute min hour day week month year byte token line row file time worker thread request"
    " percent point user connection replica".split()
    for plural in ("", "s")
)
"""What follows a number that is an amount even behind a name; any other word leaves it a version there."""

_NAME = re.compile(r"[A-Z][A-Za-z]{1,20}(?:\.js)?|[A-Z](?:\+\+|#)|(?:i|mac|tv|watch)OS")
_NO_NAMES = frozenset(
    "About Add After All Allow Almost Already An And Any Are Around As At Be Because Before Between Both But By"
    " Can Cap Change Check Cut Do Does Drop During Each Every Exactly Expect First For From Get Give Had Has Have"
    " He Her His How If In Increase Into Is It Its Just Keep Last Less Let Limit Lower Make Many Max Maximum Min"
    " Minimum More Most Move Need Needs Next No Nor Not Now Of On Once Only Or Our Over Past Per Pick Plus Port"
    " Prefer Put Raise Reduce Release Remove Require Requires Retry Return Roughly Run Save Send Set She Show"
    " Since So Some Start Stop Store Support Switch Take Target Than That The Their Them Then There These They"
    " This Those Through Till To Took Top Total Try Under Until Up Upgrade Upto Use Uses Using Version Via Wait"
    " Was We Were What When Where Which While Will With Within Without Write You Your".split()
)
"""Words that stand in front of an amount, capitalized where a sentence begins; they name nothing with a version."""

_VERSION_BEHIND = re.compile(r"[ \u00a0](v?\d{1,2}(?:\.\d{1,4}){0,3})(?:\+|(?![\w%‰°€$£×/]|[.,:+-]\w))")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_TRAILING = ".:…-–—*·"
_LEADING = "*·–—…:"

_ISSUE = r"(?:[\w.-]{1,60}/){0,2}[\w.-]*#\d+"
_CONCRETE = re.compile(
    "|".join(
        (
            _ISSUE,
            r"--?[A-Za-z](?:[\w-]*(?:=.+)?)",  # flag
            r"[~^<>=!v]{0,3}\d+(?:\.\d+)+(?:[-+.]?\w+)*(?:\.x|\.\*)?|v\d+",  # version or decimal
            r"\d{1,4}[-:]\d{1,2}(?:[-:.T+Z]\d{0,4})*Z?",  # date or time
            r"0x[0-9a-fA-F]+",
            r"[\w.-]+:\d{2,5}",  # host and port, file and line
            r"[$%@][A-Za-z_{][\w{}./-]*%?",  # variable, package, decorator
            r"[\w.+-]+@[\w-]+\.[\w.-]+",
            r"[\w.-]+=\S+",
            r"\w+(?:(?:::|->)\w+)+(?:::)?",
            r"\w*[^\W\d_]_\w+|_+\w*[^\W_]\w*|\w+_+\w*",  # snake_case and SCREAMING_CASE
            r"\w*[^\W\d_A-Z][A-Z]\w*|[A-Z]+[A-Z][a-z]\w*",  # camelCase, PascalCase, HTTPServer
            r"(?=\D*\d)(?=.*[^\W\d_])[^\W_]+",  # letters with digits: sha256, E0382, 9f86d08
            r"(?=\D*\d)\w+(?:[-.+]\w+)+",  # names with digits: gpt-6.2-sol, ABC-12
            r"\.?[^\W\d]\w+(?:\.[^\W\d]\w*)+|\.[a-z][\w-]{2,}",  # dotted.name, file.ext, .gitignore
            r"[A-Z]{4,}",
        )
    )
)
_SLASHED = re.compile(rf"{_ISSUE}|{_JOINED_UNIT.pattern}")
_EMPHASIS = frozenset(
    "ALL ALSO ALWAYS ANY BOTH CONSTRAINT DEAD DECISION DONE EACH EVERY EVERYTHING FACT FIRST FROM HAVE HTML HTTP HTTPS"
    " IMPORTANT JSON LAST MUST NEED NEVER NONE NOTE NOTHING ONCE ONLY REALLY SHALL SHOULD STILL STOP THAT THEN THIS"
    " TODO"
    " VERY WARNING WHEN WILL WITH YAML".split()
)
_ROOTED = re.compile(r"(?:~|\.{1,2})?/[\w.@+~-]|[A-Za-z]:[\\/]\w")
_FOLDERS = frozenset(
    "app apps bin bugfix build cmd config dist docs etc feature fix hotfix include internal lib origin packages pkg"
    " refs"
    " release scripts server src test tests tools upstream usr".split()
)
_FILE = re.compile(r"[\w@+-][\w@+.-]*\.[A-Za-z]\w{0,9}(?::\d+(?:[:-]\d+)?)?")

_REASON = re.compile(
    r"(?<!\w)(?:because(?: of)?|since(?!\s+(?:\d|v\d|then\b|yesterday\b|last\b))|due to|owing to|so that|instead of"
    r"|rather than|weil|parce que|porque|perché|потому что)(?!\w)|因为|因為",
    re.IGNORECASE,
)
_VERSIONED = re.compile(rf"({_NAME.pattern})[ \u00a0]v?(\d[\d.]*)")
_AMOUNT = re.compile(rf"\W*({_NUMBER})[\s-]?[^\d\s]*")
_NO_MORE_DIGITS = rf"(?![^\W\d_{_WIDE}]*\d)(?![.,]\d)"
_JOINT = r"(?:ql|\.?js)?\W{0,4}(?:v|version\W{1,2})?"
_NARROW = re.compile(rf"[^\W{_WIDE}]")
_ANYWHERE = re.compile("")
_WORD_BEGINS, _WORD_ENDS = re.compile(f"(?<!{_NARROW.pattern})"), re.compile(f"(?!{_NARROW.pattern})")
_NUMBER_BEGINS, _NUMBER_ENDS = re.compile(rf"{_WORD_BEGINS.pattern}(?<!\d[.,])"), re.compile(_NO_MORE_DIGITS)
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3})")
_LINE_NUMBERS = re.compile(r"(?::\d+)+\Z")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|\Z)|[。！？]|\n\s*\n")


def specifics(text: str, limit: int = LIMIT) -> tuple[str, ...]:
    """Return the concrete parts of a text in order of appearance, each once, at most `limit`."""
    found: dict[str, None] = {}
    for part in _parts(text):
        found[part] = None
        if len(found) >= limit:
            break
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    place = 0
    while piece := _PIECE.search(text, place):
        place = piece.end()
        kind, content = piece.lastgroup or "", piece.group(piece.lastgroup or 0)
        if kind == "word":
            part, place = _word(text, piece)
        elif kind == "address":
            part = content.rstrip(".,:;!?)]}")
        elif len(content) > _MAX_QUOTE_CHARS and kind != "code":
            part, place = None, piece.start() + 1  # a quoted passage: look inside
        else:
            part = content.strip()
        if part:
            yield part


def _word(text: str, piece: re.Match[str]) -> tuple[str | None, int]:
    """Return the specific that a word is, with the unit behind it, and where to go on."""
    word = piece.group().lstrip(_LEADING).rstrip(_TRAILING)
    if not word or len(word) > _MAX_WORD_CHARS:
        return None, piece.end()
    if word.isalpha() and word.islower() and not text.startswith("()", piece.end()):
        return None, piece.end()  # what most words are, before anything else is tried
    if _PLAIN_NUMBER.fullmatch(word):
        return _number(text, word, piece)
    if version_end := _version_end(text, word, piece):
        return text[piece.end() - len(word) : version_end], version_end
    if _is_concrete(word):
        return word, piece.end()
    if text.startswith("()", piece.end()) and word.isidentifier():
        return word, piece.end()
    return None, piece.end()


def _version_end(text: str, word: str, piece: re.Match[str]) -> int | None:
    """Return where the version ends that stands behind a proper name, as in `Postgres 17`."""
    is_name = _NAME.fullmatch(word) and word not in _NO_NAMES and word not in _EMPHASIS
    version = _VERSION_BEHIND.match(text, piece.end()) if is_name and piece.group().endswith(word) else None
    if version is None:
        return None
    unit = _UNIT_BEHIND.match(text, version.end(1))
    is_amount = unit and (unit["unit"] is None or unit["unit"] in _UNITS or "/" in unit["unit"])
    return None if is_amount else version.end(1)


def _number(text: str, number: str, piece: re.Match[str]) -> tuple[str | None, int]:
    unit = _UNIT_BEHIND.match(text, piece.end()) if piece.group().endswith(number) else None
    if unit and (unit["unit"] is None or _is_unit(unit["unit"])):
        return number + unit.group(), unit.end()
    bare = sum(map(str.isdigit, number)) > 2 or not number.isdigit()
    return (number if bare else None), piece.end()


def _is_unit(word: str) -> bool:
    return word in _SHORT_UNITS or "/" in word or (len(word) > 2 and word.lower() not in _NO_UNITS)


def _is_concrete(word: str) -> bool:
    is_plain = word.isalpha() and (word[1:].islower() or len(word) == 1)
    if is_plain or word in _EMPHASIS or _ORDINAL.fullmatch(word):
        return False
    if "/" in word or "\\" in word:
        return _is_path(word) or _SLASHED.fullmatch(word) is not None
    return (_JOINED_UNIT.fullmatch(word) or _CONCRETE.fullmatch(word)) is not None


def _is_path(word: str) -> bool:
    """Whether a word with slashes is a path: rooted, in a usual folder, or with parts that prose has not (and/or)."""
    if _ROOTED.match(word):
        return True
    parts = [part for part in re.split(r"[/\\]", word) if part]
    if len(parts) < 2 or all(part.isdigit() for part in parts):
        return bool(parts) and word[-1] == "/" and parts[0].isidentifier()
    return (
        parts[0] in _FOLDERS
        or len(parts) > 3
        or any(_FILE.fullmatch(part) or _is_code_name(part) for part in parts)
    )


def _is_code_name(part: str) -> bool:
    return any(mark in part for mark in "_.-@") or any(map(str.isdigit, part))


def reason(text: str) -> str | None:
    """Return the clause behind the first because, since, due to, so that, instead of …, up to its sentence's end.

    At most `MAX_REASON_CHARS` characters; None where no reason is given.
    """
    found = _REASON.search(text)
    if found is None:
        return None
    end = _SENTENCE_END.search(text, found.end())
    clause = text[found.end() : end.start() if end else len(text)].strip(" \t\n,:")
    return clip(clause, MAX_REASON_CHARS) or None


def survives(specific: str, text: str) -> bool:
    """Whether a text still holds a specific: case apart, a path by its base name, a number without its unit.

    A name with its version is there however the two are joined: `Postgres 17`, `PostgreSQL v17`, `postgres:17`.
    """
    return Kept(text).holds(specific)


class Kept:
    """A text made ready to be asked for many specifics, each in time linear in the text."""

    def __init__(self, text: str) -> None:
        self._text, self._folded = text, text.casefold()
        self._plain = _plain_digits(self._folded)

    def holds(self, specific: str) -> bool:
        """Whether the text holds it, in the sense of `survives`."""
        versioned = _VERSIONED.fullmatch(specific)
        if versioned:
            return _occurs(versioned[1].casefold(), self._folded, _WORD_BEGINS, _behind_name(versioned[2]))
        amount = _AMOUNT.fullmatch(specific)
        if amount:
            return _occurs(_plain_digits(amount[1]), self._plain, _NUMBER_BEGINS, _NUMBER_ENDS.match)
        return any(self.has_word(form) for form in (specific, base_name(specific)) if form)

    def has_word(self, form: str) -> bool:
        """Whether these very characters stand there, case apart, by themselves and not as a part of a longer word."""
        return _occurs(form.casefold(), self._folded, *_ends_of(form))

    def spells(self, form: str) -> bool:
        """Whether they stand there in this very case, as what tells two names of a program apart."""
        return _occurs(form, self._text, *_ends_of(form))


def _ends_of(form: str) -> tuple[re.Pattern[str], Callable[[str, int], object]]:
    """Return what has to be before and behind a form that stands by itself."""
    begins = _WORD_BEGINS if _NARROW.match(form[:1]) else _ANYWHERE
    return begins, (_WORD_ENDS if _NARROW.match(form[-1:]) else _ANYWHERE).match


def _behind_name(version: str) -> Callable[[str, int], object]:
    """Return what tells whether a version stands behind a name's end; its own expression is quick to compile."""
    joined = re.compile(f"{_JOINT}{re.escape(version)}")

    def stands(text: str, at: int) -> object:
        found = joined.match(text, at)
        return found and _NUMBER_ENDS.match(text, found.end())

    return stands


def _occurs(form: str, text: str, begins: re.Pattern[str], ends: Callable[[str, int], object]) -> bool:
    """Whether a form stands in a text with the right surroundings; far faster than one expression per form."""
    at = text.find(form)
    while at >= 0:
        if begins.match(text, at) and ends(text, at + len(form)):
            return True
        at = text.find(form, at + 1)
    return False


def _plain_digits(text: str) -> str:
    """Return text with its numbers written without separators of thousands."""
    return _THOUSANDS.sub("", text)


def base_name(specific: str) -> str | None:
    """Return a path's last part without line numbers; None for what is no path, or where it has under 3 characters."""
    if not ("/" in specific or "\\" in specific):
        return None
    base = re.split(r"[/\\]", _LINE_NUMBERS.sub("", specific).rstrip("/\\"))[-1]
    return base if len(base) > 2 else None
