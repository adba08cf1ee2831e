package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/memory"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// TestAgainstMemory has random histories run on the file and in memory: both must give
// the same answers and hold the same at the end, however often the file is opened anew
// in between.
func TestAgainstMemory(t *testing.T) {
	noLeaks(t)
	accounts := []string{"a", "b", journal.ControlAccount}
	base := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			r.Fatal(err)
		}
		dir = filepath.Join(dir, "journal")
		file, err := Open(t.Context(), dir, Options{Create: true})
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		plain := memory.New()
		known := []gate.Head{{}} // heads that were true once, of any account
		for step := range rapid.IntRange(1, 25).Draw(r, "steps") {
			account := rapid.SampledFrom(accounts).Draw(r, "account")
			head, control, err := plain.Heads(t.Context(), account)
			if err != nil {
				r.Fatal(err)
			}
			pick := func(name string, truth gate.Head) gate.Head {
				if rapid.IntRange(0, 3).Draw(r, name) > 0 {
					return truth
				}
				return rapid.SampledFrom(known).Draw(r, name+" from")
			}
			switch rapid.IntRange(0, 6).Draw(r, "act") {
			case 0:
				if err := file.Close(); err != nil {
					r.Fatal(err)
				}
				if file, err = Open(t.Context(), dir, Options{}); err != nil {
					r.Fatal(err)
				}
			case 1:
				at := pick("snapshot", head)
				same(r, plain.SaveSnapshot(t.Context(), account, at, []byte(strconv.Itoa(step))),
					file.SaveSnapshot(t.Context(), account, at, []byte(strconv.Itoa(step))))
			default:
				b := storetest.Batch(account, pick("head", head), rapid.IntRange(0, 3).Draw(r, "entries"), strconv.Itoa(step))
				if rapid.Bool().Draw(r, "bind control") {
					bound := pick("control", control)
					b.Control = &bound
				}
				same(r, plain.Append(t.Context(), b), file.Append(t.Context(), b))
				known = append(known, b.After())
			}
		}
		compare(r, t, plain, file, accounts)
	})
}

// same fails unless both errors say the same.
func same(r *rapid.T, plain, file error) {
	var lost, fileLost *gate.ConflictError
	var unsound, fileUnsound *gate.BatchError
	errors.As(plain, &lost)
	errors.As(file, &fileLost)
	errors.As(plain, &unsound)
	errors.As(file, &fileUnsound)
	if (plain == nil) != (file == nil) || !cmp.Equal(lost, fileLost) || !cmp.Equal(unsound, fileUnsound) {
		r.Fatalf("memory gives %v, the file %v", plain, file)
	}
}

func compare(r *rapid.T, t *testing.T, plain *memory.Store, file *Store, accounts []string) {
	type contents struct {
		All       []gate.Stored
		Accounts  []string
		Heads     [][2]gate.Head
		Snapshots []string
		At        []gate.Head
	}
	var have [2]contents
	for i, s := range []interface {
		gate.Store
		gate.Snapshots
	}{plain, file} {
		c := &have[i]
		keep := func(e gate.Stored) error { c.All = append(c.All, e); return nil }
		var err error
		if i == 0 {
			err = plain.All(t.Context(), 0, keep)
			c.Accounts, _ = plain.Accounts(t.Context())
		} else {
			err = file.All(t.Context(), 0, keep)
			c.Accounts, _ = file.Accounts(t.Context())
		}
		for _, account := range accounts {
			own, control, headErr := s.Heads(t.Context(), account)
			state, at, loadErr := s.LoadSnapshot(t.Context(), account)
			err = errors.Join(err, headErr, loadErr)
			c.Heads = append(c.Heads, [2]gate.Head{own, control})
			c.Snapshots, c.At = append(c.Snapshots, string(state)), append(c.At, at)
		}
		if err != nil {
			r.Fatal(err)
		}
	}
	if len(have[0].Accounts) == 0 {
		have[0].Accounts = nil
	}
	if diff := cmp.Diff(have[0], have[1]); diff != "" {
		r.Fatalf("memory and file differ (-memory +file):\n%s", diff)
	}
}
