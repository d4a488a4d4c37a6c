"""`pinfold copy`: a log that goes on in another store exactly as it is, or is told to one that holds another log."""
