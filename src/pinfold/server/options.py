"""What the commands share: how an error of ours is told, and the options that most of them take."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pinfold.store.errors import FULL, PinfoldError

if TYPE_CHECKING:
    from pinfold.server.settings import Settings

Asking = TypeVar("Asking", bound=Callable[..., Any] | click.Command)

_STORE = click.option(
    "--store",
    metavar="ADDRESS",
    expose_value=False,
    callback=lambda _ctx, _option, address: _name_store(address),
    help="Address of a store that is shared, such as postgresql://USER@HOST/DATABASE (default: PINFOLD_STORE or"
    " PINFOLD_URL; a variable keeps a password out of the list of processes).",
)
_PROJECT = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the project (default: the client's project folder, else the working directory).",
)


def PROJECT(command: Asking) -> Asking:  # noqa: N802 - an option like those below
    """Return a command with the options that say which project's store, and which store, is meant."""
    return _PROJECT(_STORE(command))


JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, also for an error.")

_INTERRUPTED = 130


def _name_store(address: str | None) -> None:
    """Let the option say what the environment would, to this process and those that it starts."""
    if address is not None:
        os.environ["PINFOLD_STORE"] = address
        os.environ.pop("PINFOLD_URL", None)


class Amount(click.FloatRange):
    """A number that can be reckoned with, from 0 to `most`: `nan` is in every range of click's."""

    def __init__(self, most: float) -> None:
        super().__init__(min=0, max=most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return it as a float; fails with what is wrong."""
        found = super().convert(value, param, ctx)
        if found != found:
            self.fail(f"{value} is no number.", param, ctx)
        return found


def _agree(ctx: click.Context, _option: click.Parameter, is_agreed: bool) -> None:  # noqa: FBT001 - click's call
    """Take `--yes` as the mode; of two that contradict each other none is the last word."""
    if is_agreed and ctx.params.get("mode") is not None:
        raise click.UsageError("--dry-run changes nothing and --yes lets it happen: give one of them.", ctx)
    if is_agreed:
        ctx.params["mode"] = "do"


def asking_first(meaning: str) -> Callable[[Asking], Asking]:
    """Return the options of a command that asks: `--dry-run`, of that meaning, only looks, and `--yes` does not ask.

    The command gets `mode`: look, do or None.
    """
    look = click.option("--dry-run", "mode", flag_value="look", is_eager=True, help=meaning)
    yes = click.option("--yes", is_flag=True, expose_value=False, callback=_agree, help="Do not ask.")
    return lambda command: look(yes(command))


@contextmanager
def telling_errors(ctx: click.Context) -> Iterator[None]:
    """Show an error of ours as one line on stderr, with --json as an object on stdout; exit status 1.

    With --json so is one of the command's own use, with exit status 2, and an interrupt, with 130.
    """
    try:
        yield
    except click.UsageError as error:
        if not ctx.params.get("as_json"):
            raise
        _tell_json(error.format_message())
        ctx.exit(2)
    except KeyboardInterrupt:
        if not ctx.params.get("as_json"):
            raise
        _tell_json("Interrupted.")
        ctx.exit(_INTERRUPTED)
    except OSError as error:
        if error.errno not in FULL:
            raise
        from pinfold.server.terminals import give_up_output

        click.echo(f"pinfold: what was to be printed could not be ({error.strerror}).", err=True)
        give_up_output()
        ctx.exit(1)
    except PinfoldError as error:
        from pinfold.context.visible import visible
        from pinfold.server.wording import for_person

        if ctx.params.get("as_json"):
            _tell_json(for_person(str(error)))
        else:
            told = visible(for_person(str(error)))  # it names files and projects as they are called
            click.echo(f"pinfold: {told}", err=True)
        ctx.exit(1)


@contextmanager
def going_on_later(kept: str, *, as_json: bool) -> Iterator[None]:
    """Say to who interrupts what is kept, for the same command to go on behind it; exit status 130.

    With --json an interrupt is told as everywhere.
    """
    try:
        yield
    except KeyboardInterrupt:
        if as_json:
            raise
        told = f"pinfold: interrupted; {kept} is kept, and the same command goes on behind it."
        click.echo(told, err=True)
        sys.exit(_INTERRUPTED)


def _tell_json(error: str) -> None:
    import json

    click.echo(json.dumps({"ok": False, "error": error}))


class Command(click.Command):
    """A command that tells errors of ours as above, and with --json those of its own use as well; exit status 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        given = args[: args.index("--")] if "--" in args else args[:]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "--json" not in given or not any(option.name == "as_json" for option in self.params):
                raise
            _tell_json(error.format_message())
            ctx.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        with telling_errors(ctx):
            return super().invoke(ctx)


def settings_of(project: Path | None) -> Settings:
    """Return the settings for the project that was named, if one was."""
    from pinfold.server.settings import read_settings

    return read_settings(folder=project)
