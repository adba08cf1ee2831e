package paper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

func TestFirstOpenerWritesTheStartDown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ?#%", "data")
	first, err := OpenFile(t.Context(), dir, start())
	if err != nil {
		t.Fatal(err)
	}
	second, err := OpenFile(t.Context(), dir, Start{Seed: 9, Cash: usd("1"), Wall: at.Add(time.Hour), Market: at.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if first.Start() != start() || second.Start() != start() {
		t.Errorf("start %+v and %+v", first.Start(), second.Start())
	}
	for _, l := range []*Ledger{first, second} {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS == "windows" {
		return // no such modes
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE other (x)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var schema *SchemaError
	if _, err := OpenFile(t.Context(), dir, start()); !errors.As(err, &schema) {
		t.Errorf("opened a foreign database: %v", err)
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte("not a database, but long enough to be read as a header of one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(t.Context(), dir, start()); err == nil {
		t.Error("opened a file that is no database")
	}
}

func TestEventsReadOnFromACursor(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		for range 3 {
			d.took(d.limit(order.Buy, "1", "201.00"))
		}
		all := d.events()
		rest, err := d.Events(d.t.Context(), all[0].Cursor)
		if err != nil || !reflect.DeepEqual(rest, all[1:]) {
			d.t.Errorf("rest %+v, %v", rest, err)
		}
		if rest, err = d.Events(d.t.Context(), all[2].Cursor); err != nil || len(rest) != 0 {
			d.t.Errorf("after the last: %+v, %v", rest, err)
		}
		for _, bad := range []string{"x", "-1", "1.5", "paper/1"} {
			if _, err := d.Events(d.t.Context(), bad); err == nil {
				d.t.Errorf("cursor %q was read", bad)
			}
		}
	})
}

// contents is all that a ledger holds.
type contents struct {
	Cash       money.Notional
	Orders     []Order
	Executions []Execution
	Positions  []journal.Position
	Messages   []Message
	Events     []gate.Event
}

func (d *desk) contents() contents {
	d.t.Helper()
	ctx, l := d.t.Context(), d.Ledger()
	var c contents
	var errs [5]error
	c.Events = d.events()
	c.Cash, errs[0] = l.Cash(ctx)
	c.Orders, errs[1] = l.Orders(ctx)
	c.Executions, errs[2] = l.Executions(ctx)
	c.Positions, errs[3] = l.Positions(ctx)
	c.Messages, errs[4] = l.Messages(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// step is one random thing that happens, drawn once and done to several brokers.
type step func(*desk)

func drawStep(rt *rapid.T) step {
	side := rapid.SampledFrom([]order.Side{order.Buy, order.Sell}).Draw(rt, "side")
	kind := rapid.SampledFrom([]order.Type{order.Limit, order.Limit, order.Limit, order.Market, order.Stop, order.StopLimit}).Draw(rt, "type")
	tif := rapid.SampledFrom([]order.TimeInForce{order.Day, order.GTC, order.IOC, order.GTD}).Draw(rt, "tif")
	quantity := money.QuantityFromInt(rapid.Int64Range(1, 400).Draw(rt, "quantity"))
	cents := func(name string) money.Price {
		p, _ := money.NotionalFromInt(rapid.Int64Range(195_00, 205_00).Draw(rt, name)).Per(qty("100"), money.Up)
		return p
	}
	limit, stop := cents("limit"), cents("stop")
	target := fmt.Sprintf("paper-o%d", rapid.IntRange(1, 12).Draw(rt, "target"))
	fault := FaultKind(rapid.IntRange(int(FaultAccept), int(FaultLateFill)).Draw(rt, "fault"))
	pass := time.Duration(rapid.IntRange(1, 300).Draw(rt, "seconds")) * time.Second
	pick := rapid.IntRange(0, 12).Draw(rt, "step")
	return func(d *desk) {
		m := d.limit(side, quantity.String(), limit.String())
		m.Type, m.TimeInForce, m.StopPrice, m.ExpireAt = kind, tif, stop, d.clock.now.Add(2*pass)
		switch {
		case pick < 5:
			d.sent(m)
		case pick == 5:
			m.Action, m.TargetBrokerID, m.Side, m.Type = order.ActionReplace, target, order.SideNone, order.TypeNone
			d.sent(m)
		case pick == 6:
			d.sent(gate.Message{Action: order.ActionCancel, TargetBrokerID: target})
		case pick == 7:
			if err := d.Inject(d.t.Context(), Fault{Kind: fault}); err != nil {
				d.t.Fatal(err)
			}
		case pick == 8:
			d.clock.pass(400 * pass)
		default:
			d.clock.pass(pass)
			d.account()
		}
	}
}

// walk writes an hour-long market on the tape that moves by up to a dollar a minute.
func walk(rt *rapid.T, d *desk) {
	mid := int64(200_00)
	for i, by := range rapid.SliceOfN(rapid.Int64Range(-100, 100), 40, 40).Draw(rt, "walk") {
		mid += by
		bid, _ := money.NotionalFromInt(mid-1).Per(qty("100"), money.Up)
		ask, _ := money.NotionalFromInt(mid+1).Per(qty("100"), money.Up)
		d.tape.say(at.Add(time.Duration(i+1)*2*time.Minute), bid.String(), ask.String())
	}
}

func TestLedgerAddsUpWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDesk(t, InMemory(start()), Options{PartialFills: rapid.Bool().Draw(rt, "partial")})
		walk(rt, d)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			drawStep(rt)(d)
			addsUp(rt, d.contents())
		}
	})
}

