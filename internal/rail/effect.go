package rail

import "github.com/broker-rails/broker-rails/internal/account"

// Effect is what a rail changes beside refusing.
type Effect struct {
	Rail ID
	Kind EffectKind
}

// Effects returns what the rails change once the verdict stands, in the order of All;
// nil for nothing. An effect that already holds is left out. The calls stand here one
// by one for the reason given at Run.
func Effects(f *Facts, denied bool) []Effect {
	var out []Effect
	day := &f.State.Day
	if !(day.LossLatched && day.Date == f.Session.TradeDate) && maxDailyLossTrips(f, denied) {
		out = append(out, Effect{MaxDailyLoss, EffectLatch})
	}
	if f.State.Mode != account.Active {
		return out
	}
	if maxDrawdownTrips(f, denied) {
		out = append(out, Effect{MaxDrawdown, EffectReduceOnly})
	}
	if denialStormTrips(f, denied) {
		out = append(out, Effect{DenialStorm, EffectReduceOnly})
	}
	if repeatedExecutionTrips(f, denied) {
		out = append(out, Effect{RepeatedExecution, EffectReduceOnly})
	}
	return out
}
