package bound

import (
	"fmt"
	"math/big"
	"time"

	"github.com/broker-rails/broker-rails/internal/market"
)

// rates adds the limits on counts of orders.
func (s *system) rates() {
	day, one := &s.doc.Session, whole(1)
	minute := func(most int, key string) {
		total := whole(most * s.horizon.minutes)
		words := fmt.Sprintf("%d × %d windows of 60 s", most, s.horizon.minutes)
		s.add(total, "opening orders ≤ "+words, []string{key}, s.sum(map[int]*big.Rat{opens: one}))
		s.add(total, "reducing orders ≤ "+words+", a bucket of their own", []string{key},
			s.sum(map[int]*big.Rat{earlyExits: one, lateExits: one}))
	}
	if f := day.MaxOrdersPerMinute; f.On {
		minute(f.Value, "session.max_orders_per_minute")
	}
	if f := day.MaxMessagesPerMinute; f.On {
		minute(f.Value, "session.max_messages_per_minute")
	}
	if f := day.MaxOrdersPerDay; f.On {
		s.add(whole(f.Value), fmt.Sprintf("opening orders + early reducing orders ≤ %d", f.Value), []string{"session.max_orders_per_day"},
			s.sum(map[int]*big.Rat{opens: one, earlyExits: one}))
	}
	if f := s.doc.Position.MaxOpenOrders; f.On && f.Value == 0 {
		s.add(new(big.Rat), "opening orders ≤ 0", []string{"position.max_open_orders"}, s.sum(map[int]*big.Rat{opens: one}))
	}
}

// notional adds the limits on what is ordered in a minute and a day.
func (s *system) notional() {
	day := &s.doc.Session
	worth := func(early bool) map[int]*big.Rat {
		out := map[int]*big.Rat{}
		for i := range s.legs {
			l := &s.legs[i]
			out[l.at+opened], out[l.at+openPremium] = l.in(), whole(1)
			if l.short {
				delete(out, l.at+openPremium) // a sell counts at the bid, however low its limit
			}
			if o := s.other(l); o != nil {
				out[o.at+flipped] = l.in()
			}
			if early {
				out[l.at+earlyClosed] = l.out()
				if l.short {
					out[l.at+earlyPremium] = whole(1)
				}
			}
		}
		return out
	}
	if f := day.MaxNotionalPerMinute; f.On {
		most, single := times(rat(f.Value), whole(s.horizon.minutes)), s.horizon.minutes == 1
		text := fmt.Sprintf("worth of openings ≤ %s × %d windows of 60 s", f.Value, s.horizon.minutes)
		if single {
			text = fmt.Sprintf("worth of openings + early exits ≤ %s", f.Value)
		}
		s.add(most, text, []string{"session.max_notional_per_minute"}, worth(single))
	}
	if f := day.MaxNotionalPerDay; f.On {
		s.add(rat(f.Value), fmt.Sprintf("worth of openings + early exits ≤ %s", f.Value), []string{"session.max_notional_per_day"}, worth(true))
	}
}

// exposure adds the limits over all positions, as they stand after the last opening.
func (s *system) exposure() {
	held := func(price func(*leg) *big.Rat) map[int]*big.Rat {
		out := map[int]*big.Rat{}
		for i := range s.legs {
			l := &s.legs[i]
			p := price(l)
			out[l.at+opened], out[l.at+earlyClosed], out[l.at+flipped] = p, neg(p), neg(p)
		}
		return out
	}
	ask := func(l *leg) *big.Rat { return l.ask }
	// A symbol may tighten no figure of the whole account, so the document's own holds.
	if f := s.doc.Position.MaxGrossExposure; f.On {
		s.add(rat(f.Value), fmt.Sprintf("positions at ask ≤ %s", f.Value), []string{"position.max_gross_exposure"}, held(ask))
	}
	if f := s.doc.Position.MaxNetExposure; f.On && !s.doc.Instrument.AllowShort {
		s.add(rat(f.Value), fmt.Sprintf("positions at ask ≤ %s, nothing being short", f.Value), []string{"position.max_net_exposure"}, held(ask))
	}
}

// buyingPower adds that cash does not go below what is short.
func (s *system) buyingPower() {
	if !s.doc.Position.RequireBuyingPower {
		return
	}
	coef, one := map[int]*big.Rat{}, whole(1)
	for i := range s.legs {
		l := &s.legs[i]
		if l.short {
			coef[l.at+opened] = l.spread() // proceeds at bid, held against at ask
			coef[l.at+flipped] = new(big.Rat)
		} else {
			coef[l.at+opened], coef[l.at+earlyClosed], coef[l.at+flipped] = l.ask, neg(l.bid), neg(l.bid)
		}
		coef[l.at+openPremium], coef[l.at+earlyPremium] = one, one
	}
	s.add(s.cash, fmt.Sprintf("paid for openings − proceeds of early exits ≤ %s, the cash", money2(s.cash)), []string{"position.require_buying_power"}, coef)
}

