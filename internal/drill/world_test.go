package drill

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/memory"
)

const accountName = "paper"

// start is Wednesday 2026-03-18, 11:00 in New York.
func start() time.Time { return time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC) }

// plan is one history to play: a seed, and what is left out of it.
type plan struct {
	seed   uint64
	steps  int             // at most; 0: as many as the seed says
	skip   map[int]bool    // steps that are left out
	spare  map[string]bool // faults that are left out, by task and port call
	disk   string          // a folder: the journal is a file there; empty: in memory
	record bool            // keep a trace
	wrong  bool            // break a rule on purpose: no order may reach the broker
}

// failure is the first thing that did not hold.
type failure struct{ rule, text string }

// world is one history.
type world struct {
	plan
	t testing.TB

	// How this history is set up, by its seed.
	shape *shape

	current     *task
	parked      []*task
	back        chan *task
	dying       *process
	machineDied bool
	calm        bool // no faults any more: the history comes to its end
	step        int

	store     journalFile
	clock     *clock.Virtual // the machine's
	truth     *clock.Virtual // the broker's; the same clock, for the paper broker
	market    *quotes.Scripted
	broker    *paper.Broker
	picture   *gate.BrokerAccount // an older one
	processes []*process
	haltFile  string // what it says; empty: there is none
	halts     int    // how often it was made
	badLimits string
	full      bool // the disk is
	snapshots []savedState
	delayed   []*transit // messages whose reply was lost, and that are still to arrive
	silent    bool       // a position changed that no event tells of

	oracle oracle
	fired  map[fault]int
	trace  strings.Builder
	failed *failure
	calls  int
	seen   []gate.Call // what the agent asked for, to ask for it again
	orders int         // made, for the names of client ids
}

// shape is what a seed fixes for a whole history. Few faults at once go deep, many go wide.
type shape struct {
	processes, steps, parkRate, deathRate, faultRate int
	muted                                            uint64 // ports and kinds that never fail in this history
	paper, atomic, manual                            bool
	// What goes on beside orders in this history: all at once would let no order through.
	clocks, bystanders, halts, quotes, late bool
}

func shapeOf(seed uint64) *shape {
	r := at(seed, "shape", 0, 0)
	return &shape{
		processes: pick(r, 1, 2, 2, 3), steps: 16 + r.n(44), parkRate: pick(r, 0, 60, 200, 450),
		deathRate: pick(r, 0, 0, 4, 15), faultRate: pick(r, 0, 15, 40, 110), muted: r.quarter(),
		paper: r.in(500), atomic: r.in(800), manual: r.in(600),
		clocks: r.in(250), bystanders: r.in(300), halts: r.in(500), quotes: r.in(400), late: r.in(350),
	}
}

func (s *shape) mutes(port, kind string) bool {
	h := uint64(len(kind))
	for i := range len(port) {
		h = mix(h ^ uint64(port[i]))
	}
	for i := range len(kind) {
		h = mix(h ^ uint64(kind[i]))
	}
	return s.muted>>(h%64)&1 == 1
}

// process is one that has the journal open, or had.
type process struct {
	n        int
	gate     *gate.Gate
	store    journalHandle
	up       bool
	opening  bool
	broken   string // a flush failed: its store refuses to append
	held     []*held
	mustHalt int // entries that were durable when a panic went through the gate; 0: none did
}

// held is an allowed decision that was not forwarded yet.
type held struct {
	of     *process
	permit *gate.Permit
	client string
	boot   time.Duration // when the decision was made, by the clock since boot
	minted time.Time     // and by the clock that stands still during sleep
}

// documents are the limits that are loaded in turn, and their figures.
type documents struct {
	texts [][]byte
	by    map[string]*limits.Document
	// ordersMax is the loosest limit of orders a minute.
	ordersMax int64
}

// lines are laid over the shipped limits: narrow, so that short histories reach them.
const lines = `
instrument: {order_types: [limit, market, stop], symbols: [AAPL, MSFT]}
size: {max_order_qty: %d}
position: {max_position_qty: %d, max_gross_exposure: "%d", max_open_orders: %d, max_in_doubt: %s}
session: {max_orders_per_minute: %d, max_orders_per_day: %d, max_messages_per_minute: %s, max_notional_per_minute: "%d",
  duplicate_window: %s, denial_storm: {denials: %d, window: 10m}, repeated_execution: off, max_daily_loss: off}
`

var shippedDocuments = sync.OnceValues(func() (*documents, error) {
	d := &documents{by: map[string]*limits.Document{}}
	base, err := limits.Load("shipped", limits.Template(accountName))
	if err != nil {
		return nil, err
	}
	for _, over := range []string{
		fmt.Sprintf(lines, 20, 30, 9000, 5, "off", 7, 16, "off", 15000, "off", 1000),
		fmt.Sprintf(lines, 12, 24, 6000, 4, "2", 5, 12, "30", 6000, "10s", 1000),
		fmt.Sprintf(lines, 25, 40, 14000, 8, "off", 9, 20, "off", 16000, "off", 1000),
		fmt.Sprintf(lines, 20, 30, 9000, 5, "1", 6, 14, "12", 9000, "5s", 8),
	} {
		doc, err := limits.Over(base, "lines", []byte(over))
		if err != nil {
			return nil, err
		}
		loaded, err := limits.Load("lines", doc.Canonical)
		if err != nil {
			return nil, err
		}
		d.ordersMax = max(d.ordersMax, int64(loaded.Session.MaxOrdersPerMinute.Value))
		d.texts, d.by[loaded.Fingerprint] = append(d.texts, doc.Canonical), loaded
	}
	return d, nil
})

