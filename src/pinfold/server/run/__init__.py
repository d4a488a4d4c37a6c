"""`pinfold run`: a command with its own exit status, whose long output goes behind a pointer."""