// loss adds that nothing is opened once the day has cost its limit: what the openings but
// the last, and the early exits, have cost is less.
func (s *system) loss() {
	day := &s.doc.Session
	limit, key := (*big.Rat)(nil), ""
	if f := day.MaxDailyLoss; f.On {
		limit, key = rat(f.Value), "session.max_daily_loss"
	}
	if f := day.MaxDrawdown; f.On && (limit == nil || rat(f.Value).Cmp(limit) < 0) {
		limit, key = rat(f.Value), "session.max_drawdown"
	}
	last, ok := s.lastLoss()
	if limit == nil || !ok {
		return
	}
	coef := s.cost(false)
	s.add(plus(limit, last), fmt.Sprintf("spread and premiums before the last opening's end ≤ %s + %s, what one more order can cost",
		money2(limit), up(last, 2)), []string{key}, coef)
}

// cost is what a choice takes off the equity, longs at bid and shorts at ask.
func (s *system) cost(late bool) map[int]*big.Rat {
	coef, one := map[int]*big.Rat{}, whole(1)
	for i := range s.legs {
		l := &s.legs[i]
		coef[l.at+opened], coef[l.at+openPremium], coef[l.at+earlyPremium] = l.spread(), one, one
		if late {
			coef[l.at+latePremium] = one
		}
	}
	return coef
}

// lastLoss is the most that the fill of one opening order can cost.
func (s *system) lastLoss() (*big.Rat, bool) {
	most := new(big.Rat)
	for i := range s.legs {
		l := &s.legs[i]
		c, sized := least(new(big.Rat), s.orderCaps(l))
		band, _, ok := s.band(l, false)
		if l.short && (!ok || band.Cmp(l.bid) > 0) {
			band, ok = l.bid, true
		}
		var x *big.Rat
		switch {
		case sized && ok:
			x = times(c.most, plus(l.spread(), band))
		case sized && l.f.Size.MaxOrderNotional.On:
			x = plus(rat(l.f.Size.MaxOrderNotional.Value), times(c.most, l.spread()))
		default:
			return nil, false
		}
		if x.Cmp(most) > 0 {
			most = x
		}
	}
	return most, true
}

// cycles adds the limit on positions that are opened and closed again.
func (s *system) cycles() {
	f := s.doc.Session.RepeatedExecution
	if !f.On || s.flips() {
		for i := range s.legs {
			s.add(new(big.Rat), s.legs[i].name()+": cycles are not counted", nil, map[int]*big.Rat{s.legs[i].at + cycles: whole(1)})
		}
		return
	}
	windows := int((s.horizon.session + f.Value.Window - 1) / f.Value.Window)
	total := whole(f.Value.Cycles * max(1, windows))
	s.add(total, fmt.Sprintf("cycles ≤ %d × %d windows of %s", f.Value.Cycles, max(1, windows), f.Value.Window),
		[]string{"session.repeated_execution"}, s.sum(map[int]*big.Rat{cycles: whole(1)}))
	for i := range s.legs {
		l := &s.legs[i]
		caps := s.holdCaps(l)
		if g := s.doc.Position.MaxGrossExposure; g.On {
			caps = append(caps, capped{over(rat(g.Value), l.ask), "position.max_gross_exposure", g.Value.String() + " ÷ " + dec(l.ask)})
		}
		if s.doc.Position.RequireBuyingPower && !l.short {
			caps = append(caps, capped{over(s.cash, l.ask), "position.require_buying_power", money2(s.cash) + " ÷ " + dec(l.ask)})
		}
		if c, ok := least(s.unit(l), caps); ok {
			s.add(c.most, fmt.Sprintf("%s: units opened ≤ %s × (cycles + 1)", l.name(), dec(c.most)), by(l, c.key),
				map[int]*big.Rat{l.at + opened: whole(1), l.at + cycles: neg(c.most)})
		}
	}
}

// sessionOf is how long a trade date's trading lasts at the most, as the rails let orders
// pass. Without leave for extended hours nothing passes outside the regular session,
// whether the exchange has to be open or not. With it, and where the exchange may be
// closed, all hours count: those of a weekend or a holiday belong to the trade date that
// comes after them.
func sessionOf(c market.Calendar, extended, always bool) time.Duration {
	switch {
	case !extended:
		return 6*time.Hour + 30*time.Minute
	case !always:
		return 16 * time.Hour
	}
	longest := 24 * time.Hour
	from := c.ValidFrom()
	if !c.IsTradingDay(from) {
		from, _ = c.NextTradeDate(from)
	}
	for {
		next, ok := c.NextTradeDate(from)
		if !ok {
			return longest
		}
		longest = max(longest, market.FromNewYork(next.AddDays(1), 0).Sub(market.FromNewYork(from.AddDays(1), 0)))
		from = next
	}
}
