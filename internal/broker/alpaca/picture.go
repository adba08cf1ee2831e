package alpaca

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
)

// How the account is looked after.
const (
	// LookEvery is how old what is known of events may be while the stream rings at each,
	// and LookEveryAlone while it does not. With the stream cut that is some 40 calls a
	// minute, a fifth of what the service grants.
	LookEvery      = 15 * time.Second
	LookEveryAlone = 4 * time.Second
	// CashEvery is how often activities other than fills are read.
	CashEvery = time.Minute
	// Overlap is how far before the newest event a look reaches back: an activity may
	// appear that much later than its time.
	Overlap = 10 * time.Minute
	// CashOverlap is the same for activities that bear a date only, and may be posted
	// after a weekend with a holiday.
	CashOverlap = 5 * 24 * time.Hour
	// OrderLifeMax is longer than any order lives at the service, which ends them after 90 days.
	OrderLifeMax = 95 * 24 * time.Hour

	PageMax      = 100    // activities a page, the service's limit
	OrdersMax    = 500    // orders a page, the service's limit
	PagesMax     = 200    // pages of one look
	EventsMax    = 50_000 // events that are kept to be told again
	RecentOrders = 50     // newest orders that each look goes through
)

// picture is what is known of the account's events. Its owner holds reading.
type picture struct {
	run     string // stands in cursors: another process may have heard of things in another order
	begun   bool
	since   time.Time // events before it, less the overlap, are not told
	events  []gate.Event
	place   map[string]int      // of a cursor in events
	told    map[string]struct{} // ids of events
	newest  time.Time           // of the events; never goes back
	known   map[string]struct{} // ids of before the journal
	open    map[string]shownOrder
	orders  map[string]shownOrder     // as last seen, by broker id
	closed  map[string]struct{}       // orders whose end was told
	counted map[string]struct{}       // fills that are in filled
	filled  map[string]money.Quantity // by broker id
	looked  time.Time                 // monotonic; of the newest look
	recent  time.Time                 // of the newest look at orders that ended
	cash    time.Time                 // of the newest look at activities other than fills
}

func (p *picture) init() {
	*p = picture{
		run: p.run, place: map[string]int{}, told: map[string]struct{}{}, known: map[string]struct{}{}, open: map[string]shownOrder{},
		orders: map[string]shownOrder{}, closed: map[string]struct{}{}, counted: map[string]struct{}{}, filled: map[string]money.Quantity{},
	}
}

var (
	errCursor  = errors.New("not a cursor of this broker")
	errTooMany = errors.New("the broker lists more than can be read at once")
)

const cursorHead = "a1/"

// cursor names an event and the time up to which events were told with it.
func cursor(at time.Time, id string) string {
	return cursorHead + strconv.FormatInt(at.UnixNano(), 10) + "/" + id
}

func cursorTime(text string) (time.Time, error) {
	rest, ok := strings.CutPrefix(text, cursorHead)
	number, _, two := strings.Cut(rest, "/")
	ns, err := strconv.ParseInt(number, 10, 64)
	if !ok || !two || err != nil || ns <= 0 {
		return time.Time{}, errCursor
	}
	return time.Unix(0, ns).UTC(), nil
}

// StartCursor is the cursor of a journal that takes the account over at an instant.
func StartCursor(began time.Time) string { return cursor(began, "start") }

// Events returns what happened after the cursor, in the order in which it became known. A
// cursor of another process is read by its time: some events may then be told again.
func (b *Broker) Events(ctx context.Context, after string) ([]gate.Event, error) {
	from, err := cursorTime(after)
	if err != nil {
		return nil, err
	}
	done, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	p := &b.picture
	if _, here := p.place[after]; !here && (!p.begun || from.Before(p.since)) {
		b.begin(from)
	}
	if b.due() {
		if err := b.look(ctx, false); err != nil {
			return nil, err
		}
	}
	return p.after(after, from), nil
}

