package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// lastDenials is how many denials status shows.
const lastDenials = 5

type statusView struct {
	Schema   string         `json:"schema"`
	Account  string         `json:"account"`
	Broker   string         `json:"broker"`
	Live     bool           `json:"live"`
	Mode     modeView       `json:"mode"`
	Clock    clockView      `json:"clock"`
	Calendar calendarView   `json:"calendar"`
	Limits   inForceView    `json:"limits"`
	Use      []useView      `json:"use"`
	Day      dayView        `json:"day"`
	Open     int            `json:"open_orders"`
	InDoubt  []string       `json:"in_doubt"`
	Agreed   reconciledView `json:"reconciled"`
	Denials  []decisionView `json:"last_denials"`
	Head     headView       `json:"head"`
	// Checkpoints is how far the journal is signed and cosigned, for all its accounts.
	Checkpoints checkpointsView `json:"checkpoints"`
}

type modeView struct {
	Effective string    `json:"effective"`
	Account   string    `json:"account"`
	All       string    `json:"all_accounts"`
	By        string    `json:"by"`
	Reason    string    `json:"reason,omitzero"`
	Since     time.Time `json:"since,omitzero"`
}

type clockView struct {
	Kind    string    `json:"kind"` // practice, real, or unknown
	Now     time.Time `json:"now"`
	Session string    `json:"session"` // pre, regular, post or closed
	Problem string    `json:"problem,omitzero"`
}

type calendarView struct {
	Exchange     string `json:"exchange"`
	ValidThrough string `json:"valid_through"`
	DaysLeft     int    `json:"days_left"`
	Warning      bool   `json:"warning"`
}

type inForceView struct {
	Fingerprint string   `json:"fingerprint"`
	Off         []string `json:"off"`
	Warnings    int      `json:"warnings"`
	Invalid     bool     `json:"newest_load_failed"` // only reducing orders pass until a valid load
}

type dayView struct {
	TradeDate    string `json:"trade_date"`
	EquityAtOpen string `json:"equity_at_open,omitzero"`
	Realized     string `json:"realized"`
	Orders       int    `json:"orders"`
	ExitOrders   int    `json:"exit_orders"`
	Notional     string `json:"notional"`
	Flows        string `json:"cash_flows"`
	LossLatched  bool   `json:"loss_latched"`
}

type reconciledView struct {
	At          time.Time            `json:"at,omitzero"`
	Differences []journal.Difference `json:"differences"`
}

type headView struct {
	Seq  uint64       `json:"seq"`
	Hash journal.Hash `json:"hash"`
	At   time.Time    `json:"at"`
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show mode, limits, what is used and left, and what is in doubt", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withDeck(c.Context(), looking, func(d *deck) error { return a.status(c.Context(), d) })
		},
	}
}

func (a *app) status(ctx context.Context, d *deck) error {
	v := statusView{Schema: "rails.status/v1", Account: d.account}
	worth, err := d.gate.Worth(ctx)
	if err != nil {
		return err
	}
	if err := d.gate.View(ctx, func(now gate.View) { v.fill(d, &now, &worth) }); err != nil {
		return err
	}
	if d.practice != nil {
		if err := d.practice.Ended(); err != nil {
			v.Clock.Problem = err.Error()
		}
	}
	found, since, err := tail(ctx, d.store, d.account, lastDenials, isDenial)
	if err == nil {
		v.Denials, err = decisionViews(found, since)
	}
	if err != nil {
		return err
	}
	v.Checkpoints = d.checkpoints()
	if a.flags.json {
		return a.out.json(v)
	}
	a.printStatus(d, &v)
	return a.out.failed
}

