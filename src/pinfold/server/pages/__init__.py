"""Pages for a person's browser: frame, style, charts. The local server and reports written to a file share them."""
