from __future__ import annotations

import pytest

from pinfold.server.run.screen import on_screen


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain\n", "plain\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"\x1b[1;31mred\x1b[0m and \x1b[38:5:9mmore\x1b[m", "red and more"),
        (b" 10%\r 20%\r100%", "100%"),
        (b"a long line\rshort", "shortg line"),
        (b"a long line\r\x1b[Kshort", "short"),
        (b"a long line\r\x1b[2K\x1b[32mshort\x1b[0m", "short"),
        (b"done\r", "done"),
        (b"\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07 \x1b]0;title\x07.", "link ."),
        (b"\x1b(B\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        (b"bell \x07 null \0 \xff", "bell \\x07 null \\x00 \\xff"),
        ("größe €".encode(), "größe €"),
    ],
)
def test_text_is_what_a_terminal_would_show_last(raw: bytes, shown: str) -> None:
    assert on_screen(raw) == shown
