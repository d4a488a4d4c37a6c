"""What a model sees: tokens, specifics, previews, visible text, the brief. Pure functions and small objects."""
