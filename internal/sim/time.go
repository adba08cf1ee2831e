package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
)

// timekeeper is the time that a session happens in.
type timekeeper interface {
	gate.Clock
	// until lets time run to an instant of the market; nothing happens if that has passed.
	until(ctx context.Context, at time.Time) error
	// pass lets a span of time pass.
	pass(ctx context.Context, d time.Duration) error
}

// endedError says that a run in real time came to its end before its last trade date.
type endedError struct{ why string }

func (e *endedError) Error() string { return "the session ended: " + e.why }

func (w *world) now() time.Time { return w.time.Read().Market }

// keepTime makes the session's time, and returns what the wall shows when the market opens.
func (w *world) keepTime(opens time.Time) (wall time.Time, err error) {
	if !w.options.Real {
		w.time = virtualTime{clock.NewVirtual(opens)}
		return opens, nil
	}
	system := clock.NewSystem()
	began := system.Read().Wall
	practice, err := clock.NewPractice(system, w.options.Calendar, clock.Origin{Wall: began, Market: opens})
	if err != nil {
		return wall, fmt.Errorf("a session in real time: %w", err)
	}
	w.time = &realTime{Practice: practice, options: &w.options, began: time.Now()}
	return began, nil
}

// virtualTime moves when it is told to.
type virtualTime struct{ *clock.Virtual }

func (v virtualTime) until(_ context.Context, at time.Time) error {
	if at.After(v.Now()) {
		v.Set(at)
	}
	return nil
}

func (v virtualTime) pass(_ context.Context, d time.Duration) error {
	v.Advance(d)
	return nil
}

// realTime is waited for.
type realTime struct {
	*clock.Practice
	options *Options
	began   time.Time
}

// lookEvery is how often a wait looks up: what was passed is told so often.
const lookEvery = time.Second

func (r *realTime) until(ctx context.Context, at time.Time) error {
	for {
		left := at.Sub(r.Read().Market)
		if left <= 0 {
			return nil
		}
		if err := r.pass(ctx, min(left, lookEvery)); err != nil {
			return err
		}
	}
}

func (r *realTime) pass(ctx context.Context, d time.Duration) error {
	since := time.Since(r.began)
	if r.options.Passed != nil {
		r.options.Passed(since)
	}
	if err := r.Ended(); err != nil {
		return &endedError{err.Error()}
	}
	if r.options.For > 0 {
		d = min(d, r.options.For-since)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return &endedError{"interrupted"}
	case <-t.C:
	}
	if r.options.For > 0 && time.Since(r.began) >= r.options.For {
		return &endedError{"its time was over, after " + r.options.For.String()}
	}
	return nil
}

// stop notes that a run in real time ended within a trade date, the n-th.
func (r *Report) stop(date market.TradeDate, why string, n int) {
	r.Stopped, r.Through, r.Days = why, date.String(), n
}
