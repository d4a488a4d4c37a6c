-- What a database of many projects has beside the tables of `store/schema.sql` (see `schema.py`).

CREATE SCHEMA pinfold;

CREATE TABLE schema_version (
    version bigint NOT NULL
);

-- The project that a transaction is for; none, and no row is seen.
CREATE FUNCTION this_project() RETURNS bigint STABLE PARALLEL SAFE LANGUAGE sql
    RETURN nullif(current_setting('pinfold.project', true), '')::bigint;

-- The projects. Who writes to one locks its row until the commit, so that numbers are gapless in the order of commits.
CREATE TABLE project (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text   NOT NULL UNIQUE COLLATE "C"
);
ALTER TABLE project ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY named ON project
    USING (id = this_project() OR name = current_setting('pinfold.project_name', true));

-- INDEX: the words of an entry in order, with blanks around each, so that a phrase is a part of it.
CREATE TABLE words (
    id      bigint NOT NULL,
    body    text   NOT NULL,
    parts   text   NOT NULL,
    size    bigint NOT NULL, -- words in body
    project bigint NOT NULL DEFAULT this_project(),
    PRIMARY KEY (project, id)
);

-- INDEX: for each word the entries that hold it, in blocks as they were written. Not a tsvector with GIN: its operator
-- may not be asked before the rows of other projects are out of sight, so that such an index would stay unused.
CREATE TABLE posting (
    token   text     NOT NULL COLLATE "C",
    oldest  bigint   NOT NULL, -- the first of the entries when it was written
    newest  bigint   NOT NULL,
    entries bigint[] NOT NULL,
    project bigint   NOT NULL DEFAULT this_project(),
    PRIMARY KEY (project, token, oldest)
);
