package account_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// player draws entries that a gate could write, in any order.
type player struct {
	*script
	r     *rapid.T
	list  []record
	ids   []string // of all our orders, ended ones too
	asked []uint64 // decisions that want an answer
	fills []journal.Fill
	exts  int
}

func newPlayer(t testing.TB, r *rapid.T) *player {
	p := &player{script: &script{t: t, s: account.New("paper"), now: morning}, r: r}
	p.put(journal.Genesis{Broker: "paper", Cash: money.NotionalFromInt(100_000), Currency: "USD", Version: "1", Who: "test"})
	return p
}

func (p *player) put(body any) uint64 {
	p.t.Helper()
	if err := p.add(journal.KindOf(body), body); err != nil {
		p.r.Fatalf("%T: %v", body, err)
	}
	p.list = append(p.list, record{p.s.Seq, p.now, body})
	return p.s.Seq
}

func (p *player) quantity() string {
	return rapid.SampledFrom([]string{"1", "2", "3", "7", "10", "0.5", "0.333333333", "1.000000001"}).Draw(p.r, "quantity")
}

func (p *player) price() string {
	return rapid.SampledFrom([]string{"1", "10", "9.99", "0.333333333", "199.98", "3.000000001"}).Draw(p.r, "price")
}

func (p *player) side() order.Side {
	return rapid.SampledFrom([]order.Side{order.Buy, order.Sell}).Draw(p.r, "side")
}

func (p *player) symbol() string {
	return rapid.SampledFrom([]string{"AAPL", "SPY"}).Draw(p.r, "symbol")
}

