package witness

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/broker-rails/broker-rails/verify"
)

// Limits of a witness.
const (
	// LogsMax bounds the logs that one witness knows: all heads are written at once.
	LogsMax = 1024
	// RequestBytesMax bounds a request: 63 hashes, and a checkpoint with sixteen
	// signatures of the largest kind in use.
	RequestBytesMax = 128 << 10
)

// Head is the newest checkpoint of a log that a witness has cosigned.
type Head struct {
	Origin string
	Size   int64 // at least 1
	Root   verify.Hash
}

// Heads keeps the heads of all logs. Methods are called by one goroutine at a time.
type Heads interface {
	// Load returns what was saved last. An error ends the start: a head that was
	// forgotten lets a fork pass.
	Load() ([]Head, error)
	// Save makes the heads durable before it returns nil. After an error either the old
	// or the new ones are found by the next Load.
	Save(heads []Head) error
}

// Memory keeps heads until the process ends, for tests and demonstrations.
type Memory struct{ heads []Head }

// Load returns what was saved last.
func (m *Memory) Load() ([]Head, error) { return m.heads, nil }

// Save keeps the heads.
func (m *Memory) Save(heads []Head) error {
	m.heads = append([]Head(nil), heads...)
	return nil
}

// Options are what a witness is made of.
type Options struct {
	Signer Signer
	Logs   []verify.Key     // public keys of the logs that it knows; some may share an origin
	Heads  Heads            // where it keeps what it has cosigned
	Now    func() time.Time // the wall clock
	Log    *slog.Logger     // nil: nothing is logged
}

// Witness cosigns checkpoints of the logs that it knows.
type Witness struct {
	signer Signer
	logs   map[string][]verify.Key
	keep   Heads
	now    func() time.Time
	log    *slog.Logger

	mu     sync.Mutex // guards heads, at, and the order of save and signature
	heads  []Head
	at     map[string]int // of heads, by origin
	broken error          // a save failed: what the disk holds is not known
}

// New makes a witness that goes on from the heads kept. Nothing may be left out: without
// a key, logs, a place for heads and a clock there is no witness.
func New(o Options) (*Witness, error) {
	switch {
	case o.Signer.key == nil:
		return nil, errors.New("a witness needs a key")
	case len(o.Logs) == 0 || len(o.Logs) > LogsMax:
		return nil, fmt.Errorf("a witness needs the keys of 1 to %d logs, and was given %d", LogsMax, len(o.Logs))
	case o.Heads == nil || o.Now == nil:
		return nil, errors.New("a witness needs a place for heads, and a clock")
	}
	w := &Witness{signer: o.Signer, logs: map[string][]verify.Key{}, keep: o.Heads, now: o.Now, log: o.Log, at: map[string]int{}}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	for _, k := range o.Logs {
		if k.Name() == "" {
			return nil, errors.New("a log without a key")
		}
		w.logs[k.Name()] = append(w.logs[k.Name()], k)
	}
	heads, err := o.Heads.Load()
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if _, twice := w.at[h.Origin]; twice || h.Size < 1 {
			return nil, fmt.Errorf("%w: two heads, or an empty one, of %q", ErrDamaged, h.Origin)
		}
		w.at[h.Origin] = len(w.heads)
		w.heads = append(w.heads, h)
	}
	return w, nil
}

// Key is the witness's public key.
func (w *Witness) Key() verify.WitnessKey { return w.signer.Key() }

// Head returns the newest head of a log, if the witness has cosigned one.
func (w *Witness) Head(origin string) (h Head, cosigned bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i, cosigned := w.at[origin]
	if cosigned {
		h = w.heads[i]
	}
	return h, cosigned
}

// Refusal is why a checkpoint was not cosigned.
type Refusal struct {
	Status int // of HTTP, as c2sp.org/tlog-witness assigns it
	// Stale: the old size is not that of the newest head, which is Size.
	Stale bool
	Size  int64
	Why   string
	err   error
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Status, r.Why) }

// Unwrap returns the cause, if there is one.
func (r *Refusal) Unwrap() error { return r.err }

func refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Why: fmt.Sprintf(format, args...)}
}

