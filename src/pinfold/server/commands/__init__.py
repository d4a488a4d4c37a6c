"""The commands that a person reads with: tables on a terminal, one line per thing in a pipe, or JSON."""
