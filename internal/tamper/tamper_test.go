package tamper_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/normalize"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tamper"
)

// desk writes a journal to a file as production does.
type desk struct {
	t     *testing.T
	dir   string
	store *sqlite.Store
	clock *clock.Virtual
	paper *paper.Broker
	gate  *gate.Gate
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	at := time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)
	cal := market.XNYS()
	d := &desk{t: t, dir: filepath.Join(t.TempDir(), "data"), clock: clock.NewVirtual(at)}
	var err error
	d.store, err = sqlite.Open(t.Context(), d.dir, sqlite.Options{Create: true})
	d.must(err)
	t.Cleanup(func() { d.must(d.store.Close()) })
	source := quotes.NewPaper(1, cal)
	d.paper, err = paper.OpenMemory(paper.Start{Cash: paper.StartingCash(), Wall: at, Market: at}, paper.Options{Clock: d.clock, Quotes: source, Calendar: cal})
	d.must(err)
	cfg := gate.Config{
		Account: "paper", Store: d.store, Broker: d.paper, Quotes: source, Clock: d.clock, Calendar: cal,
		Paper: true, AtomicReplace: true, Version: "test",
	}
	d.must(gate.Create(t.Context(), cfg, journal.Genesis{Broker: "paper", Cash: paper.StartingCash(), Currency: "USD", Who: "operator"}))
	d.gate, err = gate.Open(t.Context(), cfg)
	d.must(err)
	doc, err := limits.Load("shipped", limits.Template("paper"))
	d.must(err)
	_, err = d.gate.LoadLimits(t.Context(), "limits", doc.Canonical, "operator")
	d.must(err)
	return d
}

func (d *desk) order(quantity string, allowed bool) {
	d.t.Helper()
	d.clock.Advance(15 * time.Second)
	n, refusal := normalize.Call("place_order", fmt.Appendf(nil,
		`{"symbol":"AAPL","side":"buy","order_type":"limit","quantity":%q,"limit_price":"202.00","time_in_force":"day"}`, quantity))
	if refusal != nil {
		d.t.Fatal(refusal)
	}
	j := d.gate.Decide(d.t.Context(), gate.Call{Intent: n.Intent, Door: "test", Agent: "agent", CallID: "c", RawDigest: strings.Repeat("0", 64)})
	if j.Allowed() != allowed {
		d.t.Fatalf("%s: %v", quantity, j.Decision.Refusing())
	}
	if allowed {
		d.gate.Forward(d.t.Context(), j.Permit)
	}
}

// record is the paper broker's, as an audit takes it.
func (d *desk) record(ctx context.Context, _ string) (*audit.BrokerRecord, error) {
	sent, err := d.paper.Ledger().Messages(ctx)
	done, errDone := d.paper.Ledger().Executions(ctx)
	r := &audit.BrokerRecord{Messages: map[string]audit.BrokerMessage{}, Executions: map[string]audit.BrokerExecution{}}
	for _, m := range sent {
		r.Messages[m.ClientOrderID] = audit.BrokerMessage{At: m.DecidedAt, Took: m.Effect == paper.EffectTook}
	}
	for _, x := range done {
		r.Executions[x.ID] = audit.BrokerExecution{Quantity: x.Quantity, Price: x.Price}
	}
	return r, errors.Join(err, errDone)
}

// session is an order that passes, one that does not, and what else a day holds.
func (d *desk) session() {
	d.order("10", true)
	d.order("5000", false)
	for _, mode := range []string{journal.ModeReduceOnly, journal.ModeActive} {
		d.must(d.gate.SetMode(d.t.Context(), journal.Mode{By: journal.ByOperator, Mode: mode, Reason: "a look", Who: "operator"}))
	}
	d.must(gate.SetModeForAll(d.t.Context(), d.store, d.clock, journal.Mode{By: journal.ByOperator, Mode: journal.ModeHalted, Reason: "a drill", Who: "operator"}))
	d.must(gate.SetModeForAll(d.t.Context(), d.store, d.clock, journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "its end", Who: "operator"}))
}

func (d *desk) run() *tamper.Report {
	d.t.Helper()
	r, err := tamper.Run(d.t.Context(), tamper.Options{
		Data: d.dir, Work: d.t.TempDir(), Calendar: market.XNYS(), Record: d.record, Now: time.Now,
	})
	d.must(err)
	return r
}

// answers is a row's table of answers.
func answers(t *testing.T, r *tamper.Report, attack string) map[tamper.Defence]tamper.Cell {
	t.Helper()
	for _, row := range r.Rows {
		if row.Attack == attack {
			out := map[tamper.Defence]tamper.Cell{}
			for _, c := range row.Cells {
				out[c.Defence] = c
			}
			return out
		}
	}
	t.Fatalf("no row %q", attack)
	return nil
}

