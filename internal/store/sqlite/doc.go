// Package sqlite keeps the journal in one SQLite file, shared by any number of
// processes on one machine.
//
// What it promises:
//
//  1. Append returns nil only after the entries were flushed to the disk (WAL,
//     synchronous=FULL, read back after opening). The flush serves every caller that
//     waits (group commit).
//  2. The heads are compared inside the transaction that writes, under SQLite's write
//     lock, so of many goroutines and processes one wins and the others are told.
//  3. A failure that leaves it unknown what the disk holds breaks the store: every
//     later append of this process is refused, since a kernel may report a failed
//     flush once and then forget it. A lock held by another process, a full disk or a
//     full queue do not break it: nothing was written and the next append may work.
//  4. A file that is not a journal, is of another version, is damaged, was replaced
//     while open, or that others may read or write is refused and left as it is.
//
// Nothing else in the process may open and close the journal's file: POSIX drops a
// process's locks on a file when any descriptor of that file is closed.
package sqlite

import "time"

// FileName is the journal's file inside its folder.
const FileName = "journal.db"

// SchemaVersion is the only version of the tables that is read or written.
const SchemaVersion = 1

// ApplicationID marks the file as a journal of this product ("Rail" in ASCII); it
// stands at offset 68 of the file.
const ApplicationID = 0x5261696C

// Limits of the store.
const (
	// BusyFor is how long an append waits for another process's write lock. It equals
	// the gate's bound on the wait for the journal: a longer wait would be thrown away.
	BusyFor = 5 * time.Second
	// QueueMax is how many appends may wait for the writer; one more is refused. Every
	// waiting append is a goroutine of a caller, and a writer that is this far behind
	// would not serve the last of them within the gate's bound on a slow disk.
	QueueMax = 4096
	// GroupMax is how many appends share one flush, and GroupBytesMax how many bytes
	// of entries: they bound how long the first of a group waits for the last.
	GroupMax      = 256
	GroupBytesMax = 4 << 20
	// ReadEntriesMax and ReadBytesMax bound what a reader holds in memory at once (one
	// entry more than ReadBytesMax may be held).
	ReadEntriesMax = 256
	ReadBytesMax   = 1 << 20
	// ReadersMax is how many reads run at once; more wait for their turn.
	ReadersMax = 2
	// CheckpointIdle is how long the writer must have had nothing to do before it moves
	// the write-ahead log into the file, once it wrote about CheckpointBytes: the cost
	// of two flushes then falls on nobody. WALPagesMax is where SQLite does it by itself
	// in the middle of the work, by the length of the log that all processes share.
	CheckpointIdle  = 20 * time.Millisecond
	CheckpointBytes = 1 << 20
	WALPagesMax     = 4000
)
