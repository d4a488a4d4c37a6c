"""`pinfold ui`: a project's memory as pages for one person's browser on this machine. See docs/ui.md."""
