//go:build unix

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/quotes"
)

// press has callers place orders at once until done says so, so many at the most each.
func (s *host) press(callers, most int, done func(answer string) bool) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range most {
				if got := s.order(""); got == "" || done(got) {
					return
				}
			}
		})
	}
	wg.Wait()
}

func capped(got string) bool { return strings.Contains(got, "max_orders_per_day") }

// Two servers over standard input and one over HTTP, on one journal, share one cap.
func TestServersShareOneCap(t *testing.T) {
	t.Parallel()
	const capacity = 60
	h := newHouse(t, fmt.Sprintf(allOff, capacity))
	servers := []*host{h.serve(), h.serve()}
	web, addr := h.launchHTTP("--stateless")
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() { s.press(4, capacity, capped) })
	}
	for range 4 {
		wg.Go(func() {
			for range capacity {
				if got := post(t, addr, buy("AAPL", "1", "")); capped(got) {
					return
				}
			}
		})
	}
	wg.Wait()
	v := h.wantSent(capacity)
	if v.allowed() != capacity {
		t.Errorf("%d decisions allowed, the cap is %d", v.allowed(), capacity)
	}
	v.wantDenied(t, "max_orders_per_day")
	said := h.must(0, "audit-verify")
	if !strings.Contains(said, "verified") {
		t.Errorf("audit-verify: %s", said)
	}
	web.signal(syscall.SIGTERM)
	for _, s := range append(servers, web) {
		if code := s.stop(); code != 0 {
			t.Errorf("exit code %d: %s", code, s.log)
		}
	}
	if got := oracle(t, h.dir, time.Minute); got.placed != capacity {
		t.Errorf("%d orders at the broker, the cap is %d", got.placed, capacity)
	}
}

// kills is how often a server dies in TestServerIsKilledAgainAndAgain.
func kills() int {
	if os.Getenv("RAILS_SOAK") != "" {
		return 300
	}
	return 20
}

// A server is killed while a host sends orders as fast as it answers, and started
// again, until the cap is used up.
func TestServerIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	const capacity = 400
	h := newHouse(t, fmt.Sprintf(allOff, capacity))
	random := rand.New(rand.NewPCG(3, 4))
	for range kills() {
		s := h.serve()
		var wg sync.WaitGroup
		wg.Go(func() { s.press(4, 5, capped) })
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		s.kill()
		wg.Wait()
	}
	killed := h.look()
	if len(killed.messages) == 0 || len(killed.messages) >= capacity {
		t.Errorf("%d messages when the killing ended: the test shows nothing", len(killed.messages))
	}
	s := h.serve()
	s.press(4, capacity, capped)
	s.stop()
	v := h.look()
	if v.allowed() != capacity {
		t.Errorf("%d decisions allowed, the cap is %d", v.allowed(), capacity)
	}
	got := oracle(t, h.dir, time.Minute)
	if got.placed > capacity {
		t.Errorf("%d orders at the broker, the cap is %d", got.placed, capacity)
	}
	h.must(0, "audit-verify")
	t.Logf("%d servers killed, %d orders sent by then, %d at the end, %d at the broker", kills(), len(killed.messages), len(v.messages), got.placed)
}

// inject tells the broker what to do with the messages to come.
func (h *house) inject(faults ...paper.Fault) {
	h.t.Helper()
	ctx, cal := h.t.Context(), market.XNYS()
	ledger, err := paper.OpenFile(ctx, h.dir, paper.Start{})
	if err != nil {
		h.t.Fatal(err)
	}
	start := ledger.Start()
	practice, err := clock.NewPractice(clock.NewSystem(), cal, clock.Origin{Wall: start.Wall, Market: start.Market})
	if err != nil {
		h.t.Fatal(err)
	}
	b, err := paper.New(ledger, paper.Options{Clock: practice, Quotes: quotes.NewPaper(start.Seed, cal), Calendar: cal})
	if err != nil {
		h.t.Fatal(err)
	}
	defer b.Close()
	if err := b.Inject(ctx, faults...); err != nil {
		h.t.Fatal(err)
	}
}

// A client that gives up after its order was sent, and sends it again under the same
// id, has one order: the first one stands and nothing is sent again (case PRT-26).
func TestClientThatGivesUpHasOneOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t, fmt.Sprintf(allOff, 100))
	s := h.serve()
	s.allowed()
	h.inject(paper.Fault{Kind: paper.FaultDelay, Action: order.ActionNew, Delay: 3 * time.Second})
	const id = `,"client_order_id":"t-1"`
	first, call := s.sendAs("tools/call", buy("AAPL", "1", id))
	limit := time.Now().Add(10 * time.Second)
	for h.look().allowed() < 2 {
		if time.Now().After(limit) {
			t.Fatalf("no decision: %s", s.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // it has left the gate, and the broker takes its time
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"timeout"}}`, call))
	again := s.order(id)
	v := h.look()
	if v.allowed() != 2 || v.refusals["replayed"] != 1 {
		t.Errorf("%d decisions allowed and %d replayed, want 2 and 1; the agent was told: %s", v.allowed(), v.refusals["replayed"], again)
	}
	select { // an answer to a call that was given up may come or not
	case <-first:
	case <-time.After(4 * time.Second):
	}
	for ; len(v.outcomes[v.decided[1].seq]) == 0; v = h.look() {
		if time.Now().After(limit.Add(10 * time.Second)) {
			t.Fatalf("the order has no outcome: %s", s.log)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := v.outcomes[v.decided[1].seq][0]; got != journal.ResultAccepted || v.sent(v.decided[1].clientID) != 1 {
		t.Errorf("the order is %s, and was sent %d times", got, v.sent(v.decided[1].clientID))
	}
	if got := s.order(id); !strings.Contains(got, "status=filled") {
		t.Errorf("the same order once more: %s", got)
	}
	h.wantSent(2)
	s.stop()
	oracle(t, h.dir, time.Minute)
}
