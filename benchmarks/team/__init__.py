"""A team's server under load: agents, what a call costs, how that grows. `python -m benchmarks.team`."""