// Cosign answers one add-checkpoint request: the old size, a proof, and the checkpoint,
// as tree.FormatExtension writes them. It returns the signature line. An error is a
// *Refusal, and then nothing was signed and no head has changed.
func (w *Witness) Cosign(request []byte) (line []byte, err error) {
	c, body, e, refused := w.read(request)
	if refused != nil {
		return nil, refused
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, refuse(http.StatusInternalServerError, "the witness has stopped: its heads could not be kept")
	}
	if refused := w.extends(c, e); refused != nil {
		return nil, refused
	}
	if err := w.advance(Head{Origin: c.Origin, Size: c.Size, Root: c.Root}); err != nil {
		w.broken = err
		w.log.Error("heads not kept; nothing is cosigned until a restart", "error", err)
		return nil, &Refusal{Status: http.StatusInternalServerError, Why: "the head could not be kept", err: err}
	}
	line, err = w.signer.cosign(body, w.now())
	if err != nil {
		return nil, &Refusal{Status: http.StatusInternalServerError, Why: "not signed", err: err}
	}
	w.log.Info("cosigned", "origin", c.Origin, "size", c.Size)
	return line, nil
}

// read takes a request apart and verifies the log's signature.
func (w *Witness) read(request []byte) (c verify.Checkpoint, body []byte, e *verify.Extension, refused *Refusal) {
	if len(request) > RequestBytesMax {
		return c, nil, nil, refuse(http.StatusRequestEntityTooLarge, "over %d bytes", RequestBytesMax)
	}
	e, err := verify.ParseExtension(request)
	if err != nil {
		return c, nil, nil, refuse(http.StatusBadRequest, "%v", err)
	}
	origin, _, _ := bytes.Cut(e.Signed, []byte("\n"))
	keys := w.logs[string(origin)]
	if len(keys) == 0 {
		return c, nil, nil, refuse(http.StatusNotFound, "this witness does not know the log %.100q", origin)
	}
	for _, k := range keys {
		if c, err = verify.OpenCheckpoint(e.Signed, k); !errors.Is(err, verify.ErrSignature) {
			break
		}
	}
	switch {
	case errors.Is(err, verify.ErrSignature):
		return c, nil, nil, refuse(http.StatusForbidden, "not signed by the key that this witness knows of %.100q", origin)
	case err != nil:
		return c, nil, nil, refuse(http.StatusBadRequest, "%v", err)
	case e.Old > c.Size:
		return c, nil, nil, refuse(http.StatusBadRequest, "the old size %d is above %d", e.Old, c.Size)
	}
	return c, e.Signed[:bytes.LastIndex(e.Signed, []byte("\n\n"))+1], e, nil
}

// extends holds a checkpoint against the head. The caller holds the lock.
func (w *Witness) extends(c verify.Checkpoint, e *verify.Extension) *Refusal {
	head := Head{Root: sha256.Sum256(nil)}
	if i, known := w.at[c.Origin]; known {
		head = w.heads[i]
	}
	switch {
	case e.Old != head.Size:
		return &Refusal{Status: http.StatusConflict, Stale: true, Size: head.Size, Why: fmt.Sprintf("the newest head is of size %d", head.Size)}
	case c.Size == head.Size && c.Root != head.Root:
		w.log.Error("a fork: two checkpoints of one size", "origin", c.Origin, "size", c.Size, "checkpoint", verify.Line(c.Signed))
		return refuse(http.StatusConflict, "another tree of size %d was cosigned", c.Size)
	case head.Size == 0 && len(e.Path) > 0:
		return refuse(http.StatusUnprocessableEntity, "a proof from nothing is empty")
	case head.Size == 0:
		return nil
	}
	if err := tlog.CheckTree(e.Path, c.Size, c.Root, head.Size, head.Root); err != nil {
		w.log.Error("a checkpoint does not extend the head", "origin", c.Origin, "size", c.Size, "head", head.Size, "checkpoint", verify.Line(c.Signed))
		return refuse(http.StatusUnprocessableEntity, "the proof does not show that %d entries begin with the %d of the head", c.Size, head.Size)
	}
	return nil
}

// advance makes a head durable, and only then takes it for the newest. The caller holds
// the lock.
func (w *Witness) advance(h Head) error {
	i, known := w.at[h.Origin]
	if known && w.heads[i] == h {
		return nil // durable already
	}
	next := append([]Head(nil), w.heads...)
	if known {
		next[i] = h
	} else {
		i = len(next)
		next = append(next, h)
	}
	if err := w.keep.Save(next); err != nil {
		return err
	}
	w.heads, w.at[h.Origin] = next, i
	return nil
}
