"""The PostgreSQL backend: many projects in one database, any number of processes. Source: docs/decisions/0018."""