// addsUp checks a ledger against sums that are worked out from its executions alone.
func addsUp(rt *rapid.T, c contents) {
	cash, held := StartingCash(), money.Quantity{}
	filled, seen, reported := map[string]money.Quantity{}, map[string]bool{}, map[string]bool{}
	for _, e := range c.Events {
		if e.Kind == gate.EventFill {
			reported[e.Fill.ID] = true
		}
	}
	for _, x := range c.Executions {
		if seen[x.ID] || !reported[x.ID] {
			rt.Fatalf("execution %s: booked before %v, reported %v", x.ID, seen[x.ID], reported[x.ID])
		}
		seen[x.ID] = true
		value, _ := x.Price.Times(x.Quantity, money.Up)
		signed := x.Quantity
		if x.Side == order.Buy {
			value = value.Neg()
		} else {
			signed = signed.Neg()
		}
		cash, _ = cash.Add(value)
		held, _ = held.Add(signed)
		filled[x.BrokerID], _ = filled[x.BrokerID].Add(x.Quantity)
	}
	if cash != c.Cash {
		rt.Fatalf("cash %s, the executions make %s", c.Cash, cash)
	}
	position := money.Quantity{}
	for _, p := range c.Positions {
		position = p.Quantity
	}
	if held != position || len(c.Positions) > 1 {
		rt.Fatalf("positions %+v, the executions make %s", c.Positions, held)
	}
	late := false
	for _, o := range c.Orders {
		if o.Filled != filled[o.BrokerID] || o.Filled.Cmp(o.Quantity) > 0 {
			rt.Fatalf("order %+v, its executions make %s", o, filled[o.BrokerID])
		}
		if o.State == Open && (o.Filled == o.Quantity || o.TimeInForce == order.IOC) {
			rt.Fatalf("order %+v is open", o)
		}
		late = late || o.State == Canceled && o.LatePrice.IsPositive()
	}
	// A late fill is booked whatever it breaks; without one the account is never overdrawn.
	if !late && (c.Cash.IsNegative() || held.IsNegative()) {
		rt.Fatalf("cash %s, position %s", c.Cash, held)
	}
}

func TestFileAndMemoryKeepTheSame(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		l, err := OpenFile(t.Context(), filepath.Join(dir, fmt.Sprint(n)), start())
		if err != nil {
			rt.Fatal(err)
		}
		onFile, inMemory := newDesk(t, l, Options{}), newDesk(t, InMemory(start()), Options{})
		walk(rt, inMemory)
		onFile.tape = inMemory.tape
		onFile.options.Quotes = inMemory.tape
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			do := drawStep(rt)
			do(onFile)
			do(inMemory)
		}
		if a, b := onFile.contents(), inMemory.contents(); fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			rt.Fatalf("file   %+v\nmemory %+v", a, b)
		}
	})
}

func TestLookingOftenOrSeldomIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		often, seldom := newDesk(t, InMemory(start()), Options{}), newDesk(t, InMemory(start()), Options{})
		walk(rt, often)
		seldom.tape = often.tape
		seldom.options.Quotes = often.tape
		for range rapid.IntRange(1, 8).Draw(rt, "orders") {
			do := drawStep(rt)
			do(often)
			do(seldom)
			seldom.clock.to(often.clock.now)
		}
		for range 30 {
			often.clock.pass(97 * time.Second)
			often.account()
		}
		seldom.clock.to(often.clock.now)
		if a, b := often.contents(), seldom.contents(); fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			rt.Fatalf("often  %+v\nseldom %+v", a, b)
		}
	})
}

