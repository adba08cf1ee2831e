package adversary

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Bounds of the attacker that makes attacks up.
const (
	AttemptsPlain = 300     // what a person waits for: some seconds
	AttemptsMax   = 1 << 24 // a night of it
	ForMax        = 24 * time.Hour
	// shrinkMax bounds how often what was found is played again to make it shorter.
	shrinkMax = 600
)

// Hunt is a search for attacks that nobody wrote.
type Hunt struct {
	Options  Options
	Seed     uint64
	Attempts int           // at most
	For      time.Duration // 0: until the attempts are made
	// Progress is called after each attempt; nil is fine.
	Progress func(done, total int)
}

// Found is what a hunt came to.
type Found struct {
	Seed     uint64
	Attempts int // made
	Calls    int // tool calls made up, each burst as many as it holds
	Passed   int // that the gate allowed
	Refused  map[string]int
	// What was found, nil if nothing: the attempt, the check of the broker's record that it
	// failed, its steps when it was found, and the shortest case that still fails the check.
	Attempt  int
	Check    string
	Problems []string
	Before   int
	Case     *Case
	Replays  int // made to shorten it
}

// Run makes attacks up until one gets something past the limits at the broker. An error
// says that ctx ended.
func (h *Hunt) Run(ctx context.Context) (*Found, error) {
	f := &Found{Seed: h.Seed, Refused: map[string]int{}}
	began := time.Now()
	for n := 1; n <= h.Attempts; n++ {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		if h.For > 0 && time.Since(began) >= h.For {
			break
		}
		c, err := makeUp(h.Seed, n)
		if err != nil {
			return f, err
		}
		f.Attempts = n
		p := h.try(ctx, c)
		f.count(c, p)
		if h.Progress != nil {
			h.Progress(n, h.Attempts)
		}
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		if p.r.OK() {
			continue
		}
		f.Attempt, f.Before, f.Check = n, len(c.attack), checkOf(p.r.Problems[0])
		f.Case, f.Problems = h.shrink(ctx, c, f)
		f.Case.Name = fmt.Sprintf("made up by seed %d, attempt %d: %s", h.Seed, n, f.Check)
		f.Case.Why = title(f.Problems[0])
		return f, nil
	}
	return f, nil
}

func (f *Found) count(c *Case, p *player) {
	for i := range c.attack {
		if c.attack[i].calls() {
			f.Calls += c.attack[i].repeat
		}
	}
	f.Passed += p.passed
	for id := range p.got {
		f.Refused[id]++
	}
}

// try plays what was made up.
func (h *Hunt) try(ctx context.Context, c *Case) *player {
	p := &player{r: &Result{}, got: map[string]bool{}}
	if err := p.attack(ctx, c, h.Options); err != nil {
		p.violation("unplayable: %v", err)
	}
	return p
}

// checkOf is the check that a problem names: "attack: position_quantity: …".
func checkOf(problem string) string {
	for _, part := range strings.SplitN(problem, ": ", 3) {
		if part != "attack" {
			return part
		}
	}
	return problem
}

// terrain is what an attempt happens in: limits that make some rail the first to bind,
// so that no other covers for it.
type terrain struct {
	limits string
	cash   string
}

func terrains() []terrain {
	return []terrain{
		{},
		{limits: `{position: {max_position_qty: 50}, session: {max_orders_per_minute: 60}}`},
		{limits: `{session: {max_orders_per_minute: 3, max_orders_per_day: 8}}`},
		{limits: `{session: {max_notional_per_minute: "4000.00", max_orders_per_minute: 60}}`},
		{limits: `{session: {max_notional_per_day: "9000.00", max_orders_per_minute: 60}}`},
		{limits: `{position: {max_gross_exposure: "6000.00", max_open_orders: 2}}`},
		{limits: `{position: {max_position_notional: "4000.00"}, size: {max_order_qty: 15}}`},
		{limits: `{session: {max_daily_loss: "150.00"}, collar: {limit_price_collar: 500, exit_price_collar: 900}}`},
		{limits: `{collar: {passive_price_collar: 100}, size: {min_order_notional: "500.00", max_order_notional: "3000.00"}}`},
		{limits: `{session: {trading_window: {from: "09:35", to: "11:30"}}, instrument: {restricted_symbols: [MSFT], times_in_force: [day]}}`},
		{cash: "3000.00"},
		{limits: `{session: {max_messages_per_minute: 1000, denial_storm: "off", max_orders_per_minute: 60}, position: {max_in_doubt: 3}}`},
	}
}

func (t *terrain) lay(c *Case) (err error) {
	c.begin = plainBegin()
	if t.cash != "" {
		c.begin.cash, err = parseCash(t.cash)
	}
	if err == nil && t.limits != "" {
		c.limits, err = strict.Read("terrain", []byte(t.limits))
	}
	return err
}

// Steps is how many steps the attack has.
func (c *Case) Steps() int { return len(c.attack) }
