package adversary

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// cutOff is a context that ends right after it was first looked at: between the start of
// a case and its first call.
type cutOff struct {
	context.Context // canceled already
	looked          *atomic.Bool
}

func (c cutOff) Err() error {
	if c.looked.CompareAndSwap(false, true) {
		return nil
	}
	return c.Context.Err()
}

// TestACaseThatIsCutOffIsNoViolation: interrupted while a case is played, the report ends
// with an error and accuses nobody.
func TestACaseThatIsCutOffIsNoViolation(t *testing.T) {
	cases, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	ctx := cutOff{over, new(atomic.Bool)}
	err = playAll(ctx, cases[:1], options(), func(r *Result) error {
		t.Errorf("%s is reported, held: %v", r.Name, r.OK())
		return nil
	})
	if !errors.Is(err, context.Canceled) || !ctx.looked.Load() {
		t.Errorf("%v", err)
	}
}
