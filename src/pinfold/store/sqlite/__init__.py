"""The SQLite backend: one file per project, any number of processes; `store.open_store` opens one."""
