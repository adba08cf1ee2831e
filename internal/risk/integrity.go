package risk

import (
	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
)

// refusal is an integrity refusal: its code and our sentence. The zero value is none.
type refusal struct{ code, text string }

func (r refusal) found() bool { return r.code != "" }

// checkInputs refuses what cannot be judged at all, before anything is worked out.
func checkInputs(s *account.State, doc *limits.Document, req *rail.Request, cal market.Calendar) refusal {
	switch {
	case s == nil || !s.Started || s.Account == "":
		return refusal{AccountUnavailable, "The account's state is not available."}
	case doc == nil || doc.Version == 0:
		return refusal{LimitsInvalid, "No limits document is in force."}
	case doc.Account != s.Account:
		return refusal{LimitsInvalid, "The limits in force are those of another account."}
	case doc.Currency == "" || doc.Currency != s.Currency:
		return refusal{LimitsInvalid, "The limits in force are in another currency than the account."}
	case doc.Calendar == "" || doc.Calendar != cal.MIC():
		return refusal{LimitsInvalid, "The limits in force name another calendar."}
	case req == nil:
		return refusal{MalformedCall, "There is no order to judge."}
	case req.Now.IsZero() || req.Now.Before(s.At):
		return refusal{InternalFault, "The time lies before the newest entry of the journal."}
	case req.Fees.IsNegative():
		return refusal{InternalFault, "The fees are negative."}
	}
	return checkIntent(s, &req.Intent)
}

func checkIntent(s *account.State, in *order.Intent) refusal {
	switch in.Action {
	case order.ActionNew, order.ActionReplace, order.ActionCancel:
	default:
		return refusal{MalformedCall, "The action is not new, replace or cancel."}
	}
	switch {
	case in.Account != s.Account:
		return refusal{ConflictingFields, "account is not the account that these limits and this journal are of."}
	case len(in.Symbol) > order.SymbolBytesMax:
		return refusal{MalformedCall, "The symbol is too long."}
	case len(in.ClientOrderID) > order.ClientOrderIDBytesMax:
		return refusal{MalformedCall, "The client order id is too long."}
	case in.Action == order.ActionNew && in.Symbol == "":
		return refusal{MalformedCall, "The symbol is missing."}
	case in.Action == order.ActionNew && in.Target != "":
		return refusal{ConflictingFields, "order_id does not go with a new order: it names the order to replace or cancel."}
	case in.Action != order.ActionNew && in.Target == "":
		return refusal{ConflictingFields, "order_id is missing: a " + in.Action.String() + " names its order."}
	}
	return refusal{}
}

// checkTarget refuses a replace or cancel of an order that is not open, and a replace
// that would make it another order.
func checkTarget(in *order.Intent, target *account.Order) refusal {
	switch {
	case target == nil:
		return refusal{ConflictingFields, "order_id names no order that is open in this account, so there is nothing to " + in.Action.String() + "."}
	case in.Symbol != "" && !rail.FoldsTo(in.Symbol, target.Symbol):
		return refusal{ConflictingFields, "symbol differs from that of the order named: a " + in.Action.String() + " cannot change it."}
	case in.Action == order.ActionCancel:
		return refusal{}
	case in.Side != order.SideNone && in.Side != target.Side:
		return refusal{ConflictingFields, "side differs from that of the order named: a replace cannot change it."}
	case in.Type != order.TypeNone && in.Type != target.Type:
		return refusal{ConflictingFields, "order_type differs from that of the order named: a replace cannot change it."}
	}
	return refusal{}
}

// checkTerms refuses quantities and prices out of range, prices that the type does not
// carry, and a total below what is filled. in is the resulting order; target is nil but
// for a replace.
func checkTerms(in *order.Intent, target *account.Order) refusal {
	switch {
	case in.Side != order.Buy && in.Side != order.Sell:
		return refusal{MalformedCall, "The side is neither buy nor sell."}
	case in.Type < order.Limit || in.Type > order.StopLimit:
		return refusal{MalformedCall, "The order type is not known."}
	case !in.Quantity.IsPositive():
		return refusal{InvalidNumber, "The quantity must be above 0."}
	case in.LimitPrice.IsNegative() || in.Type.HasLimit() && in.LimitPrice.IsZero():
		return refusal{InvalidNumber, "The limit price must be above 0."}
	case in.StopPrice.IsNegative() || in.Type.HasStop() && in.StopPrice.IsZero():
		return refusal{InvalidNumber, "The stop price must be above 0."}
	case !in.Type.HasLimit() && !in.LimitPrice.IsZero():
		return refusal{ConflictingFields, "limit_price does not go with order_type " + in.Type.String() + "."}
	case !in.Type.HasStop() && !in.StopPrice.IsZero():
		return refusal{ConflictingFields, "stop_price does not go with order_type " + in.Type.String() + "."}
	case target != nil && in.Quantity.Cmp(target.Filled) < 0:
		return refusal{ConflictingFields, "quantity " + in.Quantity.String() + " is below the " + target.Filled.String() + " that are filled already; a replace names the new total."}
	case in.TimeInForce != order.GTD && !in.ExpireAt.IsZero():
		return refusal{ConflictingFields, "An expiry goes with time_in_force gtd only."}
	}
	return refusal{}
}
