"""pinfold: a memory for coding agents that survives compaction."""

__version__ = "0.1.0"
