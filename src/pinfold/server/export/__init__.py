"""`pinfold export`: the log and its bytes for programs, or pins and conversations for people, in flat memory."""