// openOrder draws an open order of ours that want accepts; nil if there is none.
func (p *player) openOrder(want func(*account.Order) bool) *account.Order {
	var list []*account.Order
	for _, o := range p.s.Orders {
		if !o.External && want(o) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return rapid.SampledFrom(list).Draw(p.r, "order")
}

func (p *player) fees() money.Notional {
	return money.MustNotional(rapid.SampledFrom([]string{"0", "0", "0.01", "-0.002"}).Draw(p.r, "fees"))
}

// play makes one entry.
func (p *player) play() {
	r := p.r
	switch rapid.IntRange(0, 15).Draw(r, "what") {
	case 0, 1, 2:
		d := p.decision(intent(p.side(), p.symbol(), p.quantity(), p.price()))
		d.Fees = p.fees()
		reserve(&d, rapid.SampledFrom([]string{journal.BucketOpen, journal.BucketExit}).Draw(r, "bucket"))
		seq := p.put(d)
		p.ids, p.asked = append(p.ids, "paper/"+strconv.FormatUint(seq, 10)), append(p.asked, seq)
	case 3:
		d := p.decision(intent(p.side(), p.symbol(), p.quantity(), p.price()))
		d.Verdict, d.ReplyBy = rapid.SampledFrom([]string{journal.VerdictDenied, journal.VerdictError}).Draw(r, "verdict"), journal.Time{}
		d.Reducing = rapid.Bool().Draw(r, "reducing")
		equity := money.NotionalFromInt(rapid.Int64Range(90_000, 110_000).Draw(r, "equity"))
		d.Equity = &equity
		p.put(d)
	case 4, 5, 6:
		p.answer()
	case 7, 8, 9:
		p.playFill()
	case 10:
		if o := p.openOrder(func(o *account.Order) bool { return o.Pending == nil }); o != nil {
			in := intent(o.Side, o.Symbol, p.quantity(), p.price())
			in.Action, in.Target = order.ActionReplace, o.ID
			in.Quantity, _ = in.Quantity.Add(o.Filled)
			d := p.decision(in)
			reserve(&d, journal.BucketOpen)
			if rapid.Bool().Draw(r, "atomic") {
				d.Flags = []string{journal.FlagAtomicReplace}
			}
			p.asked = append(p.asked, p.put(d))
		}
	case 11:
		if o := p.openOrder(func(*account.Order) bool { return true }); o != nil {
			p.asked = append(p.asked, p.put(p.decision(order.Intent{Action: order.ActionCancel, Symbol: o.Symbol, Target: o.ID})))
		}
	case 12:
		p.playExternal()
	case 13:
		p.put(journal.Refusal{
			Code: "malformed_call", Count: rapid.IntRange(1, 3).Draw(r, "count"), Door: "test",
			Denial: rapid.Bool().Draw(r, "denial"), Message: rapid.Bool().Draw(r, "message"),
		})
	case 14:
		p.playMark()
	case 15:
		p.now = p.now.Add(time.Duration(rapid.SampledFrom([]int64{
			1, int64(time.Second), int64(30 * time.Second), int64(time.Minute), int64(time.Minute) - 1, int64(9 * time.Hour), int64(24 * time.Hour),
		}).Draw(r, "later")))
	}
}

func (p *player) answer() {
	if len(p.asked) == 0 {
		return
	}
	seq := rapid.SampledFrom(p.asked).Draw(p.r, "decision")
	result := rapid.SampledFrom([]string{
		journal.ResultAccepted, journal.ResultAccepted, journal.ResultRejected, journal.ResultNotSent, journal.ResultInDoubt,
		journal.ResultCanceled, journal.ResultExpired,
	}).Draw(p.r, "result")
	o := p.s.Order("paper/" + strconv.FormatUint(seq, 10))
	if o != nil && o.Stage == account.Working && result == journal.ResultNotSent {
		p.refused(journal.KindOutcome, journal.Outcome{Decision: seq, Result: result})
		return
	}
	p.put(journal.Outcome{Decision: seq, Result: result})
}

// playFill fills an order, open or ended on this date or the last one, or tells a fill
// again.
func (p *player) playFill() {
	if len(p.fills) > 0 && rapid.IntRange(0, 4).Draw(p.r, "again") == 0 {
		f := rapid.SampledFrom(p.fills).Draw(p.r, "fill")
		f.Quantity = money.QuantityFromInt(77)
		p.put(f)
		return
	}
	if len(p.ids) == 0 {
		return
	}
	f := p.fillBody(rapid.SampledFrom(p.ids).Draw(p.r, "id"), p.quantity(), p.price())
	f.Fees = p.fees()
	if _, known := p.s.Ended(f.OrderID); !known && p.s.Order(f.OrderID) == nil {
		p.refused(journal.KindFill, f)
		return
	}
	p.put(f)
	p.fills = append(p.fills, f)
}

func (p *player) playExternal() {
	p.exts++
	x := journal.External{ID: "e" + strconv.Itoa(p.exts)}
	known := strconv.Itoa(rapid.IntRange(1, p.exts).Draw(p.r, "broker id"))
	if rapid.IntRange(0, 9).Draw(p.r, "event again") == 0 {
		x.ID = "e" + known
	}
	symbol := p.symbol()
	switch rapid.IntRange(0, 3).Draw(p.r, "part") {
	case 0:
		x.Cash = &journal.CashFlow{Amount: money.MustNotional(rapid.SampledFrom([]string{"500", "-0.01"}).Draw(p.r, "amount"))}
	case 1:
		x.Order = &journal.BrokerOrder{
			BrokerID: strconv.Itoa(p.exts), Instrument: stock(symbol), LimitPrice: money.MustPrice(p.price()),
			Quantity: money.MustQuantity(p.quantity()), Side: p.side(), TimeInForce: order.Day, Type: order.Limit,
		}
	case 2:
		x.Fill = &journal.ExternalFill{
			BrokerID: known, Fees: p.fees(), Instrument: stock(symbol), Price: money.MustPrice(p.price()),
			Quantity: money.MustQuantity(p.quantity()), Side: p.side(),
		}
	case 3:
		x.Ended = &journal.ExternalEnd{BrokerID: known, Result: journal.ResultCanceled}
	}
	p.put(x)
}

func (p *player) playMark() {
	date := p.s.TradeDateAt(p.now).String()
	switch rapid.IntRange(0, 3).Draw(p.r, "mark") {
	case 0:
		if !p.s.DayAt(p.now).HasOpen {
			p.put(journal.Open{Equity: money.NotionalFromInt(100_500), Source: "marks", TradeDate: date})
		} else {
			p.refused(journal.KindOpen, journal.Open{Equity: money.NotionalFromInt(1), Source: "marks", TradeDate: date})
		}
	case 1:
		p.put(journal.Latch{Rail: journal.LatchDailyLoss, TradeDate: date})
	case 2:
		mode := rapid.SampledFrom([]string{journal.ModeActive, journal.ModeReduceOnly, journal.ModeHalted}).Draw(p.r, "mode")
		p.put(journal.Mode{By: journal.ByOperator, Mode: mode, Reason: "test", RebasePeak: rapid.Bool().Draw(p.r, "rebase"), Who: "test"})
	case 3:
		mode := p.s.Mode
		m := journal.Mode{By: "denial_storm", Mode: journal.ModeReduceOnly, Reason: "test", Who: "gate"}
		if mode < account.ReduceOnly {
			p.refused(journal.KindMode, m)
		} else {
			p.put(m)
		}
	}
}

// TestFoldAgreesWithTheModel plays random histories. After each entry the state is what
// the plain model makes of all entries so far, now and then also a while later, and a
// restored snapshot is as good as the state itself.
func TestFoldAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPlayer(t, r)
		for range rapid.IntRange(1, 40).Draw(r, "entries") {
			before, first := snapshot(t, p.s), len(p.bytes)
			p.play()
			if rapid.Bool().Draw(r, "a batch") {
				p.play()
			}
			tried(r, before, p.bytes[first:])
			m := recompute(p.list)
			for _, later := range []time.Duration{0, 31 * time.Second} {
				if what := m.differs(p.s, p.now.Add(later)); what != "" {
					r.Fatalf("after %d entries, %s later: %s", len(p.list), later, what)
				}
			}
			if rapid.IntRange(0, 9).Draw(r, "restart") == 0 {
				before, digest := snapshot(t, p.s), p.s.Digest()
				restored, err := account.Restore(before)
				if err != nil || !bytes.Equal(snapshot(t, restored), before) || restored.Digest() != digest {
					r.Fatalf("restored otherwise (%v)", err)
				}
				p.s = restored
			}
		}
		again := account.New("paper")
		for _, b := range p.bytes {
			if err := again.Apply(b, journal.HashOf(b)); err != nil {
				r.Fatal(err)
			}
		}
		if !bytes.Equal(snapshot(t, again), snapshot(t, p.s)) || again.Digest() != p.s.Digest() {
			r.Fatal("the fold from the start is another state")
		}
	})
}

