"""Rows, one module per group: each has `rows(bench)`, which yields them as they are measured."""
