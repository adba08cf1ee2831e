package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/replay"
	"github.com/broker-rails/broker-rails/internal/sim"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

type replayFlags struct {
	from, to market.TradeDate
	fromText string
	toText   string
	assume   string
	page     string
	shown    int
	days     int
	seed     uint64
}

// replayShown is how many changed decisions a terminal gets; the rest stands in --json.
const replayShown = 20

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use: "replay", Short: "Run recorded history under other limits, and show what changes and why", Args: none,
		Long: "Reads the account's journal, verifies it, and judges every recorded decision again under the\n" +
			"limits document that --limits names, in two ways, both shown:\n\n" +
			"as recorded  each decision on the account as it was. Nothing is assumed.\n" +
			"followed     the history folded again under the other limits: what is newly denied does not\n" +
			"             fill, and is not held later. The agent makes the same calls. What is newly allowed\n" +
			"             fills at the first recorded quote that reaches its price (--assume fill), or works\n" +
			"             and never fills (--assume none); every later change says that it depends on it.\n\n" +
			"The journal is only read, also while a server runs. One that does not verify is exit code 6.\n" +
			"Where there is no journal, or with --session, a simulated session is replayed instead.",
		Example: "rails replay --limits stricter.yaml --html replay.html\nrails replay --session 7 --limits stricter.yaml\nrails replay --from 2026-03-18 --to 2026-03-20 --assume none --json",
		RunE:    func(c *cobra.Command, _ []string) error { return a.replay(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.fromText, "from", "", "first trade date: before it the recorded limits hold")
	flags.StringVar(&f.toText, "to", "", "last trade date")
	flags.StringVar(&f.assume, "assume", string(replay.AssumeFill), "what becomes of an order that is newly allowed: fill or none")
	flags.StringVar(&f.page, "html", "", "file for the report as a page")
	flags.IntVar(&f.shown, "show", replayShown, "changed decisions to list")
	flags.IntVar(&f.days, "session", 0, "replay a simulated session of so many trade dates, and no journal")
	flags.Uint64Var(&f.seed, "seed", 1, "of the simulated session")
	return c
}

func (a *app) replay(ctx context.Context, f *replayFlags) error {
	if err := f.read(); err != nil {
		return err
	}
	if f.days == 0 && a.flags.data == "" && a.flags.limits == "" && a.flags.account == "" && !a.hasJournal() {
		return a.replayTour(ctx, f)
	}
	r, err := a.replayed(ctx, f)
	if err != nil {
		return err
	}
	return a.showReplay(r, f)
}

func (f *replayFlags) read() error {
	for _, one := range []struct {
		name, text string
		to         *market.TradeDate
	}{{"from", f.fromText, &f.from}, {"to", f.toText, &f.to}} {
		if one.text == "" {
			continue
		}
		date, err := market.ParseTradeDate(one.text)
		if err != nil {
			return usage("write it as 2026-03-18", "--%s %q is not a date", one.name, one.text)
		}
		*one.to = date
	}
	switch {
	case f.to != 0 && f.from > f.to:
		return usage("swap them", "--from %s is after --to %s", f.from, f.to)
	case f.assume != string(replay.AssumeFill) && f.assume != string(replay.AssumeNone):
		return usage("it is fill or none", "--assume %q is not known", f.assume)
	case f.shown < 0:
		return usage("", "--show cannot be negative")
	}
	return nil
}

func (a *app) hasJournal() bool {
	dir, err := a.dataFolder()
	return err == nil && present(filepath.Join(dir, sqlite.FileName))
}

// replayed replays the journal, or a simulated session.
func (a *app) replayed(ctx context.Context, f *replayFlags) (*replay.Report, error) {
	path, text, doc, err := a.otherLimits(f.days > 0)
	if err != nil {
		return nil, err
	}
	o := replay.Options{
		Account: doc.Account, Limits: doc, Text: string(text), Assume: replay.Assumption(f.assume), From: f.from, To: f.to,
	}
	if f.days > 0 {
		if doc.Account != defaultAccount {
			return nil, otherAccount(path, "account", doc.Account, defaultAccount)
		}
		source, err := a.simulated(ctx, f)
		if err != nil {
			return nil, err
		}
		o.Audit = audit.Options{Calendar: market.XNYS()}
		return replayOf(ctx, source, o, path)
	}
	d, err := a.openJournal(ctx, looking)
	if err != nil {
		return nil, err
	}
	r, err := a.replayJournal(ctx, d, o, path)
	return r, errors.Join(err, d.Close(ctx))
}

