//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

const allOff = `
position: {max_in_doubt: off, max_open_orders: off, max_position_qty: off, max_gross_exposure: off}
session: {max_orders_per_minute: off, max_notional_per_minute: off, max_messages_per_minute: off, duplicate_window: off, denial_storm: off, max_orders_per_day: %d}
`

// rounds is how many processes die in one run of TestKilledAtEveryStep.
func rounds() int {
	if os.Getenv("RAILS_SOAK") != "" {
		return 3000
	}
	return 240
}

// Each round a process dies by SIGKILL at a step of the contract, some of them while
// another process trades the same account.
func TestKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many processes")
	}
	const capacity = 420
	dir := prepare(t, fmt.Sprintf(allOff, capacity))
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	var later time.Duration
	for round := range rounds() {
		step := steps()[round%len(steps())]
		// Heads and events are read at the start too: the later visits are those of orders.
		visit := 1 + random.IntN(2)
		if step == "heads" || step == "events" {
			visit += 6
		}
		victim := spawn(t, dir, 6, fmt.Sprintf("%s:%d", step, visit), later)
		var bystander *exec.Cmd
		if round%10 == 9 {
			bystander = spawn(t, dir, 2, "", later)
		}
		if victim.Wait() != nil {
			killed++
		}
		if bystander != nil {
			if err := bystander.Wait(); err != nil {
				t.Errorf("round %d: the bystander failed: %v", round, err)
			}
		}
		if round%20 == 19 {
			later += 31 * time.Second // what is in flight comes into doubt
		}
	}
	if err := spawn(t, dir, capacity, "", later).Wait(); err != nil {
		t.Errorf("the process that uses up the cap failed: %v", err)
	}
	got := oracle(t, dir, later+time.Minute)
	if got.placed > capacity || got.allowed != capacity {
		t.Errorf("%d orders at the broker and %d allowed, the cap is %d", got.placed, got.allowed, capacity)
	}
	if got.placed == capacity || killed < rounds()*5/6 {
		t.Errorf("%d orders placed and %d processes killed in %d rounds: the test shows nothing", got.placed, killed, rounds())
	}
	t.Logf("%d processes killed, %d orders at the broker, %d entries", killed, got.placed, got.state.Seq)
}

// Sixteen processes race for fifty orders a day.
func TestSixteenProcessesShareOneCap(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many processes")
	}
	const processes, capacity = 16, 50
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprintf("half_killed=%v", half), func(t *testing.T) {
			dir := prepare(t, fmt.Sprintf(allOff, capacity))
			children := make([]*exec.Cmd, processes)
			for i := range children {
				killAt := ""
				if half && i%2 == 0 {
					killAt = fmt.Sprintf("%s:%d", steps()[1+i/2%4], 1+rand.N(4))
				}
				children[i] = spawn(t, dir, 12, killAt, 0)
			}
			for i, c := range children {
				if err := c.Wait(); err != nil && (!half || i%2 != 0) {
					t.Errorf("process %d: %v", i, err)
				}
			}
			got := oracle(t, dir, time.Minute)
			if got.placed > capacity || (!half && got.placed != capacity) {
				t.Errorf("%d orders at the broker, want %d", got.placed, capacity)
			}
			t.Logf("%d orders at the broker", got.placed)
		})
	}
}
