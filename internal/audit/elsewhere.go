package audit

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/record"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// elsewhere looks at a decision that cannot be judged again in full: by an older engine, or
// by a calendar that is not at hand. Were it passed over, two words in an entry would hide
// any verdict from an audit. An engine that there has never been is no excuse; and what no
// calendar has a part in is judged all the same: an order that one of these rails denies
// was not allowed under any.
func (v *verifier) elsewhere(c *chain, e *journal.Entry, body *journal.Decision) *Failure {
	fail := func(want, got string) *Failure {
		return &Failure{Account: e.Account, Seq: e.Seq, Question: Verdict, Want: want, Got: got}
	}
	if body.Engine != risk.Engine {
		if !older(body.Engine) {
			return fail("a decision of an engine up to "+risk.Engine+", the newest that this version knows", "of engine "+body.Engine)
		}
		return nil
	}
	req, err := record.Request(e, body)
	if err != nil {
		return foldFailure(e, err)
	}
	if req.ControlMode != v.control.Mode || body.Control != v.control.Seq {
		return fail(fmt.Sprintf("control chain at %d, mode %v", v.control.Seq, v.control.Mode),
			fmt.Sprintf("%d, mode %v", body.Control, req.ControlMode))
	}
	if body.Verdict != journal.VerdictAllowed {
		return nil
	}
	d := risk.Decide(c.state, c.doc, &req, v.options.Calendar)
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Status == rail.Deny && slices.Contains(timeless(), f.Rail) {
			return fail("verdict denied, by "+string(f.Rail)+" under any calendar", body.Verdict)
		}
	}
	return nil
}

// older reports whether an engine came before this one: they are numbered from 1.
func older(engine string) bool {
	n, err := strconv.Atoi(engine)
	now, known := strconv.Atoi(risk.Engine)
	return err == nil && known == nil && n >= 1 && n < now && strconv.Itoa(n) == engine
}

// timeless are the rails whose denial of an order does not depend on what day it is, which
// session is open, or how old a mark may be in trade dates.
func timeless() []rail.ID {
	return []rail.ID{
		rail.KillSwitch, rail.ClockSuspect, rail.InstrumentUnknown, rail.InstrumentHalted, rail.SymbolNotAllowed, rail.SymbolRestricted,
		rail.AssetClassNotAllowed, rail.SideNotAllowed, rail.OrderTypeNotAllowed, rail.TimeInForceNotAllowed, rail.FractionalNotAllowed,
		rail.ShortNotAllowed, rail.MaxOrderQty, rail.QuantityStep, rail.MaxPositionQty, rail.PositionFlip, rail.MaxOpenOrders,
		rail.SelfCross, rail.OrderInDoubt, rail.AccountUnreconciled, rail.DuplicateClientOrderID, rail.DuplicateOrder,
		rail.MaxOrdersPerMinute, rail.MaxMessagesPerMinute, rail.RepeatedExecution, rail.DenialStorm,
	}
}
