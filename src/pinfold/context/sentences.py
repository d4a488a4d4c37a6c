"""What a message says in words: its lines outside code blocks, its sentences without quotations and pasted output.

Linear time on any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|[\r\n]")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})(.*)", re.DOTALL)
_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)")
_NOT_SAID = re.compile(
    r"[ \t]*[>|<$%]"  # quotation, table, markup, prompt of a shell
    r"|(?: {4}|\t)\s*(?![-*+•]\s|\d{1,3}[.)]\s)\S"  # indented code
    r"|\s*[\w.]*(?:[Ee]rror|[Ww]arning|Exception)(?:\[\w+\])?:"
    r"|\s*\[?(?:ERROR|WARN(?:ING)?|FATAL|FAILED|INFO|DEBUG)\b"
    r"|\s*(?:Traceback|File \"|at \S+ ?\(|\+\+\+ |--- |@@ |E  )"
    r"|\s*[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:"  # a line of a log
)
_WRAPPED_CHARS = 50
_ENDS = re.compile(r"[.!?…:。！？：][\"'”’)\]*_`]*\s*\Z")
_BETWEEN = re.compile(
    r"(?:(?<=[.!?…])|(?<=[.!?…][\"')\]*_`”’]))(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bz\.B\.)\s+(?=[^a-zß-ÿ\s])"
    r"|(?<=\w[?!])\s+|(?<=[。！？])(?![」』”）])|(?<=[。！？][」』”）])"
)


def unfenced(text: str) -> list[str]:
    """Return the lines of a text, those of fenced code blocks (and the fences) as empty lines."""
    lines: list[str] = []
    fence = ""
    for line in _LINE_END.split(text):
        found = _FENCE.match(line)
        if fence:
            lines.append("")
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            lines.append("")
            fence = found[1]
        else:
            lines.append(line)
    return lines


def sentences(text: str) -> Iterator[str]:
    """Yield what is said in a text, sentence by sentence, each on one line and without its list marker.

    Code blocks, quotations, tables, and lines that look like a tool's output are left out.
    """
    for paragraph in _paragraphs(text):
        for sentence in _BETWEEN.split(paragraph):
            if sentence and not sentence.isspace():
                yield " ".join(sentence.split())


def _paragraphs(text: str) -> Iterator[str]:
    """Yield lines, joined with those before them where a long line was wrapped."""
    open_lines: list[str] = []
    for line in unfenced(text):
        goes_on = open_lines and not _ITEM.match(line) and _is_wrapped(open_lines[-1])
        if open_lines and not (goes_on and _is_said(line)):
            yield " ".join(open_lines)
            open_lines = []
        if _is_said(line):
            item = _ITEM.match(line)
            open_lines.append(line[item.end() :] if item else line)
    yield " ".join(open_lines)


def _is_wrapped(line: str) -> bool:
    return len(line) >= _WRAPPED_CHARS and not _ENDS.search(line[-8:])


def _is_said(line: str) -> bool:
    return bool(line) and not line.isspace() and not _NOT_SAID.match(line)
