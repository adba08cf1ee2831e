package account

import "time"

// What the windows keep at the most. The figures repeat the bounds of the limits
// document, which this package does not import: no limit can look further back. Of what
// is counted one more than the largest limit is kept, since one over is over any limit.
const (
	MinuteWindow       = time.Minute
	DuplicateWindowMax = time.Hour
	BehaviourWindowMax = 24 * time.Hour
	MessagesMax        = 10_000 // a minute, in each bucket
	OrdersPerMinuteMax = 10_000
	DenialsMax         = 10_000
	CyclesMax          = 10_000
)

// Bounds of what is remembered for the sake of late events.
const (
	// TwinsMax is the orders of the highest minute limit over the longest window.
	TwinsMax = OrdersPerMinuteMax * int(DuplicateWindowMax/time.Minute)
	// EndedMax is how many ended orders are remembered for a late fill. A fill for an
	// older one is refused here and has to be journaled as external.
	EndedMax = 50_000
	// IDsKeptDays is how long client order ids, execution ids and event ids are known.
	IDsKeptDays = 400
)
