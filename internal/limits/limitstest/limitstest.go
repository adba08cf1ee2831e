// Package limitstest holds the limits document that the tests of rails and of the decision
// change, key by key. Nothing that serves reaches it.
package limitstest

import (
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// On is a limit that is set.
func On[T any](v T) limits.Limit[T] { return limits.Limit[T]{Set: true, On: true, Value: v} }

// Full returns a document with every rail on, each far enough from a buy of 10 AAPL at 200
// in an account of 100,000.
func Full() *limits.Document {
	return &limits.Document{
		Version: 1, Account: "paper", Mode: limits.Paper, Currency: "USD", Calendar: "XNYS",
		Instrument: limits.Instrument{
			Symbols:      []string{"AAPL", "MSFT"},
			AssetClasses: []order.AssetClass{order.USEquity},
			Sides:        []order.Side{order.Buy, order.Sell},
			OrderTypes:   []order.Type{order.Limit, order.Market, order.Stop, order.StopLimit},
			TimesInForce: []order.TimeInForce{order.Day, order.GTC, order.IOC, order.GTD},
		},
		Size: limits.Size{
			MaxOrderQuantity:    On(money.MustQuantity("100")),
			MaxOrderNotional:    On(money.MustNotional("25000")),
			MinOrderNotional:    On(money.MustNotional("1")),
			MaxOrderPctOfEquity: On(money.MustPercent("50")),
			QuantityStep:        On(money.MustQuantity("1")),
		},
		Position: limits.Position{
			MaxPositionQuantity: On(money.MustQuantity("500")),
			MaxPositionNotional: On(money.MustNotional("100000")),
			MaxGrossExposure:    On(money.MustNotional("250000")),
			MaxNetExposure:      On(money.MustNotional("250000")),
			MaxConcentration:    On(money.MustPercent("90")),
			RequireBuyingPower:  true,
			MaxOpenOrders:       On(20),
			MaxInDoubt:          On(1),
		},
		Collar: limits.Collar{
			LimitPriceCollar:    On(money.MustBasisPoints("150")),
			ExitPriceCollar:     On(money.MustBasisPoints("300")),
			PassivePriceCollar:  On(money.MustBasisPoints("2000")),
			MarketOrderSpread:   On(money.MustBasisPoints("50")),
			MarketOrderSlippage: On(money.MustBasisPoints("50")),
			MaxQuoteAge:         On(5 * time.Second),
			MaxSpread:           On(money.MustBasisPoints("200")),
			PriceStep:           On(limits.PriceStep{USEquity: true}),
			StopPriceSide:       On(true),
		},
		Session: limits.Session{
			RequireMarketOpen:    true,
			TradingWindow:        On(limits.TimeWindow{From: 9*time.Hour + 35*time.Minute, To: 15*time.Hour + 55*time.Minute}),
			MaxOrdersPerMinute:   On(10),
			MaxNotionalPerMinute: On(money.MustNotional("50000")),
			MaxMessagesPerMinute: On(60),
			MaxOrdersPerDay:      On(200),
			MaxNotionalPerDay:    On(money.MustNotional("500000")),
			MaxDailyLoss:         On(money.MustNotional("5000")),
			MaxDrawdown:          On(money.MustNotional("20000")),
			DuplicateWindow:      On(10 * time.Second),
			DenialStorm:          On(limits.DenialStorm{Denials: 100, Window: 10 * time.Minute}),
			RepeatedExecution:    On(limits.RepeatedExecution{Cycles: 50, Window: time.Hour}),
		},
	}
}
