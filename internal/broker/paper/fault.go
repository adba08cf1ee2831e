package paper

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/broker-rails/broker-rails/internal/order"
)

// FaultKind is what the broker does with a message that it was told to treat
// differently. The zero value is no fault and cannot be injected.
type FaultKind uint8

// Kinds of faults.
const (
	FaultNone          FaultKind = iota
	FaultAccept                  // none: the message is treated as always
	FaultReject                  // the broker refuses
	FaultTimeout                 // lost on the way; the reply is in doubt
	FaultTimeoutAfter            // it took effect; the reply is in doubt
	FaultPartial                 // half of it fills at once, the rest rests
	FaultDuplicateFill           // the order's next execution is reported twice
	FaultLateFill                // the order is canceled, and fills LateFillAfter later
	FaultDelay                   // it is taken only after Fault.Delay
	FaultDrop                    // lost, and no reply comes until the caller gives up
)

// LateFillAfter is how much market time a late fill comes after its order's end.
const LateFillAfter = time.Second

// FaultsMax is how many faults may wait at once.
const FaultsMax = 10_000

// Fault is one scripted fault. It is spent by the next message of its action.
type Fault struct {
	Kind   FaultKind
	Action order.Action  // ActionNone: by the next message of any action
	Delay  time.Duration // of a FaultDelay, by the wall's clock; not negative
}

// queued is a fault that waits.
type queued struct {
	Fault
	N int64
}

var (
	errFaultUnknown = errors.New("not a fault that the paper broker knows")
	errFaultsFull   = errors.New("too many faults wait already")
)

// Inject queues faults for the messages to come, whichever process sends them.
func (b *Broker) Inject(ctx context.Context, faults ...Fault) error {
	for _, f := range faults {
		if f.Kind == FaultNone || f.Kind > FaultDrop || f.Delay < 0 || f.Action > order.ActionCancel {
			return errFaultUnknown
		}
	}
	return b.ledger.store.update(ctx, func(k *book) error {
		if len(k.faults)+len(faults) > FaultsMax {
			return errFaultsFull
		}
		for _, f := range faults {
			k.faultCount++
			k.changed.queued = append(k.changed.queued, queued{Fault: f, N: k.faultCount})
		}
		k.changed.any = k.changed.any || len(faults) > 0
		return nil
	})
}

// ClearFaults drops the faults that wait.
func (b *Broker) ClearFaults(ctx context.Context) error {
	return b.ledger.store.update(ctx, func(k *book) error {
		for _, q := range k.faults {
			k.spend(q)
		}
		return nil
	})
}

// next takes the first waiting fault of an action; the zero fault if there is none.
func (k *book) next(action order.Action) Fault {
	i := slices.IndexFunc(k.faults, func(q queued) bool {
		return (q.Action == order.ActionNone || q.Action == action) && !slices.Contains(k.changed.spent, q.N)
	})
	if i < 0 {
		return Fault{}
	}
	k.spend(k.faults[i])
	return k.faults[i].Fault
}

func (k *book) spend(q queued) {
	k.changed.any = true
	k.changed.spent = append(k.changed.spent, q.N)
}
