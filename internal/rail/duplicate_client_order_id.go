package rail

import "github.com/broker-rails/broker-rails/internal/account"

func duplicateClientOrderIDRail() Rail {
	return Rail{ID: DuplicateClientOrderID, Family: familySession, Exempt: ExemptNone, Check: duplicateClientOrderID}
}

// duplicateClientOrderID denies an order under a client order id that an allowed
// decision already bears.
//
// An id names one order for ever: an agent that retries must not send a second one,
// and one that reuses an id must not be taken for retrying. Another order under the id
// is denied. The same order never comes here from the gate, which returns the first
// outcome and sends nothing; should it come, it is denied too. Ids of denied orders are
// free. An order without an id passes. Reducing orders are judged like any other. No
// key switches it off.
//
// Source: SEC rule 15c3-5(c)(1)(ii) (duplicative orders); FIX tag 11.
func duplicateClientOrderID(f *Facts) Finding {
	if missing := f.absent(); missing != "" {
		return fault(DuplicateClientOrderID, missing)
	}
	if f.Intent.ClientOrderID == "" {
		return pass(DuplicateClientOrderID)
	}
	first, digest, known := f.State.ClientID(f.Intent.ClientOrderID)
	if !known {
		return pass(DuplicateClientOrderID)
	}
	if digest == account.IntentDigest(f.Intent) {
		return deny(DuplicateClientOrderID, "the same order", "one order an id", "",
			"This order was already taken as "+first+"; ask for its state, do not send it again.", RetryNo)
	}
	return deny(DuplicateClientOrderID, "another order", "one order an id", "an unused client_order_id",
		"The client_order_id already names order "+first+", which differs; an unused one passes.", RetryChanged)
}
