package adversary

import (
	"testing"

	"go.uber.org/goleak"
)

// TestNothingIsLeftRunning: a suite of hundreds of installations leaves no goroutine.
func TestNothingIsLeftRunning(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c := one(t, `  attack:
    - order: {limit_price: "200.20"}
      repeat: 16
      at_once: true
      price_by: "0.01"
      allowed: 10
      expect: [max_orders_per_minute]
    - raw: '{"jsonrpc":"2.0","id":1,"method":'
      expect: [malformed_call]
  world: {fills: 10}
  twin:
    - order: {}
`)
	for _, http := range []bool{false, true} {
		o := options()
		o.HTTP = http
		if r := Play(t.Context(), &c, o); !r.OK() {
			t.Errorf("http %t: %v", http, r.Problems)
		}
	}
}
