package upstream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
)

// Caller is one session with the server.
type Caller interface {
	// Call calls a tool once and returns its reply, with the SHA-256 of the reply's bytes
	// in hex. ErrNotSent says that nothing left; after any other error the call may have
	// had its effect.
	Call(ctx context.Context, tool string, arguments []byte) (profile.Reply, string, error)
}

// Errors of asking.
var (
	// ErrNotSent says that a call did not leave.
	ErrNotSent     = errors.New("the call was not sent")
	errNoSession   = errors.New("no session with the broker's server is open")
	errNoFigures   = errors.New("the profile does not say how this is asked for")
	errStrangeFill = errors.New("a fill is of an order that the broker does not list")
	errOtherOne    = errors.New("the server now shows another account")
)

// Options of a broker.
type Options struct {
	Profile *profile.Profile
	// AccountID is the account that every reading must show; empty: any, for a first look.
	AccountID string
	Currency  string // ISO 4217, of prices and cash
	// Since: what was executed until then is in the journal's first entry. Broker's time.
	Since time.Time
	// Now is the market's time.
	Now func() time.Time
	// Mismatch is told once that the server shows another account; nil: nobody is.
	Mismatch func(shown string)
}

// Broker is one account behind an MCP server. It serves the gate as broker and as source
// of quotes. All methods may be called from many goroutines.
type Broker struct {
	o   Options
	run string // tells this process's cursors from others'

	mu       sync.Mutex // guards all below; not held while the server is asked
	sessions []Caller
	kept     map[string]profile.Reading // by our client order id, of orders that went out
	keptIDs  []string
	ids      map[string]string // the id as the server knows it, to ours
	missing  map[string]*missing
	events   []gate.Event
	told     map[string]bool // ids of events
	polled   time.Time
	stale    bool
	mistaken bool
	quotes   map[string]*quoted
	symbols  map[string]*resolved

	polling sync.Mutex // one poll at a time; taken before mu
}

type missing struct {
	since time.Time
	times int
}

// New returns a broker without a session: until one is attached nothing can be asked.
func New(o Options) *Broker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Broker{
		o: o, run: rand.Text()[:8], kept: map[string]profile.Reading{}, ids: map[string]string{}, missing: map[string]*missing{},
		told: map[string]bool{}, quotes: map[string]*quoted{}, symbols: map[string]*resolved{}, stale: true,
	}
}

// Attach adds a session; detach takes it out again.
func (b *Broker) Attach(c Caller) (detach func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = append(b.sessions, c)
	b.stale = true
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.sessions = slices.DeleteFunc(b.sessions, func(x Caller) bool { return x == c })
	}
}

// ask puts a question to the newest session.
func (b *Broker) ask(ctx context.Context, tool string, arguments []byte) (profile.Reply, error) {
	b.mu.Lock()
	var c Caller
	if n := len(b.sessions); n > 0 {
		c = b.sessions[n-1]
	}
	b.mu.Unlock()
	if c == nil {
		return profile.Reply{}, errNoSession
	}
	reply, _, err := c.Call(ctx, tool, arguments)
	return reply, err
}

// rows asks for figures, page by page until enough, which sees each page, says so.
func (b *Broker) rows(ctx context.Context, w profile.Figures, symbol string, enough func([]profile.Row) bool) (all []profile.Row, err error) {
	after := ""
	for range PagesMax {
		q, ok := b.o.Profile.Query(w, symbol, after)
		if !ok {
			return nil, fmt.Errorf("%s: %w", w, errNoFigures)
		}
		reply, err := b.ask(ctx, q.Tool, q.Arguments)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		page, next, err := q.Rows(reply)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w, err)
		}
		all = append(all, page...)
		done := enough != nil && enough(page)
		if done || next == "" || next == after {
			return all, nil
		}
		after = next
	}
	return nil, fmt.Errorf("%s: the list does not come to an end", w)
}

// Shown is the account as the server shows it.
type Shown struct {
	ID          string
	Environment string // paper or live; empty: the profile has no way to tell
	Status      string
}

// Show asks which account the server trades, before anything else is believed.
func Show(ctx context.Context, p *profile.Profile, c Caller) (Shown, error) {
	q, ok := p.Query(profile.AccountFigures, "", "")
	if !ok {
		return Shown{}, fmt.Errorf("%s: %w", profile.AccountFigures, errNoFigures)
	}
	reply, _, err := c.Call(ctx, q.Tool, q.Arguments)
	if err != nil {
		return Shown{}, err
	}
	rows, _, err := q.Rows(reply)
	if err != nil {
		return Shown{}, err
	}
	out := Shown{ID: rows[0].Get("id"), Status: rows[0].Get("status"), Environment: p.Environment.Value}
	if p.Environment.Tool == "" {
		return out, nil
	}
	if p.Environment.Tool != q.Tool {
		if reply, _, err = c.Call(ctx, p.Environment.Tool, []byte("{}")); err != nil {
			return Shown{}, err
		}
	}
	out.Environment, err = p.EnvironmentOf(reply)
	return out, err
}

