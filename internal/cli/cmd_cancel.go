package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// doorCommandLine names the command line in entries.
const doorCommandLine = "cli"

// How long, and how often, a cancel is followed before what is left is listed.
const (
	cancelPollFor   = 10 * time.Second
	cancelPollEvery = 200 * time.Millisecond
)

type cancelView struct {
	Order    string   `json:"order"`
	Decision string   `json:"decision,omitzero"`
	Verdict  string   `json:"verdict"`
	Rails    []string `json:"rails"`
	Result   string   `json:"result,omitzero"` // accepted, rejected, in_doubt or not_sent
	Reason   string   `json:"reason,omitzero"`
}

type cancelsView struct {
	Schema  string       `json:"schema"`
	Account string       `json:"account"`
	Cancels []cancelView `json:"cancels"`
	Left    []orderView  `json:"left"`
}

func (a *app) cancelCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "cancel ID | --all", Short: "Cancel an order, follow it to its end, and list what is left",
		Args: atMost(1, "one order id, or --all"),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usage("see open orders with: rails orders", "cancel takes one order id, or --all")
			}
			return a.withDeck(c.Context(), trading, func(d *deck) error { return a.cancel(c.Context(), d, args) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every open order of the account")
	return c
}

func (a *app) cancel(ctx context.Context, d *deck, ids []string) error {
	done, left, err := a.cancelOrders(ctx, d, ids)
	if err != nil {
		return err
	}
	v := cancelsView{Schema: "rails.cancel/v1", Account: d.account, Cancels: done, Left: left.Orders}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		a.cancelTable(done)
		a.out.line("left:")
		a.orderTable(left.Orders)
		err = a.out.failed
	}
	if err != nil {
		return err
	}
	return silently(cancelCode(done, &left, ids))
}

func (a *app) cancelTable(list []cancelView) {
	if len(list) == 0 {
		a.out.line("no order to cancel")
		return
	}
	t := columns("order", "verdict", "result", "why")
	for _, c := range list {
		t.add(c.Order, a.out.verdict(c.Verdict), a.out.verdict(dash(c.Result)), dash(strings.TrimSpace(strings.Join(append(slices.Clone(c.Rails), c.Reason), " "))))
	}
	a.out.table(t, "")
}

// cancelOrders cancels the named orders, or with none named every open one, through
// the gate, and follows them. The broker is asked first: an order may have ended.
func (a *app) cancelOrders(ctx context.Context, d *deck, ids []string) (done []cancelView, left ordersView, err error) {
	if err := d.gate.Tick(ctx); err != nil {
		return nil, left, unreached("the broker's events were not read", err)
	}
	open, _, err := openOrders(ctx, d)
	if err != nil {
		return nil, left, err
	}
	if len(ids) == 0 {
		for _, o := range open.Orders {
			ids = append(ids, o.ID)
		}
	}
	for _, id := range ids {
		done = append(done, d.cancelOne(ctx, id))
	}
	left, err = follow(ctx, d, done)
	return done, left, err
}

// cancelOne takes one cancel through the gate's steps.
func (d *deck) cancelOne(ctx context.Context, id string) cancelView {
	digest := sha256.Sum256([]byte("cancel " + id))
	j := d.gate.Decide(ctx, gate.Call{
		Intent: order.Intent{Action: order.ActionCancel, Account: d.account, Target: id},
		Door:   doorCommandLine, Agent: d.operator(), RawDigest: hex.EncodeToString(digest[:]),
	})
	v := cancelView{Order: id, Decision: j.ID, Verdict: j.Decision.Verdict.String(), Rails: j.Decision.Refusing()}
	if j.Fault != "" {
		v.Verdict, v.Rails = journal.VerdictError, []string{j.Fault}
		return v
	}
	v.Rails = append(v.Rails, j.Decision.Faults()...)
	if !j.Allowed() {
		v.Reason = sentences(&j.Decision)
		return v
	}
	out := d.gate.Forward(ctx, j.Permit)
	v.Result, v.Reason = out.Result, out.Reason
	return v
}

// sentences are what a decision that did not allow says, in our own words.
func sentences(d *risk.Decision) string {
	var out []string
	for _, f := range findingsOf(d) {
		if f.Status == "deny" || f.Status == "fault" {
			out = append(out, f.Text)
		}
	}
	return strings.Join(out, " ")
}

// follow waits until no canceled order is open any more, for a while, and returns what
// still is.
func follow(ctx context.Context, d *deck, done []cancelView) (ordersView, error) {
	ctx, stop := context.WithTimeout(ctx, cancelPollFor)
	defer stop()
	for {
		// A broker that cannot be asked leaves the journal's own picture, which is listed.
		_ = d.gate.Tick(ctx)
		left, _, err := openOrders(context.WithoutCancel(ctx), d)
		if err != nil {
			return left, err
		}
		waiting := slices.ContainsFunc(done, func(c cancelView) bool { return c.Result != "" && stillOpen(&left, c.Order) })
		if !waiting {
			return left, nil
		}
		select {
		case <-ctx.Done():
			return left, nil
		case <-time.After(cancelPollEvery):
		}
	}
}

func stillOpen(left *ordersView, id string) bool {
	return slices.ContainsFunc(left.Orders, func(o orderView) bool { return o.ID == id })
}

// cancelCode is 0 if what was to be canceled is gone, 4 if a cancel was denied, 1 if
// one could not be judged, and 7 if an order is still there.
func cancelCode(done []cancelView, left *ordersView, ids []string) int {
	code := exitDone
	for _, c := range done {
		switch {
		case c.Verdict == journal.VerdictDenied:
			return exitDenied
		case c.Verdict == journal.VerdictError:
			code = exitFailed
		case stillOpen(left, c.Order) && code == exitDone:
			code = exitBroker
		}
	}
	if len(ids) == 0 && len(left.Orders) > 0 && code == exitDone {
		code = exitBroker
	}
	return code
}
