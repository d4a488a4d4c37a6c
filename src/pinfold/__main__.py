"""Where pinfold begins, as a command and as `python -m pinfold`: a hook at once, all else by the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command that the arguments name; a hook does without the command line's parser, for speed."""
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from pinfold.server.hook import main as hook

        os._exit(hook(sys.argv[2:]))  # all is written and closed; tidying up would cost time, and could fail
    from pinfold.server.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
