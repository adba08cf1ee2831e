package cli

import (
	"strings"
	"testing"
)

// TestTablesFitTheTerminal: no line is wider than the terminal while there is a way, and
// no word of a table is lost.
func TestTablesFitTheTerminal(t *testing.T) {
	words := columns("id", ">n", "why")
	words.add("paper/8", "1,000", "max_order_qty, max_order_notional, insufficient_buying_power")
	words.add("paper/9", "5", "accepted")
	figures := columns("limit", ">used", ">left")
	figures.add("max_orders_per_day", "123456", "876544")
	for _, c := range []struct {
		table *table
		width int
		want  string
	}{
		{words, 0, "id           n  why\npaper/8  1,000  max_order_qty, max_order_notional, insufficient_buying_power\npaper/9      5  accepted\n"},
		{words, 44, "id           n  why\npaper/8  1,000  max_order_qty,\n                max_order_notional,\n                insufficient_buying_power\npaper/9      5  accepted\n"},
		{words, 30, "id   paper/8\nn    1,000\nwhy  max_order_qty, max_order_notional, insufficient_buying_power\n\nid   paper/9\nn    5\nwhy  accepted\n"},
		{figures, 34, "limit                 used    left\nmax_orders_per_day  123456  876544\n"},
		{figures, 33, "limit  max_orders_per_day\nused   123456\nleft   876544\n"},
	} {
		var b strings.Builder
		p := newPrinter(&b, nil)
		p.tableWithin(c.table, "", c.width)
		if b.String() != c.want {
			t.Errorf("width %d:\n%s\nwant:\n%s", c.width, b.String(), c.want)
		}
	}
}

// TestOnlyTerminalsBoundTables: a pipe gets whole lines, whatever COLUMNS says.
func TestOnlyTerminalsBoundTables(t *testing.T) {
	if got := newPrinter(&strings.Builder{}, []string{"COLUMNS=20"}).columns(); got != 0 {
		t.Errorf("a pipe is %d wide", got)
	}
}
