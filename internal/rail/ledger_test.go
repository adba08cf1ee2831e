package rail

import (
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// ledger folds real entries, for the rails that read windows and ids: only Apply can
// fill those.
type ledger struct {
	t     testing.TB
	state *account.State
	count int // of what needs a name of its own
}

// folded returns a ledger with a genesis and an active mode, long before the base order.
func folded(t testing.TB) *ledger {
	l := &ledger{t: t, state: account.New("paper")}
	start := at.Add(-48 * time.Hour)
	l.put(start, journal.KindGenesis, &journal.Genesis{
		Broker: "paper", Currency: "USD", Cash: ntl("1000000"), Version: "test", Who: "test",
	})
	l.put(start, journal.KindMode, &journal.Mode{By: journal.ByOperator, Mode: journal.ModeActive, Reason: "test", Who: "test"})
	return l
}

func (l *ledger) put(when time.Time, kind journal.Kind, body any) {
	l.t.Helper()
	b, h, err := journal.Seal("paper", l.state.Seq+1, l.state.Head, when, "", kind, body)
	if err == nil {
		err = l.state.Apply(b, h)
	}
	if err != nil {
		l.t.Fatalf("%s: %v", kind, err)
	}
}

// decision is a decision on the intent at an instant.
func (l *ledger) decision(when time.Time, verdict string, in *order.Intent, bucket, notional string) {
	l.t.Helper()
	d := &journal.Decision{
		Calendar: "test", Clock: journal.Clock{Wall: journal.Time{Time: when}}, Door: "test", Engine: "test",
		Instrument: apple(), Intent: *in, Mode: journal.ModeActive, Verdict: verdict,
		Reducing: bucket == journal.BucketExit,
	}
	if verdict == journal.VerdictAllowed {
		d.ReplyBy = journal.Time{Time: when.Add(30 * time.Second)}
		d.Reservation = &journal.Reservation{
			Bucket: bucket, Notional: ntl(notional), Price: in.LimitPrice, Quantity: in.Quantity,
		}
	}
	l.put(when, journal.KindDecision, d)
}

// allow reserves an order of its own quantity, so that no two are duplicates.
func (l *ledger) allow(when time.Time, side order.Side, bucket, notional string) {
	l.t.Helper()
	l.count++
	in := baseIntent()
	in.Side, in.Quantity = side, qty(strconv.Itoa(1000+l.count))
	l.decision(when, journal.VerdictAllowed, &in, bucket, notional)
}

func (l *ledger) deny(when time.Time, bucket string) {
	l.t.Helper()
	in := baseIntent()
	l.decision(when, journal.VerdictDenied, &in, bucket, "")
}

// cycle opens a position and closes it again at the instant.
func (l *ledger) cycle(when time.Time) {
	l.t.Helper()
	for _, side := range []order.Side{order.Buy, order.Sell} {
		l.count++
		in := baseIntent()
		in.Side = side
		l.decision(when, journal.VerdictAllowed, &in, journal.BucketOpen, "2000")
		l.put(when, journal.KindFill, &journal.Fill{
			ExecutedAt: journal.Time{Time: when}, ExecutionID: "x" + strconv.Itoa(l.count),
			OrderID: "paper/" + strconv.FormatUint(l.state.Seq, 10), Price: prc("200"), Quantity: in.Quantity,
		})
	}
}

func baseIntent() order.Intent {
	f := baseFacts()
	return *f.Intent
}

// facts lays the ledger's state under the base order.
func (l *ledger) facts() Facts {
	f := baseFacts()
	day := f.State.Day
	f.State = l.state
	f.State.Day.HasOpen, f.State.Day.EquityAtOpen = day.HasOpen, day.EquityAtOpen
	return f
}

// row is one row of a table over folded entries.
type row struct {
	name string
	past func(l *ledger)
	set  func(f *Facts)
	want Status
}

// runOver is run for rails that read windows.
func runOver(t *testing.T, id ID, rail func(*Facts) Finding, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			l := folded(t)
			if r.past != nil {
				r.past(l)
			}
			f := l.facts()
			if r.set != nil {
				r.set(&f)
			}
			f.figures()
			finds(t, rail(&f), id, r.want)
			if r.want != Pass {
				return
			}
			if n := testing.AllocsPerRun(10, func() { rail(&f) }); n != 0 {
				t.Errorf("passing allocates %v times", n)
			}
		})
	}
}

// ago is an instant before the base order.
func ago(d time.Duration) time.Time { return at.Add(-d) }

// reducing makes the order a sell that reduces, on the state that stands.
func reducing(f *Facts) {
	holdings := f.State.Holdings
	f.reduce("10", "10")
	f.State.Holdings = holdings
}
