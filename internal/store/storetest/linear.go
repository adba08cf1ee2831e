package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/broker-rails/broker-rails/internal/gate"
)

// headInput is one call on one account: a read of its head, or an append of one entry
// on the head that the caller expects.
type headInput struct {
	read   bool
	expect uint64
}

// headOutput is what came back: the seq that was read, or whether the append was taken.
type headOutput struct {
	seq   uint64
	taken bool
}

// headModel is an account's head as a register with compare-and-swap.
func headModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return uint64(0) },
		Step: func(state, input, output any) (bool, any) {
			seq, in, out := state.(uint64), input.(headInput), output.(headOutput)
			switch {
			case in.read:
				return out.seq == seq, seq
			case out.taken:
				return in.expect == seq, seq + 1
			}
			return in.expect != seq, seq
		},
	}
}

// linearizable lets many callers read and swap one head, and asks whether some order of
// the calls, each between its start and its end, explains every answer.
func linearizable(t *testing.T, s gate.Store) {
	const callers, each = 8, 40
	var mu sync.Mutex
	var history []porcupine.Operation
	begun := time.Now()
	note := func(caller int, in headInput, from time.Duration, out headOutput) {
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{
			ClientId: caller, Input: in, Call: int64(from), Output: out, Return: int64(time.Since(begun)),
		})
	}
	concurrently(t, callers, func(caller int) error {
		for range each {
			from := time.Since(begun)
			own, _, err := s.Heads(t.Context(), "a")
			if err != nil {
				return err
			}
			note(caller, headInput{read: true}, from, headOutput{seq: own.Seq})
			from = time.Since(begun)
			err = s.Append(t.Context(), Batch("a", own, 1, string(rune('a'+caller))))
			if err != nil && !errors.As(err, new(*gate.ConflictError)) {
				return err
			}
			note(caller, headInput{expect: own.Seq}, from, headOutput{taken: err == nil})
		}
		return nil
	})
	switch porcupine.CheckOperationsTimeout(headModel(), history, 20*time.Second) {
	case porcupine.Illegal:
		t.Error("no order of the calls explains the answers")
	case porcupine.Unknown:
		t.Log("not decided in 20 s")
	}
}
