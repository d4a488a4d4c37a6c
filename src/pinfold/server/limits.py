"""Limits that a quick command reads without loading the settings."""

SPILL_TOKENS = 6_000
"""Output up to this size stays where it is: a spilled one costs a model a call to read on."""