// The whole table, cell by cell.
func TestWhichDefenceCatchesWhat(t *testing.T) {
	d := newDesk(t)
	d.session()
	before, err := os.ReadFile(filepath.Join(d.dir, sqlite.FileName))
	d.must(err)
	r := d.run()
	const pass, caught, none = tamper.Passes, tamper.Caught, tamper.NotAsked
	for attack, want := range map[string][6]tamper.Answer{
		"none":                    {pass, pass, pass, pass, pass, pass},
		"flip a verdict":          {caught, none, caught, caught, caught, none},
		"cut the tail":            {pass, pass, pass, caught, caught, pass},
		"recompute the chain":     {pass, caught, caught, caught, caught, none},
		"derive everything again": {pass, pass, caught, caught, caught, pass},
		"rewrite with the key":    {pass, pass, pass, caught, caught, pass},
		"rewrite a sent order":    {pass, pass, pass, caught, caught, caught},
		"tell two histories":      {pass, pass, pass, pass, caught, pass},
		"cut what nobody saw":     {pass, pass, pass, pass, pass, pass},
	} {
		got := answers(t, r, attack)
		for i, defence := range tamper.Defences() {
			if c := got[defence]; c.Answer != want[i] || c.Said == "" {
				t.Errorf("%s: %s says %q (%s), want %q", attack, defence, c.Answer, c.Said, want[i])
			}
		}
	}
	if len(r.Rows) != 9 || !r.AsDesigned {
		t.Errorf("%d rows, as designed: %v", len(r.Rows), r.AsDesigned)
	}
	after, err := os.ReadFile(filepath.Join(d.dir, sqlite.FileName))
	d.must(err)
	if string(before) != string(after) {
		t.Error("the journal itself was changed")
	}
}

// The flipped entry and every one after it are broken.
func TestAFlippedVerdictBreaksTheChainFromThereOn(t *testing.T) {
	d := newDesk(t)
	d.session()
	r := d.run()
	if len(r.Links) < 3 || r.Links[0].Kind != journal.KindDecision {
		t.Fatalf("%+v", r.Links)
	}
	for _, l := range r.Links {
		if l.Intact || l.Stored == l.Follow {
			t.Errorf("entry %d is shown as intact", l.Seq)
		}
	}
	c := answers(t, r, "flip a verdict")[tamper.Chain]
	if !strings.Contains(c.Said, "broken from "+r.Flipped+" on") {
		t.Errorf("the chain says %q, and %s was flipped", c.Said, r.Flipped)
	}
}

// Whoever holds the key rewrites unseen, unless someone else holds a checkpoint or a
// witness has cosigned one.
func TestARewriteWithTheKeyIsSeenFromOutsideOnly(t *testing.T) {
	d := newDesk(t)
	d.session()
	r := d.run()
	got := answers(t, r, "rewrite with the key")
	for _, defence := range []tamper.Defence{tamper.Chain, tamper.Replay, tamper.Signature, tamper.Broker} {
		if got[defence].Answer != tamper.Passes {
			t.Errorf("%s says %s: %s", defence, got[defence].Answer, got[defence].Said)
		}
	}
	for _, defence := range []tamper.Defence{tamper.Outside, tamper.Witnessed} {
		if got[defence].Answer != tamper.Caught {
			t.Errorf("%s says %s: %s", defence, got[defence].Answer, got[defence].Said)
		}
	}
	for _, row := range r.Rows {
		if row.Attack == "rewrite with the key" && (len(row.Attempts) != 2 || !strings.Contains(row.Attempts[1], "refused")) {
			t.Errorf("the witness was asked: %q", row.Attempts)
		}
	}
}

func TestAJournalWithNothingToForge(t *testing.T) {
	d := newDesk(t)
	d.order("10", true)
	_, err := tamper.Run(t.Context(), tamper.Options{Data: d.dir, Work: t.TempDir(), Calendar: market.XNYS(), Now: time.Now})
	if !errors.Is(err, tamper.ErrUnfit) {
		t.Errorf("%v", err)
	}
	d.order("5000", false) // the last entry: nothing stands behind it
	_, err = tamper.Run(t.Context(), tamper.Options{Data: d.dir, Work: t.TempDir(), Calendar: market.XNYS(), Now: time.Now})
	if !errors.Is(err, tamper.ErrUnfit) {
		t.Errorf("%v", err)
	}
}

// An auditor's copy is the journal alone. What the broker recorded was then not asked
// for: that is neither a pass nor a fault of the defence.
func TestAJournalWithoutTheBrokersRecord(t *testing.T) {
	d := newDesk(t)
	d.session()
	none := func(context.Context, string) (*audit.BrokerRecord, error) { return nil, nil }
	r, err := tamper.Run(t.Context(), tamper.Options{Data: d.dir, Work: t.TempDir(), Calendar: market.XNYS(), Record: none, Now: time.Now})
	d.must(err)
	for _, row := range r.Rows {
		if got := answers(t, r, row.Attack)[tamper.Broker].Answer; got != tamper.NotAsked {
			t.Errorf("%s: the broker's record, which is not there, says %s", row.Attack, got)
		}
		if len(row.Missed) > 0 {
			t.Errorf("%s: %q", row.Attack, row.Missed)
		}
	}
	if !r.AsDesigned {
		t.Error("not as designed")
	}
}
