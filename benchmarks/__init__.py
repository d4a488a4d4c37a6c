"""Budgets of pinfold, each measured against its floor in the same run: `python -m benchmarks`."""
