"""Streamable HTTP for a team: one gate, what it lets through, and how the server lives. Source: docs/decisions/0016."""
