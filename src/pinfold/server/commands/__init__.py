"""The commands that a person reads with: tables on a terminal, one line per thing in a pipe, or JSON.

A line in a pipe holds the columns of the table, parted by tabs, pointer first; line ends and tabs inside of a text are
spelled `\\n` and `\\t`, hidden characters as in every reply, and nothing is cut. Exact texts: `--json`.
"""
