package profile_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/broker-rails/broker-rails/internal/profile"
)

var now = time.Date(2026, 3, 18, 15, 0, 0, 0, time.UTC)

func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// figure spells one part of a reading as the vectors do.
func figure(r *profile.Reading, key string) string {
	o := &r.Order
	switch key {
	case "symbol":
		return o.Symbol
	case "asset_class":
		return o.AssetClass
	case "side":
		return o.Side
	case "qty":
		return o.Quantity.String()
	case "notional":
		return o.Notional.String()
	case "notional_ccy":
		return o.NotionalCurrency
	case "order_type":
		return o.Type
	case "tif":
		return o.Force
	case "limit_price":
		return o.LimitPrice.String()
	case "order_class":
		return o.OrderClass
	case "children":
		return fmt.Sprint(len(o.Children))
	case "net_price":
		return o.NetPrice
	case "product":
		return o.Product
	case "session":
		return o.Session
	case "percent":
		return o.Percent.String()
	case "action":
		if o.Reduce {
			return "reduce"
		}
		return "open"
	case "legs":
		legs := []map[string]string{}
		for _, l := range o.Legs {
			legs = append(legs, map[string]string{"qty": l.Quantity.String()})
		}
		return asText(legs)
	}
	return "no such figure: " + key
}
