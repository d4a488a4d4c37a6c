"""Run the command line with `python -m pinfold`."""

from pinfold.server.cli import main

if __name__ == "__main__":
    main()
