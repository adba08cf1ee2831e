package adversary

import "time"

// Bounds of the attacker that makes attacks up.
const (
	AttemptsPlain = 300     // what a person waits for: some seconds
	AttemptsMax   = 1 << 24 // a night of it
	ForMax        = 24 * time.Hour
)
