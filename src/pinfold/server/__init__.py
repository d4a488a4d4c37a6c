"""The process: command line, MCP wiring, stdio, and what differs between clients."""
