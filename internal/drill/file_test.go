package drill

import (
	"context"
	"os"
	"path/filepath"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// inFile is a journal in SQLite files, opened by every process for itself.
type inFile struct {
	root   string
	dir    string // of the journal as it is now: another after each cut
	cuts   int
	opened []*fileHandle
	reader *sqlite.Store
}

type fileHandle struct {
	*sqlite.Store
	closed bool
}

// Close closes the handle, once.
func (h *fileHandle) Close() error {
	if h.closed {
		return nil
	}
	h.closed = true
	return h.Store.Close()
}

func openFile(root string) (*inFile, error) {
	f := &inFile{root: root, dir: filepath.Join(root, "journal")}
	s, err := sqlite.Open(context.Background(), f.dir, sqlite.Options{Create: true})
	f.reader = s
	return f, err
}

func (f *inFile) open() (journalHandle, error) {
	s, err := sqlite.Open(context.Background(), f.dir, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	h := &fileHandle{Store: s}
	f.opened = append(f.opened, h)
	return h, nil
}

func (f *inFile) all(ctx context.Context, after uint64, each func(gate.Stored) error) error {
	return f.reader.All(ctx, after, each)
}

func (f *inFile) close() error {
	for _, h := range f.opened {
		if err := h.Close(); err != nil {
			return err
		}
	}
	return f.reader.Close()
}

// cut keeps what the disk could hold of an append that the machine did not survive: the new
// write-ahead log up to some byte, and what stood there before from that byte on. The
// files are read as they lie, with the processes' hands on them.
func (f *inFile) cut(r *roll, write func() error) bool {
	log := sqlite.FileName + "-wal"
	before, err := os.ReadFile(filepath.Join(f.dir, log))
	if err != nil || write() != nil {
		return false
	}
	after, err := os.ReadFile(filepath.Join(f.dir, log))
	if err != nil {
		return false
	}
	main, err := os.ReadFile(filepath.Join(f.dir, sqlite.FileName))
	if err != nil || f.close() != nil {
		return false
	}
	first := 0
	for first < min(len(before), len(after)) && before[first] == after[first] {
		first++
	}
	at := first + r.n(len(after)-first+1)
	torn := after[:at:at]
	if at < len(before) {
		torn = append(torn, before[at:]...)
	}
	f.cuts++
	f.dir = filepath.Join(f.root, "after", string(rune('a'+f.cuts%26)))
	f.opened = nil
	if os.MkdirAll(f.dir, 0o700) != nil ||
		os.WriteFile(filepath.Join(f.dir, sqlite.FileName), main, 0o600) != nil ||
		os.WriteFile(filepath.Join(f.dir, log), torn, 0o600) != nil {
		return false
	}
	f.reader, err = sqlite.Open(context.Background(), f.dir, sqlite.Options{})
	return err == nil
}
