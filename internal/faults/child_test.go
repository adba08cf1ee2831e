//go:build unix

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// The child's orders come in the environment of its process.
const (
	envDir    = "RAILS_FAULTS_DIR"
	envOrders = "RAILS_FAULTS_ORDERS" // how many it tries to place
	envKillAt = "RAILS_FAULTS_KILL"   // STEP:N, where it ends itself with SIGKILL
	envLater  = "RAILS_FAULTS_LATER"  // a duration that its clocks are ahead
)

// steps of the contract at which a child can die.
func steps() []string {
	return []string{"heads", "append.before", "append.after", "send.before", "send.after", "events"}
}

func TestMain(m *testing.M) {
	if os.Getenv(envDir) != "" {
		if err := child(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(within(m.Run))
}

// within runs the tests with a folder for the binary, and removes it.
func within(run func() int) int {
	dir, err := os.MkdirTemp("", "rails-faults")
	if err == nil {
		err = os.Setenv(envBinary, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	return run()
}

// trap ends the process the nth time that a step is reached.
type trap struct {
	step string
	left int
}

func trapFrom(text string) *trap {
	step, n, _ := strings.Cut(text, ":")
	left, _ := strconv.Atoi(n)
	return &trap{step: step, left: left}
}

func (t *trap) at(step string) {
	if t.step != step {
		return
	}
	if t.left--; t.left > 0 {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// trappedStore and trappedBroker are the real ones with a trap at each step.
type trappedStore struct {
	gate.Store
	trap *trap
}

func (s trappedStore) Append(ctx context.Context, b *gate.Batch) error {
	s.trap.at("append.before")
	err := s.Store.Append(ctx, b)
	s.trap.at("append.after")
	return err
}

func (s trappedStore) Heads(ctx context.Context, account string) (own, control gate.Head, err error) {
	s.trap.at("heads")
	return s.Store.Heads(ctx, account)
}

type trappedBroker struct {
	gate.Broker
	trap *trap
}

func (b trappedBroker) Send(ctx context.Context, m gate.Sealed) gate.Reply {
	b.trap.at("send.before")
	r := b.Broker.Send(ctx, m)
	b.trap.at("send.after")
	return r
}

func (b trappedBroker) Events(ctx context.Context, cursor string) ([]gate.Event, error) {
	b.trap.at("events")
	return b.Broker.Events(ctx, cursor)
}

// shifted is the machine's clock, some time later.
type shifted struct {
	gate.Clock
	by time.Duration
}

func (s shifted) Read() gate.Reading {
	r := s.Clock.Read()
	r.Market, r.Wall, r.Boot = r.Market.Add(s.by), r.Wall.Add(s.by), r.Boot+s.by
	return r
}

// desk is everything of one process.
type desk struct {
	store  *sqlite.Store
	paper  *paper.Broker
	gate   *gate.Gate
	config gate.Config
}

func (d *desk) close() { _ = errors.Join(d.paper.Close(), d.store.Close()) }

// newDesk opens journal and ledger of a folder; create makes the account first.
func newDesk(ctx context.Context, dir string, later time.Duration, t *trap, create bool) (*desk, error) {
	cal := market.XNYS()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Create: create})
	if err != nil {
		return nil, err
	}
	system := shifted{Clock: clock.NewSystem(), by: later}
	ledger, err := paper.OpenFile(ctx, dir, paper.Start{
		Seed: 7, Cash: paper.StartingCash(), Wall: system.Read().Wall, Market: clock.PracticeStart(),
	})
	if err != nil {
		return nil, err
	}
	start := ledger.Start()
	practice, err := clock.NewPractice(system, cal, clock.Origin{Wall: start.Wall, Market: start.Market})
	if err != nil {
		return nil, err
	}
	q := quotes.NewPaper(start.Seed, cal)
	broker, err := paper.New(ledger, paper.Options{Clock: practice, Quotes: q, Calendar: cal})
	if err != nil {
		return nil, err
	}
	d := &desk{store: store, paper: broker, config: gate.Config{
		Account: "paper", Store: store, Broker: broker, Quotes: q, Clock: practice, Calendar: cal,
		Paper: true, AtomicReplace: true, Version: "test",
	}}
	if t != nil {
		d.config.Store, d.config.Broker = trappedStore{store, t}, trappedBroker{broker, t}
	}
	if create {
		err := gate.Create(ctx, d.config, journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "operator"})
		if err != nil {
			return nil, err
		}
	}
	d.gate, err = gate.Open(ctx, d.config)
	return d, err
}

// prepare makes a folder with an account under the given limits.
func prepare(t *testing.T, over string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := newDesk(t.Context(), dir, 0, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	base, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := limits.Over(base, "over", []byte(over))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.gate.LoadLimits(t.Context(), "limits", doc.Canonical, "operator"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// child places orders until it has tried them all, or dies of its trap.
func child(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	later, _ := time.ParseDuration(os.Getenv(envLater))
	orders, _ := strconv.Atoi(os.Getenv(envOrders))
	d, err := newDesk(ctx, os.Getenv(envDir), later, trapFrom(os.Getenv(envKillAt)), false)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.gate.Start(ctx); err != nil {
		return err
	}
	for range orders {
		q, err := d.config.Quotes.Quote(ctx, "AAPL", d.config.Clock.Read().Market)
		if err != nil {
			return err
		}
		price := q.Ask
		if rand.N(4) == 0 {
			price = q.Bid // rests
		}
		n, refusal := normalize.Call("place_order", fmt.Appendf(nil,
			`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":"1","limit_price":%q,"time_in_force":"day"}`, price))
		if refusal != nil {
			return refusal
		}
		j := d.gate.Decide(ctx, gate.Call{Intent: n.Intent, Door: "test", RawDigest: strings.Repeat("0", 64)})
		if j.Fault != "" {
			return errors.New(j.Fault)
		}
		if j.Allowed() {
			d.gate.Forward(ctx, j.Permit)
		}
	}
	return d.gate.Close(ctx)
}

// spawn starts a child; killAt may be empty.
func spawn(t *testing.T, dir string, orders int, killAt string, later time.Duration) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), envDir+"="+dir, envOrders+"="+strconv.Itoa(orders), envKillAt+"="+killAt, envLater+"="+later.String())
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}
