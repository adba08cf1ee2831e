package strict

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"max_order_qty", "max_order_notional", "min_order_notional"}
	for text, want := range map[string]string{
		"max_order_notinal": "max_order_notional", "MAX_ORDER_QTY": "max_order_qty", "max_oder_qty": "max_order_qty",
		"maxorderqty": "max_order_qty", "leverage": "", "": "", strings.Repeat("max_order_qty", 10): "",
	} {
		if got := Nearest(text, known); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"qty", "qyt", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%s to %s is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
