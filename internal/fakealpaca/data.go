package fakealpaca

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

func (b *Broker) account(*http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return answer{http.StatusOK, b.accountObject()}
}

func (b *Broker) configuration(*http.Request) answer {
	return answer{http.StatusOK, object{
		"dtbp_check": "entry", "trade_confirm_email": "all", "suspend_trade": false, "no_shorting": false, "fractional_trading": false,
		"max_margin_multiplier": "1", "pdt_check": "entry", "ptp_no_exception_entry": false,
	}}
}

func (b *Broker) activities(r *http.Request) answer {
	after, ok := instant(r.URL.Query().Get("after"))
	if !ok {
		return invalid("invalid time")
	}
	kinds := r.PathValue("kind")
	if kinds == "" {
		kinds = r.URL.Query().Get("activity_types")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []object{}
	for _, a := range b.book.activity {
		if (kinds == "" || slices.Contains(strings.Split(kinds, ","), a.kind)) && a.at.After(after) {
			out = append(out, b.activityObject(a))
		}
	}
	if r.URL.Query().Get("direction") != "asc" {
		slices.Reverse(out)
	}
	return answer{http.StatusOK, out}
}

const local = "2006-01-02T15:04:05.999999999-07:00"

// zoned writes an instant with New York's offset, as the service's clock does.
func zoned(t time.Time) string {
	return t.In(time.FixedZone("", int(market.NewYork(t).Offset/time.Second))).Format(local)
}

func (b *Broker) clock(*http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	nextOpen, _ := b.calendar.NextOpen(now)
	s := market.Session(now, b.calendar)
	nextClose, _ := b.calendar.RegularClose(s.TradeDate)
	if !nextClose.After(now) {
		nextClose, _ = b.calendar.RegularClose(market.NewYork(nextOpen).Date)
	}
	return answer{http.StatusOK, object{"timestamp": zoned(now), "is_open": b.open(), "next_open": zoned(nextOpen), "next_close": zoned(nextClose)}}
}

// days is the calendar, with a day that ends early where the test wants one.
func (b *Broker) days(r *http.Request) answer {
	from, err := market.ParseTradeDate(orElse(r.URL.Query().Get("start"), "2026-01-01"))
	to, err2 := market.ParseTradeDate(orElse(r.URL.Query().Get("end"), "2027-12-31"))
	if err != nil || err2 != nil {
		return invalid("invalid date")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []object{}
	d, ok := from, true
	if !b.calendar.IsTradingDay(d) {
		d, ok = b.calendar.NextTradeDate(d)
	}
	for ; ok && d <= to; d, ok = b.calendar.NextTradeDate(d) {
		closes := "16:00"
		switch {
		case d == b.early:
			closes = "12:00"
		case b.calendar.IsEarlyClose(d):
			closes = "13:00"
		}
		out = append(out, object{"date": d.String(), "open": "09:30", "close": closes, "session_open": "0400", "session_close": "2000", "settlement_date": d.String()})
	}
	return answer{http.StatusOK, out}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func assetObject(symbol string) object {
	return object{
		"id": assetID(symbol), "class": "us_equity", "exchange": "NASDAQ", "symbol": symbol, "name": symbol, "status": "active", "tradable": true,
		"marginable": true, "shortable": true, "easy_to_borrow": true, "fractionable": false, "attributes": []string{},
	}
}

func (b *Broker) assets(*http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	symbols := []string{}
	for s := range b.book.quotes {
		symbols = append(symbols, s)
	}
	slices.Sort(symbols)
	out := []object{}
	for _, s := range symbols {
		out = append(out, assetObject(s))
	}
	return answer{http.StatusOK, out}
}

func (b *Broker) asset(r *http.Request) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.book.quotes {
		if s == r.PathValue("symbol") || assetID(s) == r.PathValue("symbol") {
			return answer{http.StatusOK, assetObject(s)}
		}
	}
	return notFound("asset")
}

// each answers for the symbols that a request names.
func (b *Broker) each(r *http.Request, member string, f func(Quote) object) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := object{}
	for s := range strings.SplitSeq(r.URL.Query().Get("symbols"), ",") {
		if q, known := b.book.quotes[s]; known {
			out[s] = f(q)
		}
	}
	return answer{http.StatusOK, object{member: out}}
}

func (b *Broker) one(r *http.Request, member string, f func(Quote) object) answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	symbol := r.PathValue("symbol")
	q, known := b.book.quotes[symbol]
	if !known {
		return notFound("symbol")
	}
	return answer{http.StatusOK, object{"symbol": symbol, member: f(q)}}
}

func (b *Broker) latestQuotes(r *http.Request) answer {
	return b.each(r, "quotes", func(q Quote) object { return quoteObject(q, b.now()) })
}

func (b *Broker) latestQuote(r *http.Request) answer {
	return b.one(r, "quote", func(q Quote) object { return quoteObject(q, b.now()) })
}

func (b *Broker) latestTrades(r *http.Request) answer {
	return b.each(r, "trades", func(q Quote) object { return tradeObject(q, q.Last, b.now()) })
}

func (b *Broker) latestTrade(r *http.Request) answer {
	return b.one(r, "trade", func(q Quote) object { return tradeObject(q, q.Last, b.now()) })
}

func (b *Broker) snapshots(r *http.Request) answer {
	out := b.each(r, "snapshots", func(q Quote) object {
		bar := object{"t": stamp(b.now()), "o": number(q.Last.String()), "h": number(q.Last.String()), "l": number(q.Last.String()), "c": number(q.Last.String()), "v": 100, "n": 1, "vw": number(q.Last.String())}
		return object{"latestQuote": quoteObject(q, b.now()), "latestTrade": tradeObject(q, q.Last, b.now()), "minuteBar": bar, "dailyBar": bar, "prevDailyBar": bar}
	})
	return answer{http.StatusOK, out.body.(object)["snapshots"]}
}
