package sqlite

// schema creates the tables. entry.idx is the commit order over all accounts, from 1
// without gaps, since nothing is ever deleted. head repeats each chain's newest entry:
// comparing and setting it is one statement. The triggers are no defense against who
// owns the file; they keep a careless hand from editing the record.
const schema = `
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
	idx     INTEGER PRIMARY KEY,
	account TEXT    NOT NULL,
	seq     INTEGER NOT NULL CHECK (seq > 0),
	hash    BLOB    NOT NULL CHECK (length(hash) = 32),
	bytes   BLOB    NOT NULL,
	UNIQUE (account, seq)
) STRICT;
CREATE TABLE head (
	account TEXT PRIMARY KEY,
	seq     INTEGER NOT NULL,
	hash    BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (
	account TEXT PRIMARY KEY,
	seq     INTEGER NOT NULL,
	hash    BLOB    NOT NULL,
	state   BLOB    NOT NULL,
	digest  BLOB    NOT NULL
) STRICT;
CREATE TRIGGER entry_is_final BEFORE UPDATE ON entry
	BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
	BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER head_stays BEFORE DELETE ON head
	BEGIN SELECT RAISE(ABORT, 'heads are never removed'); END;
`

// Statements of the writer, prepared once.
const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
	sqlHead     = `SELECT seq, hash FROM head WHERE account = ?`
	sqlAdvance  = `UPDATE head SET seq = ?, hash = ? WHERE account = ? AND seq = ? AND hash = ?`
	sqlStart    = `INSERT INTO head (account, seq, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	sqlEntry    = `INSERT INTO entry (account, seq, hash, bytes) VALUES (?, ?, ?, ?)`
	sqlSnapshot = `INSERT INTO snapshot (account, seq, hash, state, digest) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (account) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
			state = excluded.state, digest = excluded.digest
		WHERE excluded.seq >= snapshot.seq`
	sqlHashAt     = `SELECT hash FROM entry WHERE account = ? AND seq = ?`
	sqlCheckpoint = `PRAGMA wal_checkpoint(PASSIVE)`
)

// Statements of the readers.
const (
	readHeads = `SELECT account, seq, CASE WHEN octet_length(hash) = 32 THEN hash END FROM head WHERE account IN (?, ?)`
	// A value that is longer than it may be is not read: its length stands in its record,
	// so that a gigabyte in one row costs no memory.
	readColumns = `SELECT idx, CASE WHEN octet_length(account) <= 64 THEN account END, seq,
		CASE WHEN octet_length(hash) = 32 THEN hash END, CASE WHEN octet_length(bytes) <= 1048576 THEN bytes END FROM entry `
	readAccount  = readColumns + `WHERE account = ? AND seq > ? ORDER BY seq LIMIT ?`
	readAll      = readColumns + `WHERE idx > ? ORDER BY idx LIMIT ?`
	readAllHeads = `SELECT CASE WHEN octet_length(account) <= 64 THEN account END, seq,
		CASE WHEN octet_length(hash) = 32 THEN hash END FROM head ORDER BY account`
	readAccounts = `SELECT CASE WHEN octet_length(account) <= 64 THEN account END FROM head ORDER BY account`
	readSnapshot = `SELECT s.seq, s.hash, s.state, s.digest FROM snapshot s
		JOIN entry e ON e.account = s.account AND e.seq = s.seq AND e.hash = s.hash
		WHERE s.account = ? AND octet_length(s.state) <= 67108864 AND octet_length(s.digest) = 32`
)
