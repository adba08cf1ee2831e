package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/sim"
)

// The names of a session's report in its folder.
const (
	sessionJSON = "session.json"
	sessionHTML = "session.html"
)

type sessionFlags struct {
	days   int
	seed   uint64
	out    string
	faults bool
	real   bool
	within time.Duration
}

func (a *app) sessionCommand() *cobra.Command {
	var f sessionFlags
	c := &cobra.Command{
		Use: "session", Short: "Run unattended for days on a virtual clock, and check every limit at the broker", Args: none,
		Long: "A greedy agent trades through the real gate at the shipped limits, on the paper broker and\n" +
			"its simulated prices, from 2026-03-18 on: at the cap on every tick, and beyond it on purpose.\n" +
			"Each limit is held against what the broker recorded, at each step; at the end the journal\n" +
			"is verified as by audit-verify. Nothing of your own accounts is read or written.\n" +
			"The same seed gives the same report. A limit that did not hold is exit code 4.\n\n" +
			"--realtime waits for real time to pass, as the practice clock does: hours in which the\n" +
			"exchange is closed are skipped. It ends with its trade dates, after --for, or with\n" +
			"Ctrl-C, and reports what was run until then.",
		Example: "rails session --days 7 --out report\nrails session --days 30 --seed 5 --faults\nrails session --realtime --for 10m",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case c.Flags().Changed("for") && !f.real:
				return usage("add --realtime", "--for bounds a run in real time")
			case f.within < 0 || f.real && c.Flags().Changed("for") && f.within == 0:
				return usage("write a span such as 10m", "--for %s is no time to run", f.within)
			}
			return a.session(c.Context(), &f)
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.days, "days", 7, "trade dates to run")
	flags.Uint64Var(&f.seed, "seed", 1, "of the agent, the prices and the faults")
	flags.StringVar(&f.out, "out", "", "folder for "+sessionJSON+" and "+sessionHTML+" (default: no files)")
	flags.BoolVar(&f.faults, "faults", false, "have the broker reject, lose replies, and fill in parts, late and twice")
	flags.BoolVar(&f.real, "realtime", false, "run as fast as time goes, and not faster")
	flags.DurationVar(&f.within, "for", 0, "how long --realtime may take (default: until its trade dates are over)")
	return c
}

func (a *app) session(ctx context.Context, f *sessionFlags) error {
	o := sim.Options{Days: f.days, Seed: f.seed, Faults: f.faults, Calendar: market.XNYS(), Version: version, Real: f.real, For: f.within}
	var show *bar
	if f.within > 0 {
		show = a.counting("seconds", int(f.within.Seconds()))
		o.Passed = func(since time.Duration) { show.count(uint64(since.Seconds())) }
	} else {
		show = a.counting("trade dates", f.days)
		o.Progress = func(done, _ int) { show.count(uint64(done)) }
	}
	r, err := sim.Run(ctx, o)
	show.end()
	var days *sim.DaysError
	if errors.As(err, &days) {
		return &failure{code: exitUsage, err: err, hint: "name the trade dates with --days"}
	}
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeSession(f.out, r); err != nil {
			return err
		}
	}
	if a.flags.json {
		err = a.out.json(r)
	} else {
		err = a.printSession(r, f.out)
	}
	switch {
	case err != nil:
		return err
	case !r.Held:
		return silently(exitDenied)
	case r.Mode == account.Halted.String():
		return silently(exitHalted)
	}
	return nil
}

// counting is a bar that counts up to a total.
func (a *app) counting(what string, total int) *bar {
	if !a.errs.terminal || a.flags.json {
		return &bar{}
	}
	return &bar{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.errs.w), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(barAfter), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(false),
	)}
}

func writeSession(dir string, r *sim.Report) error {
	text, err := json.Marshal(r, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	page, err := r.Page()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, sessionJSON), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sessionHTML), page, 0o644)
}

func (a *app) printSession(r *sim.Report, dir string) error {
	p, t := a.out, &r.Totals
	p.line("An unattended session: ", plural(r.Days, "trade date", "trade dates"), ", ", r.From, " through ", r.Through, ", seed ", seqText(r.Seed))
	if r.RealTime {
		p.line("It ran in real time.")
	}
	if r.Stopped != "" {
		p.line("It ended before its last trade date: ", r.Stopped, ". What follows is what was run.")
	}
	p.line()
	p.field("calls", plural(t.Calls, "call", "calls"), " of a greedy agent")
	p.field("sent", plural(t.Orders, "order", "orders"), ", ", plural(t.Replaces, "replace", "replaces"), ", ", plural(t.Cancels, "cancel", "cancels"),
		"; ", plural(t.Fills, "fill", "fills"))
	p.field("denied", plural(t.Denied, "call", "calls"), ", none of which was sent")
	p.field("errors", plural(t.Errors, "call", "calls"), " that could not be judged")
	p.field("broker", plural(t.Rejected, "rejection", "rejections"), ", ", plural(t.InDoubt, "order", "orders"), " in doubt")
	if r.Faults {
		p.field("late fills", seqText(uint64(r.LateOver)), " took position or cash beyond a limit, of orders that the broker had said were over")
	}
	p.line()
	checks := columns("check, at the broker", ">limit", ">peak", ">checked", ">failed")
	for _, c := range r.Checks {
		checks.add(string(c.Check), dash(c.Cap), dash(c.Peak), seqText(uint64(c.Made)), seqText(uint64(c.Failed)))
	}
	p.table(checks, "")
	p.text(r.ChecksNote())
	p.line()
	dates := columns("trade date", ">orders", ">fills", ">denied", ">errors", ">peak exposure", ">largest loss")
	for _, d := range r.Dates {
		dates.add(d.Date, seqText(uint64(d.Orders)), seqText(uint64(d.Fills)), seqText(uint64(d.Denied)), seqText(uint64(d.Errors)), dollars(d.Gross), dollars(d.Loss))
	}
	p.table(dates, "")
	p.text(r.DatesNote())
	p.line()
	for _, v := range r.Violations {
		p.line(p.bad("violation"), " ", marketTime(v.At), " ", string(v.Check), ": ", v.Text)
	}
	for _, d := range r.Audit.Differences {
		p.line(p.bad("journal"), " ", d)
	}
	p.field("journal", seqText(r.Audit.Entries), " entries, ", seqText(uint64(r.Audit.Rederived)), " verdicts derived again, verified: ", map[bool]string{true: "yes", false: "no"}[r.Audit.Verified])
	if dir != "" {
		p.field("report", filepath.Join(dir, sessionHTML), " and ", sessionJSON)
	}
	if r.Held {
		p.field("result", p.good("every limit held"))
	} else {
		p.field("result", p.bad("not every limit held: "), plural(r.Violated, "failed check", "failed checks"))
	}
	return p.failed
}
