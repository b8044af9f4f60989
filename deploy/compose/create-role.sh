#!/bin/sh
# PostgreSQL's image runs this once, in an empty cluster. The service's role owns its database and is no superuser: row-level
# security binds it. The superuser loses its password, and is reached from inside the container alone.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" <<'SQL'
create role florin login nosuperuser nocreatedb nocreaterole password :'password';
create database florin owner florin;
alter role postgres password null;
SQL
