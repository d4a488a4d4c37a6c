#!/bin/sh
# Makes pinfold's role and database, with the password in PINFOLD_PASSWORD; run it as a superuser (docs/team.md).
# The role is none: row-level security would not bind it, and pinfold would refuse it.
set -eu
psql -v ON_ERROR_STOP=1 -d postgres <<'SQL'
\getenv password PINFOLD_PASSWORD
CREATE ROLE pinfold LOGIN PASSWORD :'password';
CREATE DATABASE pinfold;
REVOKE CONNECT ON DATABASE pinfold FROM PUBLIC;
GRANT CONNECT, CREATE ON DATABASE pinfold TO pinfold;
SQL
