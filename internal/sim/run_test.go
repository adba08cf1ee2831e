package sim

import (
	"encoding/json"
	"testing"

	"github.com/broker-rails/broker-rails/internal/market"
)

func run(t *testing.T, o Options) *Report {
	t.Helper()
	o.Calendar, o.Version = market.XNYS(), "test"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTwoDays(t *testing.T) {
	r := run(t, Options{Days: 2, Seed: 1})
	b, _ := json.MarshalIndent(struct {
		T, C, V, A, D, R any
	}{r.Totals, r.Checks, r.Violations, r.Audit, r.Dates, r.Rails}, "", " ")
	t.Log(string(b))
}