func (a *app) replayJournal(ctx context.Context, d *deck, o replay.Options, path string) (*replay.Report, error) {
	if err := d.name(ctx, a.flags.account); err != nil {
		return nil, err
	}
	if d.account != o.Account {
		return nil, otherAccount(path, "account", o.Account, d.account)
	}
	bar := a.progress()
	defer bar.end()
	o.Audit = audit.Options{Calendar: d.calendar, Progress: bar.count, Ends: d.ends}
	return replayOf(ctx, d.plainEntries(), o, path)
}

// plainEntries are the entries of the journal as they are stored.
func (d *deck) plainEntries() audit.Source {
	return func(ctx context.Context, each func(audit.Item) error) error {
		return d.store.All(ctx, 0, func(s gate.Stored) error {
			return each(audit.Item{Account: s.Account, Seq: s.Seq, Bytes: s.Bytes, Stored: s.Hash})
		})
	}
}

func replayOf(ctx context.Context, source audit.Source, o replay.Options, path string) (*replay.Report, error) {
	r, found, err := replay.Run(ctx, source, o)
	var other *replay.OtherAccountError
	var none *replay.NoAccountError
	switch {
	case errors.As(err, &other):
		return nil, otherAccount(path, other.Field, other.Limits, other.Journal)
	case errors.As(err, &none):
		return nil, failed("see which there are with: rails audit-verify", "%v", err)
	case err != nil:
		return nil, err
	case r == nil:
		first := found.Failed()[0]
		return nil, &failure{
			code: exitAudit, what: "the journal does not verify: " + journal.BoundText(first.Error(), saidBytesMax),
			hint: "what happened is not proved, so nothing is replayed; see: rails audit-verify",
		}
	}
	return r, nil
}

func otherAccount(path, field, inLimits, inJournal string) error {
	return &failure{
		code: exitLimits, what: path + " is for " + field + " " + inLimits + ", the journal is of " + inJournal,
		hint: "write " + inJournal + " after " + field + ":, or name another file with --limits",
	}
}

// otherLimits are the limits to replay under: --limits, else the operator's of today; for
// a simulated session the shipped ones.
func (a *app) otherLimits(simulated bool) (path string, text []byte, doc *limits.Document, err error) {
	if simulated && a.flags.limits == "" {
		path, text = "the shipped limits", limits.Template(defaultAccount)
	} else {
		if path, err = a.limitsFile(); err != nil {
			return "", nil, nil, err
		}
		if text, err = readLimits(path); err != nil {
			return "", nil, nil, err
		}
	}
	doc, err = limits.Load(path, text)
	return path, text, doc, err
}

// simulated is the journal of a simulated session.
func (a *app) simulated(ctx context.Context, f *replayFlags) (audit.Source, error) {
	var items []audit.Item
	_, err := sim.Run(ctx, sim.Options{
		Days: f.days, Seed: f.seed, Calendar: market.XNYS(), Version: version,
		Keep: func(account string, b []byte, h journal.Hash) error {
			items = append(items, audit.Item{Account: account, Bytes: b, Stored: h})
			return nil
		},
	})
	var days *sim.DaysError
	if errors.As(err, &days) {
		return nil, &failure{code: exitUsage, err: err, hint: "name the trade dates with --session"}
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, each func(audit.Item) error) error {
		for _, i := range items {
			if err := each(i); err != nil {
				return err
			}
		}
		return ctx.Err()
	}, nil
}

func (a *app) showReplay(r *replay.Report, f *replayFlags) error {
	if f.page != "" {
		page, err := r.Page()
		if err != nil {
			return err
		}
		if err := os.WriteFile(f.page, page, 0o644); err != nil {
			return failed("name a file in a folder that you can write with --html", "the page was not written: %v", err)
		}
	}
	if a.flags.json {
		return a.out.json(r)
	}
	return a.printReplay(r, f)
}
