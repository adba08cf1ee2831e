package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
)

// Config is what a gate is made of. Store, Clock, Calendar and Account are needed by
// every gate; Broker and Quotes only by one that trades, and Quotes by one that values
// what is held. A gate without them can still change modes, load limits and be looked at.
type Config struct {
	Account  string
	Store    Store
	Broker   Broker
	Quotes   Quotes
	Clock    Clock
	Calendar market.Calendar
	// Paper: the broker is the paper broker, whose reconciliation is immediate.
	Paper bool
	// AtomicReplace: the broker replaces an order in one step.
	AtomicReplace bool
	// Live: the limits document must say mode live. False: it must say paper.
	Live bool
	Stop Stop // a halt asked for without the journal; nil: none
	// BadLimits tells every process that the newest load of the limits failed; nil: only
	// the process that saw it knows.
	BadLimits Mark
	Version   string
	Log       *slog.Logger // diagnosis only; nil discards
}

// Gate is one account's gate. Its zero value refuses everything. All methods may be
// called from many goroutines; calls for one account are judged one at a time.
type Gate struct {
	cfg Config
	log *slog.Logger

	mu    sync.Mutex // guards everything below; not held while a broker is sent to, or asked by a reconciliation
	state *account.State
	ctl   *account.Control
	// broken is set when the journal could not be trusted any more: nothing passes until
	// the process starts again.
	broken error

	doc           *limits.Document // of state.Fingerprint; nil before the first limits entry
	limitsInvalid bool             // the newest load in this process failed
	markedInvalid bool             // and every process was told so
	startPending  bool             // the first reconciliation has not ended
	reconciling   sync.Mutex       // one reconciliation at a time; taken before mu

	cursor  string // of the broker's events, in this process; at or past state.Cursor
	figures figures
	steps   stepWatch
	spent   spentMessages
	stopSeq uint64 // newest own entry that stops a permit: mode, latch, limits
	saved   uint64 // seq of the newest snapshot that this process saved or loaded
}

// Errors of opening a gate.
var (
	// ErrNoAccount says that the journal has no such account: rails init makes one.
	ErrNoAccount = errors.New("the journal holds no such account")
	// ErrNotTrading says that a gate without a broker was asked to trade.
	ErrNotTrading = errors.New("this gate has no broker")
	errClosed     = errors.New("the gate is not open")
)

// Open folds the account's journal and returns its gate. It changes nothing. A gate
// whose broker is not the paper broker passes only reducing orders until Reconcile
// has ended once.
func Open(ctx context.Context, cfg Config) (*Gate, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("gate: no store")
	case cfg.Clock == nil:
		return nil, errors.New("gate: no clock")
	case cfg.Account == "" || cfg.Account == journal.ControlAccount:
		return nil, fmt.Errorf("gate: %q is not the name of an account", cfg.Account)
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	g := &Gate{cfg: cfg, log: log, startPending: !cfg.Paper}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.load(ctx); err != nil {
		return nil, err
	}
	if !g.state.Started {
		return nil, fmt.Errorf("%w: %s", ErrNoAccount, cfg.Account)
	}
	g.steps.seed(g.state.Clock)
	return g, nil
}

// Account returns the name of the gate's account.
func (g *Gate) Account() string { return g.cfg.Account }

// View calls look with the account's newest state, the effective mode and the limits
// in force (nil before the first limits entry). What look is given must not be kept
// or changed.
func (g *Gate) View(ctx context.Context, look func(View)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return err
	}
	v := View{
		State: g.state, Control: g.ctl, Limits: g.doc, Now: g.now().at,
		Mode: account.Effective(g.state.Mode, g.ctl.Mode), LimitsInvalid: g.badLimits(), Calendar: g.cfg.Calendar,
	}
	if g.cfg.Stop != nil {
		if reason, requested := g.cfg.Stop.Requested(); requested {
			v.Mode, v.StopReason = account.Halted, journal.BoundText(reason, ReasonBytesMax)
		}
	}
	look(v)
	return nil
}

// View is what can be seen of an account at one instant.
type View struct {
	State         *account.State
	Control       *account.Control
	Limits        *limits.Document
	Mode          account.Mode // effective
	StopReason    string       // of a halt that no entry tells yet; empty: there is none
	LimitsInvalid bool
	Now           time.Time
	Calendar      market.Calendar
}