func (p *picture) after(cursor string, from time.Time) []gate.Event {
	i, here := p.place[cursor]
	if here {
		return slices.Clone(p.events[i+1:])
	}
	var out []gate.Event
	for i := range p.events {
		// What became known late keeps its own time, which may be long before the cursor's.
		if _, err := cursorTime(p.events[i].Cursor); err == nil && !p.events[i].At.Before(from.Add(-CashOverlap)) {
			out = append(out, p.events[i])
		}
	}
	return out
}

// begin forgets what is known, and lets the next look reach back to from.
func (b *Broker) begin(from time.Time) {
	p := &b.picture
	p.init()
	p.begun, p.since, p.newest = true, from, from
	for _, id := range b.o.Known {
		p.known[id] = struct{}{}
	}
}

// due reports whether what is known is too old, and takes the ring.
func (b *Broker) due() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	every := LookEveryAlone
	if b.up {
		every = LookEvery
	}
	return b.rung || b.picture.looked.IsZero() || time.Since(b.picture.looked) >= every
}

// look asks what happened: fills, ends of orders, orders that came without the gate, and
// when it is due or asked for money that moved. What it could not read it will read again.
func (b *Broker) look(ctx context.Context, whole bool) error {
	p := &b.picture
	b.mu.Lock()
	rung := b.rung
	b.rung = false // what rings from here on is looked at again
	for _, id := range b.sent {
		if _, known := p.orders[id]; !known {
			p.open[id] = shownOrder{ID: id}
		}
	}
	b.sent = nil
	b.mu.Unlock()
	err := b.lookAt(ctx, whole, rung || p.looked.IsZero())
	if err != nil {
		b.ring()
		return err
	}
	p.looked = time.Now()
	p.forget()
	return nil
}

// lookAt makes three calls, one more if money that moved is asked for, and one less if
// nothing rang: an order that was not seen open then has not come and gone.
func (b *Broker) lookAt(ctx context.Context, whole, rung bool) error {
	p := &b.picture
	// Orders before fills: what filled an order that is seen to be over is then seen too.
	open, err := b.listed(ctx, "open", time.Time{})
	if err != nil {
		return err
	}
	var ended []shownOrder
	if rung || !b.Listening() && time.Since(p.recent) >= LookEveryAlone {
		if ended, err = b.endedOrders(ctx); err != nil {
			return err
		}
		p.recent = time.Now()
	}
	if err := b.fills(ctx); err != nil {
		return err
	}
	if whole || p.cash.IsZero() || time.Since(p.cash) >= CashEvery {
		if err := b.otherActivities(ctx); err != nil {
			return err
		}
		p.cash = time.Now()
	}
	if err := b.openOrders(ctx, open); err != nil {
		return err
	}
	for i := range ended {
		p.open[ended[i].ID] = ended[i] // until its end was told
	}
	return b.ends(ctx, open)
}

// listed reads orders of a status, all pages, oldest first.
func (b *Broker) listed(ctx context.Context, status string, after time.Time) (out []shownOrder, err error) {
	seen := map[string]bool{}
	for range PagesMax {
		q := query("status", status, "limit", strconv.Itoa(OrdersMax), "direction", "asc", "nested", "false")
		if !after.IsZero() {
			q.Set("after", after.UTC().Format(time.RFC3339Nano))
		}
		var page []shownOrder
		if err := b.c.read(ctx, "/v2/orders", q, &page); err != nil {
			return nil, err
		}
		for i := range page {
			if o := &page[i]; !seen[o.ID] {
				seen[o.ID] = true
				out = append(out, *o)
			}
		}
		if len(page) < OrdersMax {
			return out, nil
		}
		// Orders of one instant stand on both pages.
		next := page[len(page)-1].SubmittedAt.Add(-time.Nanosecond)
		if !next.After(after) {
			return nil, errTooMany
		}
		after = next
	}
	return nil, errTooMany
}

