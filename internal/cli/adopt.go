package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
)

// oldJournal is what is known of a journal that a new one replaces.
type oldJournal struct {
	keptAs string // its file now; empty: there was none
	head   string // account/seq hash, or unreadable
	mode   account.Mode
	why    string // of the mode
}

// What stands in a genesis for a head that could not be read.
const (
	headUnreadable = "unreadable"
	headMissing    = "missing"
)

// keptJournal begins the name of a journal that was set aside.
const keptJournal = "journal-"

// setAside renames the journal, with its write-ahead log, and says what it was. It is
// kept for ever: nothing here removes a journal.
func setAside(ctx context.Context, dir, name string) (oldJournal, error) {
	old := oldJournal{mode: account.Halted, head: headUnreadable, why: "the old journal could not be read"}
	path := filepath.Join(dir, sqlite.FileName)
	stamp := time.Now().UTC().Format("20060102T150405.000000000Z")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		old.head, old.why = headMissing, "the old journal is missing"
		return old, setCheckpointsAside(dir, stamp)
	} else if err != nil {
		return old, err
	}
	if err := old.read(ctx, dir, name); err != nil {
		return old, err
	}
	old.keptAs = filepath.Join(dir, keptJournal+stamp+".db")
	if _, err := os.Lstat(old.keptAs); err == nil {
		return old, failed("try again in a second", "%s is there already", old.keptAs)
	}
	// The log goes first: a journal without its log would look shorter than it is, and
	// one that still has its name can be tried again.
	for _, side := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+side, old.keptAs+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return old, err
		}
	}
	return old, setCheckpointsAside(dir, stamp)
}

// setCheckpointsAside renames the folder of checkpoints with its key: they are of the old
// journal. They go after it, so that a journal never stands without those that bind it.
func setCheckpointsAside(dir, stamp string) error {
	from := tree.In(dir).Dir()
	err := os.Rename(from, from+"-"+stamp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// read looks at the old journal as far as it can be read. Only a journal that holds
// other accounts is refused: they would be left without one.
func (o *oldJournal) read(ctx context.Context, dir, name string) error {
	// Opened for writing, so that closing moves the log into the file. A running server
	// would go on with the old file: it finds the file replaced and refuses.
	store, err := sqlite.Open(ctx, dir, sqlite.Options{})
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // it is set aside, whatever its end
	d := &deck{dir: dir, store: store}
	accounts, err := d.accounts(ctx)
	if err != nil {
		return nil
	}
	if others := slices.DeleteFunc(accounts, func(n string) bool { return n == name }); len(others) > 0 {
		return failed("give the account a data folder of its own with --data",
			"the journal in %s holds other accounts, which would lose theirs: %s", dir, strings.Join(others, ", "))
	}
	own, _, err := store.Heads(ctx, name)
	if err != nil {
		return nil
	}
	if own.Seq == 0 {
		o.head, o.why = headMissing, "the old journal does not hold the account"
		return nil
	}
	o.head = fmt.Sprintf("%s/%d %s", name, own.Seq, own.Hash)
	g, err := gate.Open(ctx, gate.Config{Account: name, Store: store, Clock: stillClock{}})
	if err != nil {
		return nil
	}
	// What cannot be viewed leaves the account halted.
	_ = g.View(ctx, func(v gate.View) {
		o.mode, o.why = v.Mode, "carried over from the old journal"
		if v.Control.Mode < v.State.Mode {
			o.why += ": " + v.Control.Reason
		} else {
			o.why += ": " + v.State.ModeReason
		}
	})
	return nil
}

// carryMode keeps the account as strict as it was: a new journal is no way out of a
// halt. An old journal that could not be read counts as halted.
func (o *oldJournal) carryMode(ctx context.Context, d *deck) error {
	if o.mode == account.Active {
		return nil
	}
	return d.gate.SetMode(ctx, journal.Mode{
		By: journal.ByOperator, Mode: o.mode.String(), Reason: o.why, Who: operator(),
	})
}
