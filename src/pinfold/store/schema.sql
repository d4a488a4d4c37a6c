-- The whole current schema of one project's store. Three sorts of table: the log (the truth), views and the index
-- (derived from the log, see `rebuild`), and bytes (content, named by digest, referred to by the log).

-- LOG: one row per event, gapless seq, digest chain. Never rewritten; `forget` alone blanks a body.
CREATE TABLE event (
    seq         INTEGER PRIMARY KEY,
    at          TEXT    NOT NULL,
    session     INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    key         TEXT,
    parent      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    body        TEXT,
    body_digest BLOB    NOT NULL,
    digest      BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_key ON event (kind, key) WHERE key IS NOT NULL;
CREATE INDEX event_session ON event (session, seq);

-- META: the project's name, its secret for fences and redaction, and whether a scrub of the files is owed.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- BYTES: one row per distinct content, cut into chunks on line ends where there are any.
CREATE TABLE content (
    id         INTEGER PRIMARY KEY,
    sha256     BLOB    NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    lines      INTEGER NOT NULL,
    is_text    INTEGER NOT NULL
) STRICT;
CREATE TABLE chunk (
    id           INTEGER PRIMARY KEY,
    content      INTEGER NOT NULL REFERENCES content (id),
    start        INTEGER NOT NULL, -- offset of its first byte
    lines_before INTEGER NOT NULL, -- line ends before its first byte
    size_bytes   INTEGER NOT NULL,
    sha256       BLOB    NOT NULL,
    codec        TEXT    NOT NULL, -- raw or zstd
    packed       BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunk_start ON chunk (content, start);
CREATE INDEX chunk_line ON chunk (content, lines_before);

-- VIEW: conversations of clients, and the session that each continues.
CREATE TABLE session (
    number       INTEGER PRIMARY KEY,
    seq          INTEGER NOT NULL,
    at           TEXT    NOT NULL,
    client       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    origin       INTEGER -- number of the checkpoint it was forked from
) STRICT;
CREATE TABLE conversation (
    client       TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    session      INTEGER NOT NULL,
    PRIMARY KEY (client, conversation)
) STRICT, WITHOUT ROWID;

-- VIEW: pins, superseded ones too.
CREATE TABLE pin (
    number         INTEGER PRIMARY KEY,
    seq            INTEGER NOT NULL,
    at             TEXT    NOT NULL,
    session        INTEGER NOT NULL,
    actor          TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    text           TEXT    NOT NULL,
    why            TEXT    NOT NULL,
    session_only   INTEGER NOT NULL,
    files          TEXT    NOT NULL, -- JSON list
    specifics      TEXT    NOT NULL, -- JSON list
    tokens         INTEGER NOT NULL,
    supersedes     TEXT    NOT NULL, -- JSON list of numbers
    superseded_by  INTEGER,
    superseded_seq INTEGER
) STRICT;
CREATE INDEX pin_live ON pin (number) WHERE superseded_by IS NULL;

-- VIEW: artifacts; their bytes are in content and chunk.
CREATE TABLE artifact (
    number        INTEGER PRIMARY KEY,
    seq           INTEGER NOT NULL,
    at            TEXT    NOT NULL,
    session       INTEGER NOT NULL,
    label         TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    path          TEXT,
    sha256        BLOB    NOT NULL,
    indexed_bytes INTEGER NOT NULL,
    outline       TEXT    NOT NULL, -- JSON object
    same_bytes_as INTEGER,
    aside         INTEGER NOT NULL DEFAULT 0 -- kept while a transcript was read: the brief does not list it
) STRICT;
CREATE INDEX artifact_sha256 ON artifact (sha256);
CREATE INDEX artifact_shown ON artifact (number) WHERE aside = 0;
CREATE INDEX artifact_large ON artifact (number) WHERE indexed_bytes > 750000; -- maybe not searchable as a whole

-- VIEW: checkpoints.
CREATE TABLE checkpoint (
    number  INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL,
    at      TEXT    NOT NULL,
    session INTEGER NOT NULL,
    state   TEXT    NOT NULL, -- JSON object: goal, done, pending, facts, constraints, next_step, files
    head    TEXT,
    branch  TEXT,
    tokens  INTEGER NOT NULL
) STRICT;
CREATE INDEX checkpoint_session ON checkpoint (session, number);

-- VIEW: folds.
CREATE TABLE fold (
    number  INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL,
    at      TEXT    NOT NULL,
    session INTEGER NOT NULL,
    body    TEXT    NOT NULL -- JSON object
) STRICT;
CREATE INDEX fold_session ON fold (session, number);

-- VIEW: messages that a session's requests leave out or show as one line, as the newest event about each says.
CREATE TABLE omission (
    session INTEGER NOT NULL,
    message INTEGER NOT NULL, -- its seq
    seq     INTEGER NOT NULL, -- of that event
    how     TEXT    NOT NULL, -- hidden, or why it is stale
    PRIMARY KEY (session, message)
) STRICT, WITHOUT ROWID;

-- VIEW: the client's own message ids, so that an import is idempotent.
CREATE TABLE external (
    session     INTEGER NOT NULL,
    external_id TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    PRIMARY KEY (session, external_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX external_id ON external (external_id);

-- VIEW: searches that missed.
CREATE TABLE miss (
    seq     INTEGER PRIMARY KEY,
    search  INTEGER,
    at      TEXT    NOT NULL,
    session INTEGER NOT NULL,
    query   TEXT    NOT NULL,
    hits    TEXT    NOT NULL, -- JSON list of pointers
    why     TEXT    NOT NULL
) STRICT;
CREATE INDEX miss_session ON miss (session, seq);

-- VIEW: what finally answered a miss, and the words of its query, by which that entry is found from then on.
CREATE TABLE answer (
    miss    INTEGER PRIMARY KEY, -- its seq
    seq     INTEGER NOT NULL,
    pointer TEXT    NOT NULL,
    how     TEXT    NOT NULL,
    search  INTEGER -- the later search that showed the entry
) STRICT;
CREATE INDEX answer_pointer ON answer (pointer);
CREATE TABLE alias (
    word TEXT    NOT NULL, -- as words.folded_words has it
    miss INTEGER NOT NULL,
    PRIMARY KEY (word, miss)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_miss ON alias (miss);

-- VIEW: pointers that lead to what was forgotten; their numbers are never given again.
CREATE TABLE forgotten (
    letter TEXT    NOT NULL,
    number INTEGER NOT NULL,
    at     TEXT    NOT NULL,
    PRIMARY KEY (letter, number)
) STRICT, WITHOUT ROWID;

-- SCRATCH: recent searches, so that `S8` can be looked at or called a miss. Not derived, not durable, bounded.
CREATE TABLE search (
    number  INTEGER PRIMARY KEY,
    at      TEXT    NOT NULL,
    session INTEGER NOT NULL,
    query   TEXT    NOT NULL,
    hits    TEXT    NOT NULL
) STRICT;

-- SCRATCH: how far each transcript has been read; without it reading begins anew, and message ids keep each once.
CREATE TABLE transcript (
    path          TEXT PRIMARY KEY,
    client        TEXT    NOT NULL,
    conversation  TEXT    NOT NULL,
    byte_offset   INTEGER NOT NULL,
    head          TEXT    NOT NULL -- digest of its beginning
) STRICT, WITHOUT ROWID;
CREATE INDEX transcript_conversation ON transcript (client, conversation);

-- SCRATCH: which conversation a client's process is in, with which model; its servers only know which they began in.
CREATE TABLE client_run (
    client       TEXT NOT NULL,
    run          TEXT NOT NULL,
    conversation TEXT NOT NULL,
    at           TEXT NOT NULL,
    model        TEXT,
    PRIMARY KEY (client, run)
) STRICT, WITHOUT ROWID;

-- INDEX: one entry per searchable piece; its text is read from the log or from a chunk when a snippet is made.
CREATE TABLE entry (
    id      INTEGER PRIMARY KEY,
    seq     INTEGER NOT NULL, -- the event it comes from
    pointer TEXT    NOT NULL, -- P7, A12, C3, H142, F2
    chunk   INTEGER,          -- for an artifact's text: chunk.id
    kind    TEXT    NOT NULL, -- one of search_results.HIT_KINDS
    session INTEGER NOT NULL,
    at      TEXT    NOT NULL,
    ref     TEXT              -- the client's own id of an imported message
) STRICT;
CREATE INDEX entry_pointer ON entry (pointer);
CREATE TABLE entry_path (
    name  TEXT    NOT NULL, -- last segment
    path  TEXT    NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (name, path, entry)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    body,  -- words.body: the words in order
    parts, -- words.parts: what stands inside of them
    tags,  -- kind and session, so that filters are met inside the index; weighs nothing
    content = '',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co So'"
);
