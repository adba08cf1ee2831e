package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

// TestRealTime: a run in real time takes as long as it is told, and its report is of what
// was run until then.
func TestRealTime(t *testing.T) {
	began, told := time.Now(), 0
	r, err := Run(t.Context(), Options{
		Days: 7, Seed: 1, Calendar: market.XNYS(), Version: "test", Real: true, For: 1500 * time.Millisecond,
		Passed: func(time.Duration) { told++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < time.Second || took > time.Minute {
		t.Errorf("it took %s", took)
	}
	switch {
	case !r.RealTime || r.Stopped == "" || r.Days != 1 || r.Through != "2026-03-18":
		t.Errorf("%+v", r)
	case r.Totals.Calls == 0 || r.Totals.Orders == 0 || r.Dates[0].Calls != r.Totals.Calls:
		t.Errorf("calls: %+v, of the date: %+v", r.Totals, r.Dates[0].Figures)
	case !r.Held || !r.Audit.Verified:
		t.Errorf("not held: %v %v", r.Violations, r.Audit.Differences)
	case told == 0 || len(r.Points) == 0:
		t.Errorf("told %d times, %d points", told, len(r.Points))
	}
	if _, err := r.Page(); err != nil {
		t.Error(err)
	}
}

// TestRealTimeInterrupted: who ends it gets a report, and one that verifies.
func TestRealTimeInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(700*time.Millisecond, stop)
	r, err := Run(ctx, Options{Days: 1, Seed: 1, Faults: true, Calendar: market.XNYS(), Version: "test", Real: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped != "interrupted" || r.Totals.Calls == 0 || !r.Held {
		t.Errorf("%q, %d calls, held: %v", r.Stopped, r.Totals.Calls, r.Held)
	}
}

// TestAVirtualRunThatIsInterruptedIsNone: half of a run that claims to repeat is no report.
func TestAVirtualRunThatIsInterruptedIsNone(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, Options{Days: 1, Seed: 1, Calendar: market.XNYS(), Version: "test"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