func TestLockedLedgerLeavesTheReplyInDoubt(t *testing.T) {
	l, err := OpenFile(t.Context(), t.TempDir(), start())
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, l, Options{})
	var path string
	if err := l.store.(*file).db.QueryRow("SELECT file FROM pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", source(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := d.accept(ctx, d.limit(order.Buy, "1", "201.00")); r.Result != gate.ReplyInDoubt || r.Reason == "" {
		t.Errorf("reply %+v", r)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if s := d.find("c1"); s.Known {
		t.Errorf("standing %+v", s)
	}
	d.took(d.limit(order.Buy, "1", "201.00")) // and the next one works
}

func TestFailClosedZeroBroker(t *testing.T) {
	b := &Broker{}
	if r := b.accept(t.Context(), gate.Message{Action: order.ActionNew}); r.Result != gate.ReplyInDoubt {
		t.Errorf("reply %+v", r)
	}
	if _, err := b.Account(t.Context()); err == nil {
		t.Error("an account of nothing")
	}
	if _, err := b.Find(t.Context(), "c1"); err == nil {
		t.Error("found nothing without an error")
	}
	if _, err := New(InMemory(start()), Options{}); err == nil {
		t.Error("a broker without a clock and quotes")
	}
}

func TestAdoptTellsNobody(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		o := journal.BrokerOrder{ClientOrderID: "mine", Instrument: share("AAPL"), Side: order.Sell, Type: order.Limit, TimeInForce: order.Day, Quantity: qty("4"), LimitPrice: px("210.00")}
		p := journal.Position{Instrument: share("AAPL"), Quantity: qty("10"), Cost: px("190.00")}
		ids, err := d.Adopt(d.t.Context(), []journal.Position{p}, []journal.BrokerOrder{o})
		if err != nil || len(ids) != 1 {
			d.t.Fatal(ids, err)
		}
		if a := d.account(); len(d.events()) != 0 || a.Cash != StartingCash() || len(a.Positions) != 1 || a.Positions[0] != p || len(a.Orders) != 1 {
			d.t.Errorf("account %+v", a)
		}
		if e := d.account().PreviousCloseEquity; e == nil || *e != usd("101900") {
			d.t.Errorf("previous-close equity %v, want cash and cost", e)
		}
		if s := d.find("mine"); !s.Open || s.BrokerID != ids[0] {
			d.t.Errorf("standing %+v", s)
		}
		d.refused(d.limit(order.Sell, "7", "210.00"), reasonPosition)
		if _, err := d.Adopt(d.t.Context(), []journal.Position{p}, []journal.BrokerOrder{o}); err == nil || d.position() != qty("10") {
			d.t.Errorf("adopted twice: %v, position %s", err, d.position())
		}
	})
}

func TestClockThatGoesBackFillsNothingTwice(t *testing.T) {
	desks(t, Options{}, func(d *desk) {
		d.took(d.limit(order.Buy, "1000", "99.00"))
		d.tape.say(at.Add(time.Second), "98.00", "98.02")
		d.clock.pass(3 * time.Second)
		before := d.contents()
		d.clock.pass(-3 * time.Second)
		d.account()
		d.clock.pass(3 * time.Second)
		if after := d.contents(); fmt.Sprint(after) != fmt.Sprint(before) || len(before.Executions) != 3 {
			d.t.Errorf("before %+v\nafter %+v", before, after)
		}
		d.clock.pass(-time.Hour)
		d.took(d.limit(order.Buy, "1", "99.00"))
		if o := d.contents().Orders[1]; o.PlacedAt.Before(at.Add(3 * time.Second)) {
			d.t.Errorf("placed at %s, before what the ledger has seen", o.PlacedAt)
		}
	})
}

// Whoever reads on from what it knows sees in the end what one sees who reads it all,
// from a file as from memory.
func TestAfterReadsOnFromWhatIsKnown(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		file, err := OpenFile(t.Context(), filepath.Join(dir, fmt.Sprint(n)), start())
		if err != nil {
			rt.Fatal(err)
		}
		onFile, inMemory := newDesk(t, file, Options{}), newDesk(t, InMemory(start()), Options{})
		walk(rt, inMemory)
		onFile.tape = inMemory.tape
		onFile.options.Quotes = inMemory.tape
		var message, execution int64
		var messages []Message
		var executions []Execution
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			do := drawStep(rt)
			do(onFile)
			do(inMemory)
			a, err1 := onFile.ledger.After(t.Context(), message, execution)
			b, err2 := inMemory.ledger.After(t.Context(), message, execution)
			if err1 != nil || err2 != nil || fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
				rt.Fatalf("file   %+v %v\nmemory %+v %v", a, err1, b, err2)
			}
			for _, m := range a.Messages {
				messages, message = append(messages, m), m.N
			}
			for _, x := range a.Executions {
				executions, execution = append(executions, x), x.N
			}
		}
		all, err1 := onFile.ledger.Messages(t.Context())
		done, err2 := onFile.ledger.Executions(t.Context())
		if err1 != nil || err2 != nil || fmt.Sprintf("%+v %+v", all, done) != fmt.Sprintf("%+v %+v", messages, executions) {
			rt.Fatalf("%v %v", err1, err2)
		}
	})
}