func (v *statusView) fill(d *deck, now *gate.View, worth *risk.Worth) {
	s := now.State
	v.Broker = s.Broker
	v.Mode = modeView{
		Effective: now.Mode.String(), Account: s.Mode.String(), All: now.Control.Mode.String(),
		By: s.ModeBy, Reason: s.ModeReason, Since: s.ModeAt,
	}
	if now.Control.Mode < s.Mode {
		v.Mode.By, v.Mode.Reason, v.Mode.Since = now.Control.By, now.Control.Reason, now.Control.ModeAt
	}
	if now.StopReason != "" {
		v.Mode.By, v.Mode.Reason, v.Mode.Since = "halt file", now.StopReason, time.Time{}
	}
	session := market.Session(now.Now, now.Calendar)
	v.Clock = clockView{Kind: d.clockName(), Now: now.Now, Session: session.Kind.String()}
	left := now.Calendar.DaysToExpiry(now.Now)
	v.Calendar = calendarView{
		Exchange: now.Calendar.MIC(), ValidThrough: now.Calendar.ValidThrough().String(), DaysLeft: left,
		Warning: left <= market.ExpiryWarnDays,
	}
	if now.Limits != nil {
		v.Live = now.Limits.Mode == limits.Live
		v.Limits = inForceView{Fingerprint: now.Limits.Fingerprint, Off: now.Limits.Off(), Warnings: len(now.Limits.Warnings()), Invalid: now.LimitsInvalid}
	}
	v.Use = uses(now, worth)
	day := s.DayAt(now.Now)
	v.Day = dayView{
		TradeDate: s.TradeDateAt(now.Now).String(), Realized: dollars(day.Realized), Orders: day.Orders, ExitOrders: day.ExitOrders,
		Notional: dollars(day.Notional), Flows: dollars(day.Flows), LossLatched: day.LossLatched,
	}
	if day.HasOpen {
		v.Day.EquityAtOpen = dollars(day.EquityAtOpen)
	}
	v.Open = s.OpenOrders()
	for _, o := range s.Orders {
		if o.InDoubt(now.Now) {
			v.InDoubt = append(v.InDoubt, o.ID)
		}
	}
	v.Agreed = reconciledView{At: s.Reconciled.At, Differences: slices.Clone(s.Reconciled.Differences)}
	v.Head = headView{Seq: s.Seq, Hash: s.Head, At: s.At}
}

func isDenial(e *journal.Entry) bool {
	if e.Kind == journal.KindRefusal {
		return true
	}
	if e.Kind != journal.KindDecision {
		return false
	}
	body, err := journal.DecodeBody[journal.Decision](e)
	return err == nil && body.Verdict != journal.VerdictAllowed
}

func (a *app) printStatus(d *deck, v *statusView) {
	p := a.out
	a.header(d, v.Live, v.Clock.Now)
	mode := []string{p.verdict(v.Mode.Effective)}
	if v.Mode.Effective != journal.ModeActive {
		mode = append(mode, "  by ", v.Mode.By, ": ", v.Mode.Reason)
	}
	p.field("mode", mode...)
	p.field("session", v.Clock.Session, p.dim("  trade date "+v.Day.TradeDate))
	if v.Clock.Problem != "" {
		p.field("clock", p.warn(v.Clock.Problem), p.dim("  "+(&clock.PracticeEndedError{}).Hint()))
	}
	p.field("calendar", v.Calendar.Exchange, " to ", v.Calendar.ValidThrough)
	if v.Calendar.Warning {
		p.field("", p.warn("the calendar ends soon; past it only reducing orders pass"))
	}
	if v.Limits.Fingerprint == "" {
		p.field("limits", p.bad("none in force"), "; load them with: rails reload")
	} else {
		p.field("limits", short(v.Limits.Fingerprint), p.dim("  "+plural(len(v.Limits.Off), "limit off", "limits off")+
			", "+plural(v.Limits.Warnings, "warning", "warnings")))
		if v.Limits.Invalid {
			p.field("", "the newest document did not load: only reducing orders pass until rails reload loads a valid one", "")
		}
	}
	p.field("journal", "seq ", seqText(v.Head.Seq), "  ", short(v.Head.Hash.String()))
	a.printCheckpoints(&v.Checkpoints)
	p.field("open orders", plural(v.Open, "order", "orders"))
	for _, id := range v.InDoubt {
		p.field("in doubt", p.warn(id), "  settle it with: rails reconcile")
	}
	for _, diff := range v.Agreed.Differences {
		symbol := diff.Symbol
		if symbol == "" {
			symbol = "cash"
		}
		p.field("differs", p.warn(symbol), "  journal ", diff.Ledger.String(), ", broker ", diff.Broker.String())
	}
	day := []string{"realized ", v.Day.Realized, ", ", plural(v.Day.Orders+v.Day.ExitOrders, "order", "orders")}
	if v.Day.ExitOrders > 0 {
		day = append(day, " (", fmt.Sprint(v.Day.ExitOrders), " reducing)")
	}
	day = append(day, ", notional ", v.Day.Notional)
	if v.Day.EquityAtOpen != "" {
		day = append(day, ", equity at open ", v.Day.EquityAtOpen)
	}
	if v.Day.LossLatched {
		day = append(day, p.bad("  max_daily_loss has tripped"))
	}
	p.field("day", day...)
	p.line("")
	t := columns("limit", "window", ">used", ">limit", ">left")
	for _, u := range v.Use {
		t.add(u.Rail, u.Window, u.Used, u.Limit, dash(u.Headroom))
	}
	p.table(t, "")
	if len(v.Denials) > 0 {
		p.line("")
		p.line(p.strong("last denials"))
		a.decisionTable(v.Denials)
	}
}

// short is the beginning of a hash or fingerprint, enough to compare by eye.
func short(hex string) string { return hex[:min(12, len(hex))] }