// endedOrders are orders that may have ended without having been seen open: at the first
// look all that could have been open at the cursor, later the newest ones.
func (b *Broker) endedOrders(ctx context.Context) (out []shownOrder, err error) {
	p := &b.picture
	var closed []shownOrder
	if p.looked.IsZero() {
		closed, err = b.listed(ctx, "closed", p.since.Add(-OrderLifeMax))
	} else {
		err = b.c.read(ctx, "/v2/orders", query("status", "closed", "limit", strconv.Itoa(RecentOrders), "direction", "desc", "nested", "false"), &closed)
	}
	for i := range closed {
		o := &closed[i]
		_, told := p.closed[o.ID]
		if !told && !o.endedAt().Before(p.since.Add(-Overlap)) {
			out = append(out, *o)
		}
	}
	return out, err
}

// openOrders takes in what is open, and tells of what did not come through a gate.
func (b *Broker) openOrders(ctx context.Context, open []shownOrder) error {
	p := &b.picture
	for i := range open {
		o := &open[i]
		_, before := p.open[o.ID]
		p.open[o.ID], p.orders[o.ID] = *o, *o
		if before || journal.HasOrderIDForm(o.ClientOrderID) {
			continue
		}
		shown, err := o.asBroker("")
		if err != nil {
			return err
		}
		p.tell(&gate.Event{
			Kind: gate.EventOrder, ID: "order/" + o.ID, BrokerID: o.ID,
			Instrument: shown.Instrument, Side: shown.Side, Order: shown, At: o.SubmittedAt.UTC(),
		}, b.now())
	}
	return nil
}

