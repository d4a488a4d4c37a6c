"""How well the right thing is found on public data, beside plain ways of looking: `python -m benchmarks.retrieval`."""
