package drill

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
)

// Phases of the contract that a port call can belong to. A fault is counted by where it
// came: the same port fails in another way before a decision than after a reply.
const (
	phaseDecide    = "decide"    // steps 2 and 3
	phaseForward   = "forward"   // step 4: the heads are read again
	phaseOutcome   = "outcome"   // step 5
	phaseReconcile = "reconcile" // also by a start
	phaseOperate   = "operate"   // modes, limits, findings by hand
	phaseOpen      = "open"      // a process folds the journal
	phaseTend      = "tend"      // ticks, checks and refusals
)

// task is one call into a gate, on its own goroutine. Only the one that holds the turn
// runs; it gives it back at a port, or at its end.
type task struct {
	id      int // of the step that began it
	process *process
	name    string
	phase   string
	resume  chan struct{}
	calls   int    // port calls so far: the place of the next draw
	parked  bool   // waits at a port
	locked  bool   // and its gate's lock is held meanwhile
	killed  bool   // its process died: it ends where it stands
	done    bool   // its function returned, or was ended
	escaped string // a panic that no one caught

	headsAt  int      // how many entries were durable when its permit's use began, or the heads were read since
	stopSeen bool     // the halt file stood when the permit's use began, or when it was asked for
	foreign  bool     // the broker's answer was about another order
	sending  *transit // handed to the broker, and not there yet
	permit   *held    // that it is using
}

// spawn begins a task and lets it run up to its first stop. A task whose process has
// another one that holds the gate's lock may not begin: see free.
func (w *world) spawn(p *process, id int, name, phase string, do func(ctx context.Context)) {
	t := &task{id: id, process: p, name: name, phase: phase, resume: make(chan struct{})}
	w.note("%s begins", t)
	go func() {
		<-t.resume
		defer func() {
			if r := recover(); r != nil {
				t.escaped = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			t.done, t.parked = true, false
			w.back <- t
		}()
		do(context.Background())
	}()
	w.turn(t)
}

// turn lets a task run until it stops, and ends its process if it died there.
func (w *world) turn(t *task) {
	w.current = t
	t.parked = false
	w.parked = slices.DeleteFunc(w.parked, func(x *task) bool { return x == t })
	t.resume <- struct{}{}
	<-w.back
	w.current = nil
	if !t.done {
		w.parked = append(w.parked, t)
	}
	if t.escaped != "" {
		w.fail("no panic leaves the gate", "%s: %s", t, t.escaped)
	}
	if dying := w.dying; dying != nil {
		w.dying = nil
		w.crash(dying)
		for _, p := range w.processes {
			if w.machineDied {
				w.crash(p)
			}
		}
		w.machineDied = false
	}
}

// park stops the running task at a port, if the seed says so, and always if it must.
// locked tells whether the gate's lock is held there.
func (w *world) park(locked bool) {
	t := w.current
	if t == nil || w.calm {
		return
	}
	t.calls++
	if t.process != nil && w.shape.deathRate > 0 && at(w.seed, "death", t.id, t.calls).in(w.shape.deathRate) && !w.dropped(t, "died") {
		w.hit("process", "died at a port", t.phase)
		w.die()
	}
	if !at(w.seed, "park", t.id, t.calls).in(w.shape.parkRate) {
		return
	}
	w.stop(t, locked)
}

func (w *world) stop(t *task, locked bool) {
	t.parked, t.locked = true, locked
	w.back <- t
	<-t.resume
	if t.killed {
		runtime.Goexit()
	}
}

// die ends the running task's process at the port where it stands.
func (w *world) die() {
	t := w.current
	if t.process == nil {
		runtime.Goexit() // a command line that ends at once
	}
	w.note("%s: process %d dies here", t, t.process.n)
	w.dying = t.process
	w.stop(t, true)
}

// end ends the parked tasks of a process, or of all for nil: whoever holds the lock first,
// since the others take it once more on their way out.
func (w *world) end(p *process) {
	for {
		var next *task
		for _, t := range w.parked {
			if (p == nil || t.process == p) && (next == nil || t.locked) {
				next = t
			}
		}
		if next == nil {
			return
		}
		next.killed = true
		w.turn(next)
	}
}

// free reports whether a task of the process may run without waiting for the gate's lock.
func (w *world) free(p *process) bool {
	return p == nil || !slices.ContainsFunc(w.parked, func(t *task) bool { return t.process == p && t.locked })
}

// waiting is the parked task whose turn is next, if one comes before the next step does.
func (w *world) waiting(step int) *task {
	first := at(w.seed, "turn of step", step, 0).next()
	if w.calm {
		first = ^uint64(0)
	}
	var next *task
	for _, t := range w.parked {
		if !t.locked && !w.free(t.process) {
			continue
		}
		if p := at(w.seed, "turn", t.id, t.calls).next(); p <= first {
			first, next = p, t
		}
	}
	return next
}

func (t *task) String() string {
	where := "operator"
	if t.process != nil {
		where = fmt.Sprintf("process %d", t.process.n)
	}
	return fmt.Sprintf("#%d %s, %s, %s", t.id, where, t.name, t.phase)
}

// reconciling reports whether a task of the process reconciles: there is one at a time.
func (w *world) reconciling(p *process) bool {
	return slices.ContainsFunc(w.parked, func(t *task) bool { return t.process == p && t.name == "reconcile" })
}
