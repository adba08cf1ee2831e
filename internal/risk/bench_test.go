package risk_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// fifty is an account that holds 50 symbols, one of them short, and a request with a
// mark of each.
func fifty(t testing.TB) (*book, *rail.Request) {
	var positions []journal.Position
	var marks []rail.Mark
	for i, symbol := range symbols(50) {
		quantity := "100"
		if i == 7 {
			quantity = "-100"
		}
		positions = append(positions, held(symbol, quantity, "50"))
		marks = append(marks, mark(symbol, "49.98", "50.02"))
	}
	b := open(t, "800000", positions...)
	req := b.new(order.Buy, "10", "200")
	req.Marks = marks
	return b, req
}

func BenchmarkDecide50(b *testing.B) {
	book, req := fifty(b)
	d := book.decide(req)
	allowed(b, &d)
	b.ReportAllocs()
	for b.Loop() {
		d := risk.Decide(book.s, book.doc, req, calendar)
		if d.Verdict != risk.Allowed {
			b.Fatal("not allowed")
		}
	}
}

func BenchmarkDecideFlat(b *testing.B) {
	book := open(b, "1000000")
	req := book.new(order.Buy, "10", "200")
	b.ReportAllocs()
	for b.Loop() {
		d := risk.Decide(book.s, book.doc, req, calendar)
		if d.Verdict != risk.Allowed {
			b.Fatal("not allowed")
		}
	}
}

// TestAllowedAllocatesNothing holds the cost of a decision that passes: the facts and
// findings stay on the caller's stack.
func TestAllowedAllocatesNothing(t *testing.T) {
	book, req := fifty(t)
	d := book.decide(req)
	allowed(t, &d)
	if n := testing.AllocsPerRun(100, func() { d = risk.Decide(book.s, book.doc, req, calendar) }); n != 0 {
		t.Errorf("an allowed decision allocates %v times, want 0", n)
	}
	if d.Passes != rail.Count || d.Off != 0 || !d.EquityOK {
		t.Errorf("passes %d, off %d, equity %v: every rail must be on here", d.Passes, d.Off, d.EquityOK)
	}
}
