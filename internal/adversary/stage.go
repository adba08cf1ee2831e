package adversary

import (
	"errors"
	"slices"
	"strings"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/quotes"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// stage is the time and the market that a case happens in.
type stage interface {
	clock() gate.Clock
	quotes() gate.Quotes
	// begin sets the market as the case finds it.
	begin(d *desk, c *Case) error
	happen(e event) error
}

func (d *desk) newStage(c *Case) (stage, error) {
	if d.options.Server == nil || !d.options.Server.Serve {
		return &script{scene: newScene(c.begin.at)}, nil
	}
	system := clock.NewSystem()
	wall := system.Read().Wall
	practice, err := clock.NewPractice(system, market.XNYS(), clock.Origin{Wall: wall, Market: clock.PracticeStart()})
	if err != nil {
		return nil, err
	}
	return &running{practice, quotes.NewPaper(startOf(c, wall, wall).Seed, market.XNYS())}, nil
}

// script is a stage that does what the case says.
type script struct{ *scene }

func (s *script) clock() gate.Clock   { return s.scene.clock }
func (s *script) quotes() gate.Quotes { return s.scene.quotes }

func (s *script) begin(d *desk, c *Case) (err error) {
	if d.options.Server != nil {
		if s.log, err = d.sceneLog(); err != nil {
			return err
		}
	}
	for _, in := range c.begin.instruments {
		err = errors.Join(err, s.happen(event{Kind: kindList, Instrument: in}))
	}
	for _, symbol := range []string{"AAPL", "MSFT"} {
		q := plainQuote(symbol)
		err = errors.Join(err, s.happen(eventOf(q)))
	}
	return err
}

// running is the practice market, whose time nobody sets and whose prices move.
type running struct {
	practice *clock.Practice
	paper    *quotes.Paper
}

var errRuns = errors.New("the practice market does what it does")

func (r *running) clock() gate.Clock        { return r.practice }
func (r *running) quotes() gate.Quotes      { return r.paper }
func (r *running) begin(*desk, *Case) error { return nil }
func (r *running) happen(event) error       { return errRuns }

// nearMost is how far a case's price may be from the plain ask and still mean the same in a
// market that runs: well inside the collar of the shipped document.
func nearMost() money.Price { return money.MustPrice("0.30") }

// Runs reports whether a case means the same in a market that runs, so that it can be
// played on rails serve as it is: nothing in it sets time or prices or hangs on an exact
// price.
func (c *Case) Runs() bool {
	if !c.begin.at.Equal(beginsAt()) || c.begin.instruments != nil || c.begin.cash != money.NotionalFromInt(100_000) || exactIn(c.limits) {
		return false
	}
	halts := false
	for _, steps := range [][]step{c.before, c.attack, c.twin} {
		for i := range steps {
			s := &steps[i]
			halts = halts || s.kind == kindMode
			switch s.kind {
			case kindOrder, kindCall, kindRaw, kindRead, kindMode, kindBroker:
			default:
				return false
			}
			// A server does not start while the account is halted, and these start one.
			if s.every > 0 || halts && (s.atOnce || s.kind == kindRaw) || !nearPrice(s.arguments) {
				return false
			}
		}
	}
	return true
}

// exactIn reports whether limits hold a figure that hangs on the price of a share.
func exactIn(t *strict.Tree) bool {
	if t == nil {
		return false
	}
	for i, k := range t.Keys {
		for _, word := range []string{"notional", "exposure", "collar", "spread", "price", "loss", "drawdown", "concentration", "equity"} {
			if strings.Contains(k.Text, word) && t.Values[i].Text != "off" {
				return true
			}
		}
		if exactIn(t.Values[i]) {
			return true
		}
	}
	return slices.ContainsFunc(t.Values, exactIn)
}

// nearPrice reports whether a call has no price, none that can be read, or one near the
// plain one.
func nearPrice(t *strict.Tree) bool {
	if t == nil {
		return true
	}
	for i, k := range t.Keys {
		if k.Text == "order_type" && t.Values[i].Text != "limit" {
			return false
		}
		if k.Text != "limit_price" && k.Text != "stop_price" {
			continue
		}
		if p, err := money.ParsePrice(t.Values[i].Text); err == nil {
			by, ok := p.Sub(money.MustPrice(plainPrice))
			if ok && by.IsNegative() {
				by = by.Neg()
			}
			return ok && by.Cmp(nearMost()) <= 0
		}
	}
	return true
}