// ends tells of orders that were open and are not listed as open any more.
func (b *Broker) ends(ctx context.Context, listed []shownOrder) error {
	p := &b.picture
	still := map[string]bool{}
	for i := range listed {
		still[listed[i].ID] = true
	}
	gone := make([]shownOrder, 0, len(p.open))
	for id, o := range p.open {
		if !still[id] {
			gone = append(gone, o)
		}
	}
	slices.SortFunc(gone, func(x, y shownOrder) int {
		if c := x.endedAt().Compare(y.endedAt()); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	for i := range gone {
		if err := b.end(ctx, gone[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// end asks for one order and tells how it ended, once all that filled of it was told.
func (b *Broker) end(ctx context.Context, id string) error {
	p := &b.picture
	o := p.open[id]
	if !o.over() { // what is over stays as it was read
		if err := b.c.read(ctx, "/v2/orders/"+id, nil, &o); err != nil {
			if notFound(err) { // a replace that never came to be
				delete(p.open, id)
				return nil
			}
			return err
		}
		p.open[id] = o
	}
	p.orders[id] = o
	if !o.over() {
		return nil // not listed, and not over: it stays in sight
	}
	whole, err := b.filledUp(ctx, &o)
	if err != nil || !whole {
		return err
	}
	client, err := b.clientOf(ctx, &o)
	if err != nil {
		return err
	}
	e := gate.Event{
		Kind: gate.EventEnded, ID: "ended/" + o.ID, ClientOrderID: client, BrokerID: o.ID, Ended: o.ended(),
		Instrument: instrument(o.Symbol, o.AssetClass), At: o.endedAt(),
	}
	e.Side, _ = side(o.Side) // not needed to end it
	switch o.Status {
	case statusFilled:
	case statusReplaced:
		if err := b.replaced(ctx, &o, &e); err != nil {
			return err
		}
		p.tell(&e, b.now())
	default:
		p.tell(&e, b.now())
	}
	delete(p.open, id)
	p.closed[id] = struct{}{}
	return nil
}

// replaced makes the event of a replace: of an order of ours new terms, if the gate asked
// for them, and its end, if someone else did. The new order then is a stranger's.
func (b *Broker) replaced(ctx context.Context, o *shownOrder, e *gate.Event) error {
	next, err := b.order(ctx, o.ReplacedBy)
	if err != nil {
		return err
	}
	if !journal.HasOrderIDForm(next.ClientOrderID) || !journal.HasOrderIDForm(e.ClientOrderID) {
		e.Ended = journal.ResultCanceled
		return nil
	}
	e.Kind, e.BrokerID, e.ID = gate.EventReplaced, next.ID, "replaced/"+o.ID
	e.Order, err = next.asBroker(e.ClientOrderID)
	return err
}

// filledUp reports whether the fills that were told make up what the order shows as
// filled: its end must not be told before them.
func (b *Broker) filledUp(ctx context.Context, o *shownOrder) (bool, error) {
	p := &b.picture
	want, err := o.filled()
	if err != nil {
		return false, err
	}
	if p.filled[o.ID] == want {
		return true, nil
	}
	// The rest may be older than the look reaches back.
	if _, err := b.activities(ctx, typeFill, o.SubmittedAt.Add(-Overlap), p.count); err != nil {
		return false, err
	}
	// An order that replaced one which had filled in part may show that part as its own.
	sum, at := p.filled[o.ID], *o
	for range replacesMax {
		if sum.Cmp(want) >= 0 || at.Replaces == "" {
			break
		}
		if at, err = b.order(ctx, at.Replaces); err != nil {
			return false, err
		}
		sum, _ = sum.Add(p.filled[at.ID]) // both were read, and are in range
	}
	return sum.Cmp(want) >= 0, nil
}

func (o *shownOrder) filled() (money.Quantity, error) {
	if o.FilledQty == "" {
		return money.Quantity{}, nil
	}
	return o.FilledQty.quantity()
}

// order returns an order as it was last seen, or asks for it.
func (b *Broker) order(ctx context.Context, id string) (shownOrder, error) {
	if o, known := b.picture.orders[id]; known {
		return o, nil
	}
	var o shownOrder
	if id == "" {
		return o, fmt.Errorf("order without an id: %w", errUnreadable)
	}
	if err := b.c.read(ctx, "/v2/orders/"+id, nil, &o); err != nil {
		return o, err
	}
	b.picture.orders[id] = o
	return o, nil
}

// replacesMax bounds how often one order may have been replaced.
const replacesMax = 1_000

// clientOf returns the client order id that the gate knows an order by: of one that
// replaced another at the gate's wish that of the first, and of a stranger's none.
func (b *Broker) clientOf(ctx context.Context, o *shownOrder) (string, error) {
	at := *o
	for range replacesMax {
		if !journal.HasOrderIDForm(at.ClientOrderID) {
			return "", nil
		}
		if at.Replaces == "" {
			return at.ClientOrderID, nil
		}
		first, err := b.order(ctx, at.Replaces)
		if err != nil {
			return "", err
		}
		at = first
	}
	return "", errTooMany
}

// tell appends an event, once. An event that bears a time to come, as an entry that was
// booked ahead may, moves nothing beyond now: looks begin from the newest.
func (p *picture) tell(e *gate.Event, now time.Time) {
	if _, told := p.told[e.ID]; told {
		return
	}
	at := e.At
	if at.After(now) {
		at = now
	}
	if at.After(p.newest) {
		p.newest = at
	}
	e.Cursor = cursor(p.newest, p.run+"/"+e.ID)
	if e.Kind == gate.EventFill {
		e.Fill.Cursor = e.Cursor
	}
	p.told[e.ID] = struct{}{}
	p.place[e.Cursor] = len(p.events)
	p.events = append(p.events, *e)
}

// forget keeps memory bounded. Who stands before what was forgotten begins again.
func (p *picture) forget() {
	if len(p.events) > EventsMax || len(p.orders) > EventsMax || len(p.counted) > EventsMax {
		since := p.newest
		known := p.known
		p.init()
		p.begun, p.since, p.newest, p.known = true, since, since, known
	}
}