func newWorld(t testing.TB, p *plan) *world {
	s := shapeOf(p.seed)
	w := &world{plan: *p, t: t, shape: s, back: make(chan *task), fired: map[fault]int{}}
	if w.steps == 0 || w.steps > s.steps {
		w.steps = s.steps
	}
	w.clock, w.truth = clock.NewVirtual(start()), clock.NewVirtual(start())
	if s.paper {
		w.truth = w.clock
	}
	cal := market.XNYS()
	w.market = quotes.NewScripted(cal)
	for _, symbol := range symbols() {
		w.tell(symbol, 0, 0)
	}
	var err error
	w.broker, err = paper.OpenMemory(
		paper.Start{Cash: paper.StartingCash(), Wall: start(), Market: start()},
		paper.Options{Clock: w.truth, Quotes: w.market, Calendar: cal, ManualFills: s.manual, AllowShort: true},
	)
	must(t, err)
	if w.disk == "" {
		w.store = inMemory{memory.New()}
	} else {
		w.store, err = openFile(w.disk)
		must(t, err)
	}
	docs, err := shippedDocuments()
	must(t, err)
	w.oracle = newOracle(w, docs)
	for n := range s.processes {
		w.processes = append(w.processes, &process{n: n})
	}
	w.begin(docs)
	return w
}

// begin makes the account and starts every process, without a fault.
func (w *world) begin(docs *documents) {
	first := w.processes[0]
	must(w.t, w.attach(first))
	cfg := w.config(first)
	must(w.t, gate.Create(context.Background(), cfg, journal.Genesis{
		Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "operator",
	}))
	for _, p := range w.processes {
		must(w.t, w.attach(p))
		g, err := gate.Open(context.Background(), w.config(p))
		must(w.t, err)
		p.gate, p.up = g, true
	}
	_, err := first.gate.LoadLimits(context.Background(), "limits", docs.texts[0], "operator")
	must(w.t, err)
	for _, p := range w.processes {
		must(w.t, p.gate.Start(context.Background()))
	}
}

func (w *world) config(p *process) gate.Config {
	return gate.Config{
		Account: accountName, Store: &disk{w, p}, Broker: &line{w, p}, Quotes: &feed{w, p}, Clock: w.clock, Calendar: market.XNYS(),
		Paper: w.shape.paper, AtomicReplace: w.shape.atomic, Version: "drill",
		Stop: &stopFile{w}, BadLimits: &badMark{w},
	}
}

// attach opens the journal for a process.
func (w *world) attach(p *process) error {
	if p.store != nil {
		return nil
	}
	h, err := w.store.open()
	if err == nil {
		p.store, p.broken = h, ""
	}
	return err
}

// crash ends a process: what it had in memory is gone, its calls end where they stand.
func (w *world) crash(p *process) {
	w.end(p)
	if p.store != nil {
		must(w.t, p.store.Close())
	}
	*p = process{n: p.n}
}

func (w *world) fail(rule, format string, args ...any) {
	if w.failed == nil {
		w.failed = &failure{rule, fmt.Sprintf(format, args...)}
		w.note("FAILED: %s: %s", rule, w.failed.text)
	}
}

func (w *world) note(format string, args ...any) {
	if w.record {
		fmt.Fprintf(&w.trace, "%3d %s  ", w.step, w.clock.Now().Format("15:04:05.000"))
		fmt.Fprintf(&w.trace, format, args...)
		_, _ = io.WriteString(&w.trace, "\n")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func symbols() []string { return []string{"AAPL", "MSFT"} }

// fault is where something failed, and how.
type fault struct{ port, kind, phase string }

func (w *world) hit(port, kind, phase string) { w.fired[fault{port, kind, phase}]++ }

func (w *world) dropped(t *task, kind string) bool {
	return w.plan.spare[place(t, kind)]
}

// place names one fault of a history, for leaving it out.
func place(t *task, kind string) string { return fmt.Sprintf("%d/%d/%s", t.id, t.calls, kind) }

// fault draws what goes wrong at a port call of the running task; empty: nothing.
func (w *world) fault(port string, kinds ...string) string {
	t := w.current
	if t == nil {
		return ""
	}
	t.calls++
	rate := w.shape.faultRate
	if port == "send" || port == "find" || port == "snapshot" {
		rate *= 4 // few calls come there
	} else if t.phase == phaseForward || t.phase == phaseOutcome {
		rate *= 2
	}
	if w.calm || !at(w.seed, port, t.id, t.calls).in(rate) {
		return ""
	}
	kind := pick(at(w.seed, port+" kind", t.id, t.calls), kinds...)
	if strings.HasPrefix(kind, "panicked") && (t.phase == phaseOperate || t.phase == phaseOpen) {
		return "" // nothing can be sent there, and the command line ends
	}
	if w.shape.mutes(port, kind) || w.dropped(t, kind) {
		return ""
	}
	w.hit(port, kind, t.phase)
	w.note("%s: %s %s [%s]", t, port, kind, place(t, kind))
	w.oracle.faults = append(w.oracle.faults, place(t, kind))
	return kind
}

// mode is the account's as the journal has it, with the control chain's.
func (w *world) mode() account.Mode {
	return account.Effective(w.oracle.state.Mode, w.oracle.control.Mode)
}
