package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Reason says why the journal could not be used.
type Reason string

// Reasons. Locked, disk_full and overloaded pass: the same call may work later. The
// others last until the store is opened anew, if then.
const (
	ReasonLocked     Reason = "locked"     // another process held the write lock for BusyFor
	ReasonDiskFull   Reason = "disk_full"  // nothing was written
	ReasonOverloaded Reason = "overloaded" // QueueMax appends wait already
	ReasonClosed     Reason = "closed"     // Close was called
	ReasonReadOnly   Reason = "read_only"  // opened read-only, or the medium is
	ReasonFailed     Reason = "failed"     // a write or flush failed: what the disk holds is unknown
	ReasonReplaced   Reason = "replaced"   // the file under the path is no longer the one opened
	ReasonCorrupt    Reason = "corrupt"    // the file is damaged, or not a journal
	ReasonMissing    Reason = "missing"    // there is no journal and none was to be created
	ReasonUnknown    Reason = "unknown"    // of another product or version
	ReasonExposed    Reason = "exposed"    // others may read or write the folder or a file
	ReasonUnreadable Reason = "unreadable" // the file could not be opened or read
	ReasonBroken     Reason = "broken"     // refused because of an earlier failure
)

// UnavailableError says that the journal could not be used, so nothing may be
// decided by it or sent.
type UnavailableError struct {
	Op     string // what was attempted
	Path   string // the folder or file
	Reason Reason
	Mend   string // the command or act that mends it; may be empty
	Err    error  // cause; may be nil
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("journal %s: %s: %s", e.Path, e.Op, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Mend != "" {
		text += "; to mend it: " + e.Mend
	}
	return text
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Passing reports whether the same call may work later on the same store.
func (e *UnavailableError) Passing() bool {
	return e.Reason == ReasonLocked || e.Reason == ReasonDiskFull || e.Reason == ReasonOverloaded
}

// errReplaced is the cause of ReasonReplaced.
var errReplaced = errors.New("the file was removed or replaced while open")

// reasonOf maps SQLite's result codes (sqlite.org/rescode.html). Whatever is not
// known to leave the disk as it was is a failure.
func reasonOf(err error) Reason {
	if errors.Is(err, errReplaced) {
		return ReasonReplaced
	}
	var coded *driver.Error
	if !errors.As(err, &coded) {
		return ReasonFailed
	}
	switch coded.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return ReasonLocked
	case codes.SQLITE_FULL:
		return ReasonDiskFull
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return ReasonCorrupt
	case codes.SQLITE_READONLY:
		return ReasonReadOnly
	case codes.SQLITE_CANTOPEN, codes.SQLITE_PERM, codes.SQLITE_AUTH:
		return ReasonUnreadable
	}
	return ReasonFailed
}
