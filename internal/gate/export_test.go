package gate

import "time"

// Age makes a permit older, for tests of its expiry.
func Age(p *Permit, by time.Duration) { p.minted = p.minted.Add(-by) }
