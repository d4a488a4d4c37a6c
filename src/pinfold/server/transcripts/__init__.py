"""Reading clients' transcripts: lines, what they say, and how it gets into the log, each message once."""
