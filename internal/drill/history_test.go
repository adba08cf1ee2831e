package drill

import (
	"context"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/gate"
)

// play runs the history to its end: its steps, then quiet, then the last questions.
func (w *world) play() {
	for w.step = 1; w.step <= w.steps && w.failed == nil; {
		if t := w.waiting(w.step); t != nil {
			w.turn(t)
		} else {
			if !w.skip[w.step] {
				w.take(w.step)
			}
			w.step++
		}
		if w.failed == nil {
			w.oracle.look()
		}
	}
	if w.failed == nil {
		w.settle()
	}
	w.end(nil)
	for _, p := range w.processes {
		if p.store != nil {
			must(w.t, p.store.Close())
		}
	}
	must(w.t, w.store.close())
}

// take does one step of the history.
func (w *world) take(id int) {
	r := at(w.seed, "step", id, 0)
	if w.full && r.in(200) {
		w.full = false
		w.note("there is room on the disk again")
		w.hit("append", "disk freed", "at any time")
	}
	p := w.processes[r.n(len(w.processes))]
	n := r.n(100)
	switch {
	case n < 13:
		w.fillStep(r)
	case n < 22:
		w.timeStep(r)
	case n < 25 && w.shape.quotes:
		w.quoteStep(r)
	case n < 26 && w.shape.clocks:
		w.clockStep(r)
	case n < 28 && len(w.delayed) > 0:
		w.deliverStep()
	case n < 30 && w.shape.halts:
		w.oracle.haltAsked()
		w.haltFile = "asked for by hand"
		w.halts++
		w.hit("halt file", "asked for", "at any time")
	case n < 31 && w.shape.deathRate > 0:
		w.note("process %d is killed", p.n)
		w.hit("process", "killed", "at any time")
		w.crash(p)
	case n < 32 && w.shape.deathRate > 0:
		w.machineStep(r)
	default:
		w.processStep(p, id, n, r)
	}
}

// machineStep ends all processes at once; the boot-time clock may begin anew.
func (w *world) machineStep(r *roll) {
	w.note("the machine goes down")
	w.hit("process", "all killed", "at any time")
	for _, p := range w.processes {
		w.crash(p)
	}
	if r.in(500) {
		w.clock.Reboot()
		w.hit("clock", "boot anew", "at any time")
	}
}

// processStep does a step that needs a process that is up and whose gate is free.
func (w *world) processStep(p *process, id, n int, r *roll) {
	for range w.processes {
		if !p.up || w.free(p) {
			break
		}
		p = w.processes[(p.n+1)%len(w.processes)]
	}
	old := w.clock.Now().Sub(w.oracle.state.Reconciled.At) > 50*time.Second
	switch {
	case !p.up && !p.opening:
		w.openStep(p, id)
	case !p.up || !w.free(p):
	case p.broken != "" && r.in(400):
		w.note("process %d is started anew", p.n)
		w.crash(p)
	case w.mode() != account.Active && r.in(500):
		w.operatorStep(p, id, r)
	case !w.shape.paper && old && r.in(600), n >= 32 && n < 40:
		w.reconcileStep(p, id, r)
	case n < 45 && w.shape.halts:
		w.operatorStep(p, id, r)
	case n < 48:
		w.tendStep(p, id, r)
	case n < 51:
		w.snapshotStep(p)
	case n < 58:
		w.laterStep(p, id, r)
	case n < 65:
		w.permitStep(p, id, r)
	default:
		w.agentStep(p, id, r)
	}
}

// openStep starts a process: it folds the journal, reconciles, and serves.
func (w *world) openStep(p *process, id int) {
	if err := w.attach(p); err != nil {
		w.fail("a journal opens again", "%v", err)
		return
	}
	p.opening = true
	w.spawn(p, id*8, "start", phaseOpen, func(ctx context.Context) {
		g, err := gate.Open(ctx, w.config(p))
		p.opening = false
		if err != nil {
			w.note("    not open: %v", err)
			return
		}
		p.gate, p.up = g, true
		w.current.name, w.current.phase = "reconcile", phaseReconcile
		w.note("    started: %v", g.Start(ctx))
	})
}

func (w *world) reconcileStep(p *process, id int, r *roll) {
	if w.reconciling(p) {
		return
	}
	var adopt *gate.Adopt
	if len(w.oracle.state.Reconciled.Differences) > 0 && r.in(400) {
		adopt = &gate.Adopt{Who: "operator", Reason: "the broker is right"}
		w.hit("operator", "adopted", phaseReconcile)
	}
	w.spawn(p, id*8, "reconcile", phaseReconcile, func(ctx context.Context) {
		found, err := p.gate.Reconcile(ctx, adopt)
		w.note("    reconciled: %v, differences %v, settled %v, in doubt %v", err, found.Differences, found.Resolved, found.StillDoubt)
	})
}

// snapshotStep keeps the state as a gate does now and then.
func (w *world) snapshotStep(p *process) {
	state, err := w.oracle.state.Snapshot()
	must(w.t, err)
	head := gate.Head{Seq: w.oracle.state.Seq, Hash: w.oracle.state.Head}
	must(w.t, (&disk{w, p}).SaveSnapshot(context.Background(), accountName, head, state))
}
