package rail

// RunCancel judges a cancel. Cancels take risk out, so only their bucket of messages
// can refuse one, also while the account is halted: every other rail is off.
func RunCancel(f *Facts, out *[Count]Finding) {
	for i, id := range fixed {
		if id == MaxMessagesPerMinute {
			out[i] = maxMessagesPerMinute(f)
		} else {
			out[i] = off(id)
		}
	}
}
