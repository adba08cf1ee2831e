package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// Store is a journal in a file. Make it with Open or OpenReadOnly, end it with Close.
type Store struct {
	path     string
	readOnly bool
	reads    *sql.DB
	heads    *sql.Stmt // of reads: asked before every order is released
	writer   writer    // used by serve alone, and by Close once serve ended

	broken  atomic.Pointer[UnavailableError] // what broke the store; never reset
	queue   chan *request
	stopped chan struct{} // closed when serve has ended
	spare   sync.Pool     // of *request

	gateway sync.RWMutex // guards closed and, with it, sends on queue against its closing
	closed  bool
	closing sync.Once
	closeEr error
}

// request is one caller's wish, from its goroutine to the writer and back.
type request struct {
	batch    *gate.Batch
	snapshot *snapshot
	size     int64         // bytes to write; the writer reads batch and snapshot only once it has taken r
	taken    atomic.Uint32 // of request states; decides between writer and canceling caller
	err      error         // the writer's until it has sent on done
	done     chan struct{} // buffered, so that the writer never waits for a caller
}

type snapshot struct {
	account string
	at      gate.Head
	state   []byte
}

// States of a request. Whoever changes waiting to another state owns what follows.
const (
	waiting   = iota
	writing   // the writer has begun: the caller must wait for the outcome
	withdrawn // the caller gave up: the writer must not write it
)

func newStore(path string) *Store {
	s := &Store{path: path, queue: make(chan *request, QueueMax), stopped: make(chan struct{})}
	s.spare.New = func() any { return &request{done: make(chan struct{}, 1)} }
	return s
}

// Append implements gate.Store. Errors other than *gate.ConflictError and
// *gate.BatchError are *UnavailableError, or the context's if the batch was taken
// back before its transaction.
func (s *Store) Append(ctx context.Context, b *gate.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	return s.submit(ctx, "append", b, nil)
}

// submit hands a wish to the writer and waits for what became of it.
func (s *Store) submit(ctx context.Context, op string, b *gate.Batch, snap *snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly {
		return &UnavailableError{Op: op, Path: s.path, Reason: ReasonReadOnly}
	}
	if err := s.refuseBroken(op); err != nil {
		return err
	}
	r := s.spare.Get().(*request)
	r.batch, r.snapshot, r.err = b, snap, nil
	r.size = r.weight()
	r.taken.Store(waiting)
	if reason := s.enqueue(r); reason != "" {
		s.spare.Put(r)
		return &UnavailableError{Op: op, Path: s.path, Reason: reason}
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.taken.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err() // the writer drops r; it is not reused
		}
		<-r.done
	}
	err := r.err
	r.batch, r.snapshot = nil, nil
	s.spare.Put(r)
	return err
}

// enqueue hands r to the writer, or says why not.
func (s *Store) enqueue(r *request) Reason {
	s.gateway.RLock()
	defer s.gateway.RUnlock()
	if s.closed {
		return ReasonClosed
	}
	select {
	case s.queue <- r:
		return ""
	default:
		return ReasonOverloaded
	}
}

func (s *Store) isClosed() bool {
	s.gateway.RLock()
	defer s.gateway.RUnlock()
	return s.closed
}

func (s *Store) refuseBroken(op string) error {
	if first := s.broken.Load(); first != nil {
		return &UnavailableError{Op: op, Path: s.path, Reason: ReasonBroken, Err: first}
	}
	return nil
}

// Broken returns what broke the store, or nil. A broken store stays so: the process
// must end, and the next start verifies what the disk holds.
func (s *Store) Broken() error {
	if first := s.broken.Load(); first != nil {
		return first
	}
	return nil
}

// Close takes no more appends, finishes those that wait, and closes the file. Reads
// that still run fail or end. Calling it again returns the first result.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.gateway.Lock()
		s.closed = true
		close(s.queue)
		s.gateway.Unlock()
		<-s.stopped
		// The writer goes last: SQLite then moves the log into the file, if no other
		// process has it open.
		s.closeEr = errors.Join(s.heads.Close(), s.reads.Close(), s.writer.close())
	})
	return s.closeEr
}
