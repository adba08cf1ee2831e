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
		return refusal{ConflictingFields, "The order is for another account."}
	case len(in.Symbol) > order.SymbolBytesMax:
		return refusal{MalformedCall, "The symbol is too long."}
	case len(in.ClientOrderID) > order.ClientOrderIDBytesMax:
		return refusal{MalformedCall, "The client order id is too long."}
	case in.Action == order.ActionNew && in.Symbol == "":
		return refusal{MalformedCall, "The symbol is missing."}
	case in.Action == order.ActionNew && in.Target != "":
		return refusal{ConflictingFields, "A new order cannot name another order."}
	case in.Action != order.ActionNew && in.Target == "":
		return refusal{ConflictingFields, "The order to change is not named."}
	}
	return refusal{}
}

// checkTarget refuses a replace or cancel of an order that is not open, and a replace
// that would make it another order.
func checkTarget(in *order.Intent, target *account.Order) refusal {
	switch {
	case target == nil:
		return refusal{ConflictingFields, "The order to change is not open in this account."}
	case in.Symbol != "" && !rail.FoldsTo(in.Symbol, target.Symbol):
		return refusal{ConflictingFields, "A replace or cancel cannot change the symbol."}
	case in.Action == order.ActionCancel:
		return refusal{}
	case in.Side != order.SideNone && in.Side != target.Side:
		return refusal{ConflictingFields, "A replace cannot change the side."}
	case in.Type != order.TypeNone && in.Type != target.Type:
		return refusal{ConflictingFields, "A replace cannot change the order type."}
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
		return refusal{ConflictingFields, "An order of this type has no limit price."}
	case !in.Type.HasStop() && !in.StopPrice.IsZero():
		return refusal{ConflictingFields, "An order of this type has no stop price."}
	case target != nil && in.Quantity.Cmp(target.Filled) < 0:
		return refusal{ConflictingFields, "The quantity is below what is filled."}
	case in.TimeInForce != order.GTD && !in.ExpireAt.IsZero():
		return refusal{ConflictingFields, "Only a gtd order has an expiry."}
	}
	return refusal{}
}