// Clock asks what time it is at the broker.
func Clock(ctx context.Context, p *profile.Profile, c Caller) (time.Time, error) {
	q, ok := p.Query(profile.ClockFigures, "", "")
	if !ok {
		return time.Time{}, fmt.Errorf("%s: %w", profile.ClockFigures, errNoFigures)
	}
	reply, _, err := c.Call(ctx, q.Tool, q.Arguments)
	if err != nil {
		return time.Time{}, err
	}
	rows, _, err := q.Rows(reply)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, rows[0].Get("now"))
}

// Account reads everything whole, or fails.
func (b *Broker) Account(ctx context.Context) (out gate.BrokerAccount, err error) {
	defer b.outdate() // what the journal knows is compared with it: the next events are asked for anew
	if err := b.account(ctx, &out); err != nil {
		return out, err
	}
	positions, err := b.rows(ctx, profile.PositionFigures, "", nil)
	if err != nil {
		return out, err
	}
	for _, row := range positions {
		p, err := b.position(row)
		if err != nil {
			return out, err
		}
		if !p.Quantity.IsZero() {
			out.Positions = append(out.Positions, p)
		}
	}
	slices.SortFunc(out.Positions, func(x, y journal.Position) int { return strings.Compare(x.Instrument.Symbol, y.Instrument.Symbol) })
	list, err := b.listed(ctx)
	if err != nil {
		return out, err
	}
	for i := range list.orders {
		if o := &list.orders[i]; o.open() {
			out.Orders = append(out.Orders, o.BrokerOrder)
		}
	}
	return out, nil
}

func (b *Broker) account(ctx context.Context, out *gate.BrokerAccount) (err error) {
	rows, err := b.rows(ctx, profile.AccountFigures, "", nil)
	if err != nil {
		return err
	}
	row := rows[0]
	out.At, out.AccountID = b.o.Now(), row.Get("id")
	if b.o.AccountID != "" && out.AccountID != b.o.AccountID {
		b.mismatch(out.AccountID)
		return errOtherOne
	}
	if c := row.Get("currency"); c != "" && c != b.o.Currency {
		return fmt.Errorf("the account is in %q, not in %s", bounded(c), b.o.Currency)
	}
	if out.Cash, err = money.ParseNotional(row.Get("cash")); err != nil {
		return err
	}
	out.BuyingPower = out.Cash
	if t := row.Get("buying_power"); t != "" {
		if out.BuyingPower, err = money.ParseNotional(t); err != nil {
			return err
		}
	}
	if t := row.Get("previous_close_equity"); t != "" {
		equity, err := money.ParseNotional(t)
		if err != nil {
			return err
		}
		out.PreviousCloseEquity = &equity
	}
	return nil
}

func (b *Broker) mismatch(shown string) {
	b.mu.Lock()
	first := !b.mistaken
	b.mistaken = true
	b.mu.Unlock()
	if first && b.o.Mismatch != nil {
		go b.o.Mismatch(bounded(shown)) // the gate may hold its lock here; ends by itself
	}
}

func (b *Broker) position(row profile.Row) (p journal.Position, err error) {
	if p.Instrument, err = b.instrument(row); err != nil {
		return p, err
	}
	if p.Quantity, err = money.ParseQuantity(row.Get("quantity")); err != nil {
		return p, err
	}
	if row.Get("side") == "short" && p.Quantity.IsPositive() {
		p.Quantity = p.Quantity.Neg()
	}
	if t := row.Get("cost"); t != "" {
		p.Cost, err = money.ParsePrice(t)
	}
	return p, err
}

// instrument makes one of a row's symbol and class.
func (b *Broker) instrument(row profile.Row) (order.Instrument, error) {
	class, err := order.ParseAssetClass(row.Get("class"))
	if err != nil {
		return order.Instrument{}, err
	}
	return b.instrumentOf(row.Get("symbol"), class), nil
}

func (b *Broker) instrumentOf(symbol string, class order.AssetClass) order.Instrument {
	units := int64(1)
	if class == order.USOption {
		units = 100 // an OCC option is on a hundred shares
	}
	return order.Instrument{
		Active: true, Class: class, Currency: b.o.Currency, Multiplier: money.QuantityFromInt(units), Symbol: symbol,
	}
}

// outdate makes the next look at events ask the server.
func (b *Broker) outdate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = true
}

// bounded keeps a text of the server's printable and short.
func bounded(s string) string { return journal.BoundText(s, ReasonBytesMax) }