// tried asserts that a batch that was applied would have been found to fold, that one
// with a last entry that does not would not, and that trying changes nothing.
func tried(r *rapid.T, before []byte, batch [][]byte) {
	s, err := account.Restore(before)
	if err != nil {
		r.Fatal(err)
	}
	var entries []journal.Entry
	var hashes []journal.Hash
	for _, b := range batch {
		e, err := journal.Envelope(b)
		if err != nil {
			r.Fatal(err)
		}
		entries, hashes = append(entries, e), append(hashes, journal.HashOf(b))
	}
	if err := s.TryAll(entries, hashes); err != nil {
		r.Fatalf("a batch that folds is refused: %v", err)
	}
	if len(entries) > 0 {
		last := entries[len(entries)-1]
		last.Seq, last.Prev, last.Kind, last.Body = last.Seq+1, hashes[len(hashes)-1], journal.KindRecovery, []byte(`{"a":1}`)
		if err := s.TryAll(append(entries, last), append(hashes, journal.Hash{})); err == nil {
			r.Fatal("a batch that does not fold is taken")
		}
	}
	if after, err := s.Snapshot(); err != nil || !bytes.Equal(after, before) {
		r.Fatal("trying changed the state")
	}
}

var decimals = regexp.MustCompile(`"-?[0-9]+(\.[0-9]+)?"`)

// corrupt changes an entry's bytes: anywhere, or one of its figures.
func corrupt(r *rapid.T, b []byte) []byte {
	b = slices.Clone(b)
	figures := decimals.FindAllIndex(b, -1)
	if len(figures) == 0 || rapid.Bool().Draw(r, "anywhere") {
		b[rapid.IntRange(0, len(b)-1).Draw(r, "index")] = rapid.Byte().Draw(r, "byte")
		return b
	}
	at := rapid.SampledFrom(figures).Draw(r, "figure")
	with := rapid.SampledFrom([]string{"0", "-1", "-5.5", "99999999999999999999.999999999", "-99999999999999999999.999999999", "1"}).Draw(r, "with")
	return slices.Concat(b[:at[0]], []byte(`"`+with+`"`), b[at[1]:])
}

// TestARefusedEntryChangesNothing spoils entries of random histories. Whatever of them
// the fold refuses leaves the very state, and the good entry still applies.
func TestARefusedEntryChangesNothing(t *testing.T) {
	refusals := 0
	rapid.Check(t, func(r *rapid.T) {
		p := newPlayer(t, r)
		for range rapid.IntRange(1, 25).Draw(r, "entries") {
			p.play()
		}
		s := account.New("paper")
		for _, b := range p.bytes {
			before := snapshot(t, s)
			bad := corrupt(r, b)
			if err := s.Apply(bad, journal.HashOf(bad)); err != nil {
				refusals++
				if !bytes.Equal(snapshot(t, s), before) {
					r.Fatalf("refused (%v), but changed by\n%s", err, bad)
				}
			} else {
				// Another entry, but a sound one: back to before it.
				s = account.New("paper")
				if len(p.bytes) > 0 && s.Seq == 0 {
					restored, err := account.Restore(before)
					if err != nil {
						r.Fatal(err)
					}
					s = restored
				}
			}
			if err := s.Apply(b, journal.HashOf(b)); err != nil {
				r.Fatalf("the good entry is refused: %v", err)
			}
		}
	})
	if refusals < 500 {
		t.Errorf("only %d refusals were seen", refusals)
	}
}
