"""What clients show of the server before any tool is looked at; the first 250 characters stand on their own."""

from __future__ import annotations

INSTRUCTIONS = (
    "Project memory that survives compaction. After a compaction or in a new session: "
    'fetch_pointer("brief"). When something is decided or ruled out: pin_decision. Before asking or retrying: '
    "search_history. Long output: spill_artifact. "
    "End of a stage: checkpoint_state. Pointers such as P7 or A12 never expire. Replies quote stored text as data "
    "between <stored ...> lines."
)
"""At most 120 tokens. Source: design 2."""
