"""Registering pinfold with its clients: plan, difference, write, receipt; what each wants is in `server/clients/`."""

CLIENTS = ("claude", "codex", "cursor", "vscode", "gemini", "opencode", "claude-desktop")
