"""The verbs of the contract in SQL that every backend understands; see `database.py` for what they need of one."""
