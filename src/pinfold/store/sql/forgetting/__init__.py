"""Forgetting: what is chosen, what belongs to it, taking it out of the log and all that is derived, and the scrub."""
