"""What `pinfold doctor` looks at beside the store: this installation, the data directory, the clients."""
