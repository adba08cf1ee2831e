package paper

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// The test binary starts itself again as another process of the same ledger.
const (
	childRole = "PAPER_TEST_ROLE" // look or place
	childDir  = "PAPER_TEST_DIR"
	childName = "PAPER_TEST_NAME"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := child(role, os.Getenv(childDir), os.Getenv(childName)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// sawtooth is a market that every process knows: it falls a cent a second for four
// minutes, and starts again.
type sawtooth struct{ tape }

func (s *sawtooth) Quote(_ context.Context, symbol string, now time.Time) (market.Quote, error) {
	mid := 200_00 - now.Unix()%240
	bid, _ := money.NotionalFromInt(mid-1).Per(qty("100"), money.Up)
	ask, _ := money.NotionalFromInt(mid+1).Per(qty("100"), money.Up)
	return market.Quote{Symbol: symbol, Present: true, HasBid: true, HasAsk: true, Bid: bid, Ask: ask, At: now}, nil
}

func processBroker(l *Ledger, clock *hand) (*Broker, error) {
	return New(l, Options{Clock: clock, Quotes: &sawtooth{}, Calendar: market.XNYS(), AllowShort: true})
}

func child(role, dir, name string) error {
	ctx := context.Background()
	l, err := OpenFile(ctx, dir, start())
	if err != nil {
		return err
	}
	clock := &hand{at}
	b, err := processBroker(l, clock)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		switch role {
		case "look":
			if i == lookSteps {
				return b.Close()
			}
			clock.pass(lookEvery)
			if _, err := b.Account(ctx); err != nil {
				return err
			}
		case "place":
			q, _ := b.options.Quotes.Quote(ctx, "AAPL", at)
			id := fmt.Sprintf("%s-%d", name, i)
			side := order.Buy
			if i%2 == 1 {
				side = order.Sell
			}
			r := b.accept(ctx, gate.Message{
				Action: order.ActionNew, ClientOrderID: id, Instrument: share("AAPL"), Side: side, Type: order.Market,
				Quantity: qty("1"), TimeInForce: order.Day, Quote: q, At: at,
			})
			if r.Result != gate.ReplyAccepted || len(r.Fills) != 1 {
				return fmt.Errorf("reply %+v", r)
			}
			fmt.Println(id)
		}
	}
}

const (
	lookSteps = 40
	lookEvery = 20 * time.Second
)

func again(t *testing.T, role, dir, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir, childName+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestProcessesThatLookAtOnceBookEachFillOnce(t *testing.T) {
	dir := t.TempDir()
	onFile, err := OpenFile(t.Context(), dir, start())
	if err != nil {
		t.Fatal(err)
	}
	ledgers := []*Ledger{onFile, InMemory(start())}
	var found [2]contents
	var desks [2]*desk
	for i, l := range ledgers {
		d := newDesk(t, l, Options{})
		if d.Broker, err = processBroker(l, d.clock); err != nil {
			t.Fatal(err)
		}
		desks[i] = d
		for j := range 12 {
			m := d.limit(order.Buy, "700", fmt.Sprintf("198.%02d", j))
			m.Side = [...]order.Side{order.Buy, order.Sell}[j%2]
			if m.Side == order.Sell {
				m.LimitPrice = px("200.50") // never
			}
			m.Quantity = qty("40")
			d.sent(m)
		}
	}
	var wait sync.WaitGroup
	for i := range 3 {
		cmd := again(t, "look", dir, fmt.Sprint(i))
		wait.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	for i, d := range desks {
		d.clock.to(at.Add(lookSteps * lookEvery))
		found[i] = d.contents()
	}
	if len(found[1].Executions) < 6 {
		t.Fatalf("only %d fills: the test shows nothing", len(found[1].Executions))
	}
	if a, b := fmt.Sprintf("%+v", found[0]), fmt.Sprintf("%+v", found[1]); a != b {
		t.Errorf("three processes %s\none alone       %s", a, b)
	}
}

const kills = 20

func TestKilledProcessLeavesAWholeLedger(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for i := range kills {
		var running []*exec.Cmd
		var wait sync.WaitGroup
		var mu sync.Mutex // guards acknowledged
		for j := range 2 {
			cmd := again(t, "place", dir, fmt.Sprintf("p%d-%d", i, j))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
			wait.Go(func() {
				for lines := bufio.NewScanner(out); lines.Scan(); {
					mu.Lock()
					acknowledged[strings.TrimSpace(lines.Text())] = true
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(40+rand.IntN(80)) * time.Millisecond)
		for _, cmd := range running {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
		wait.Wait()
		for _, cmd := range running {
			if err := cmd.Wait(); cmd.ProcessState.Exited() {
				t.Errorf("a process ended by itself: %v", err)
			}
		}
	}
	l, err := OpenFile(t.Context(), dir, start())
	if err != nil {
		t.Fatal(err)
	}
	var sound string
	if err := l.store.(*file).db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("integrity: %s, %v", sound, err)
	}
	d := newDesk(t, l, Options{})
	c := d.contents()
	cash := StartingCash()
	for _, x := range c.Executions {
		cash, _ = cash.Add(x.Cash)
	}
	sent := map[string]int{}
	for _, m := range c.Messages {
		sent[m.ClientOrderID]++
	}
	if cash != c.Cash || len(c.Orders) != len(c.Executions) || len(c.Orders) != len(c.Messages) || len(c.Orders) != len(c.Events) || len(acknowledged) == 0 {
		t.Errorf("cash %s of %s, %d orders, %d executions, %d messages, %d events, %d acknowledged", c.Cash, cash,
			len(c.Orders), len(c.Executions), len(c.Messages), len(c.Events), len(acknowledged))
	}
	for id := range acknowledged {
		if sent[id] != 1 {
			t.Errorf("%s was acknowledged and stands %d times in the ledger", id, sent[id])
		}
	}
}
