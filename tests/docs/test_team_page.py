"""What docs/team.md tells people to enter is understood, and does there what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from pinfold.server.cli import main
from tests.docs.team_page import PAGE, Machine, blocks


def _entered() -> list[list[str]]:
    """Return the words of every command of pinfold on the page, alone or in a line of prose, from its name on."""
    text = PAGE.read_text("utf-8")
    fences = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
    lines = [line for kind, block in fences.findall(text) if kind == "sh" for line in block.splitlines()]
    prose = re.findall(r"`([^`\n]*\bpinfold [^`]+)`", fences.sub("", text))
    return [words[1:] for line in (*lines, *prose) if (words := _of_pinfold(line))]


def _of_pinfold(line: str) -> list[str]:
    words = shlex.split(line)
    while words and words[0] != "pinfold":
        words = words[1:]
    is_name_alone = len(words) < 2 or words[1].startswith(("-", "/")) or words[1] in ("env", "sh")
    return _of_pinfold(shlex.join(words[1:])) if words and is_name_alone else words


def test_every_command_of_pinfold_on_the_page_is_understood() -> None:
    entered = _entered()
    assert len(entered) > 20
    for words in entered:
        context, rest = _found(click.Context(main, info_name="pinfold", **main.context_settings), words)
        until = rest.index(">") if ">" in rest else len(rest)
        context.command.make_parser(context).parse_args(rest[:until])


def _found(context: click.Context, words: list[str]) -> tuple[click.Context, list[str]]:
    """Return the context of the command that the first words name, and what is given to it."""
    if not isinstance(context.command, click.Group):
        return context, words
    found = context.command.get_command(context, words[0])
    assert found is not None, words
    inner = click.Context(found, info_name=words[0], parent=context, **found.context_settings)
    return _found(inner, words[1:])


def test_the_trial_shows_what_was_kept(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    serving, using = blocks("Try it")
    with machine.running(serving):
        shown = machine.run(using).stdout
    assert "2999\n3000" in shown
    assert re.search(r"^artifacts\t1$", shown, re.M)


def test_a_token_is_rotated_and_the_old_one_is_gone(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.run(f"PINFOLD_HOME={machine.home} pinfold token add anna --project shop")
    (rotating,) = blocks("Tokens")
    said = machine.run(rotating).stdout
    listed = machine.run("pinfold token list", PINFOLD_HOME=str(machine.home)).stdout
    assert re.findall(r"^([\w-]+)\t", listed, re.M) == ["anna-2", "audit"]
    assert said.count("anna-2\t") == 1
