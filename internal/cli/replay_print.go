package cli

import (
	"context"
	"strconv"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/replay"
)

func (a *app) printReplay(r *replay.Report, f *replayFlags) error {
	p := a.out
	p.line(p.strong(r.Account), p.dim("  "+dash(r.From)+" through "+dash(r.Through)+", under limits "+short(r.Limits)))
	if len(r.Differ) == 0 {
		p.line("these limits are the newest recorded ones")
	} else {
		a.changes(r.Differ)
	}
	p.line()
	a.replayCounts(r)
	if len(r.Rails) > 0 {
		p.line()
		rails := columns("denied by", ">recorded", ">as recorded", ">followed")
		for _, row := range r.Rails {
			rails.add(row.Rail, count(row.Recorded), count(row.AsRecorded), count(row.Followed))
		}
		p.table(rails, "")
	}
	if len(r.Dates) > 1 {
		p.line()
		dates := columns("trade date", ">decisions", ">newly denied", ">newly allowed", ">followed, changed", ">peak exposure", ">followed")
		for _, d := range r.Dates {
			dates.add(d.Date, count(d.Decisions), count(d.AsRecorded.NewlyDenied), count(d.AsRecorded.NewlyAllowed), count(d.Changed), dollars(d.PeakRecorded), dollars(d.PeakFollowed))
		}
		p.table(dates, "")
	}
	a.replayChanged(r, f)
	if f.page != "" {
		p.field("page", f.page)
	}
	return p.failed
}

func count(n int) string { return strconv.Itoa(n) }

// replayCounts shows what the two ways come to, beside the record.
func (a *app) replayCounts(r *replay.Report) {
	p := a.out
	t := columns("", ">recorded", ">as recorded", ">followed")
	t.add("allowed", count(r.Recorded.Allowed), count(r.AsRecorded.Allowed), count(r.Followed.Allowed))
	t.add("denied", count(r.Recorded.Denied), count(r.AsRecorded.Denied), count(r.Followed.Denied))
	t.add("errors", count(r.Recorded.Errors), count(r.AsRecorded.Errors), count(r.Followed.Errors))
	t.add("newly denied", "", count(r.AsRecorded.NewlyDenied), count(r.Followed.NewlyDenied))
	t.add("newly allowed", "", count(r.AsRecorded.NewlyAllowed), count(r.Followed.NewlyAllowed))
	t.add("by other rails", "", count(r.AsRecorded.OtherRails), count(r.Followed.OtherRails))
	t.add("no such call", "", "", count(r.Followed.Gone))
	t.add("depends on assumption", "", "", count(r.Followed.Depends))
	t.add("fills", count(r.Recorded.Fills), "", count(r.Followed.Fills))
	t.add("turnover", dollars(r.Recorded.Turnover), "", dollars(r.Followed.Turnover))
	t.add("peak gross exposure", dollars(r.Recorded.PeakGross), "", dollars(r.Followed.PeakGross))
	t.add("equity at the end", dollars(r.Recorded.Equity), "", dollars(r.Followed.Equity))
	p.table(t, "")
	if r.NotJudged > 0 {
		p.line(p.warn("not judged: "), plural(r.NotJudged, "decision", "decisions"), " of another engine version or calendar; each stands as it was recorded")
	}
	if r.Uncounted > 0 {
		p.line(p.dim(plural(r.Uncounted, "call", "calls") + " came after the recorded limit on messages was spent; what they asked for is not in the journal"))
	}
	if r.Followed.Unfollowed > 0 {
		p.line(p.warn("not followed: "), plural(r.Followed.Unfollowed, "entry", "entries"), " that the other history could not take")
	}
	if r.Followed.FillsAssumed+r.Followed.Depends > 0 {
		p.line(p.dim("assumed: " + map[replay.Assumption]string{
			replay.AssumeFill: "what is newly allowed fills whole at the first recorded quote that reaches its price",
			replay.AssumeNone: "what is newly allowed works and never fills",
		}[r.Assume] + "; the agent makes the same calls"))
	}
}

func (a *app) replayChanged(r *replay.Report, f *replayFlags) {
	p := a.out
	p.line()
	if r.ChangedAll == 0 {
		p.line(p.good("no verdict changes"), " in ", plural(r.Decisions, "decision", "decisions"))
		return
	}
	shown := min(f.shown, len(r.Changed))
	if shown > 0 {
		t := columns("decision", "New York", "order", "recorded", "would be", "followed", "why", "rails")
		for i := range r.Changed[:shown] {
			c := &r.Changed[i]
			t.add(c.Entry, marketTime(c.At), c.Order(), p.verdict(c.Recorded.Verdict), p.verdict(c.AsRecorded.Verdict), p.verdict(c.Followed.Verdict), c.Why, c.Rails())
		}
		p.table(t, "")
	}
	p.line(plural(r.ChangedAll, "decision changes", "decisions change"), ", ", count(shown), " shown; why: limits = on the account as it was, history = only by what came before")
}

// replayTourView is the tour in JSON.
type replayTourView struct {
	Schema  string           `json:"schema"`
	Replays []*replay.Report `json:"replays"`
}

// replayTour is what a newcomer sees: a simulated day under stricter and looser limits.
func (a *app) replayTour(ctx context.Context, f *replayFlags) error {
	f.days = 1
	source, err := a.simulated(ctx, f)
	if err != nil {
		return err
	}
	shipped, err := limits.Load("shipped limits", limits.Template(defaultAccount))
	if err != nil {
		return err
	}
	if f.shown == replayShown {
		f.shown = 5
	}
	v := replayTourView{Schema: "rails.replay-tour/v1"}
	if !a.flags.json {
		a.out.line("There is no journal yet, so here is a simulated day of a greedy agent at the shipped limits,")
		a.out.line("replayed under two other sets. Your own: rails replay --limits FILE, once rails init has made a journal.")
	}
	for _, one := range []struct{ title, text string }{
		{"stricter: half the order, three orders a minute", "size: {max_order_notional: 12500}\nsession: {max_orders_per_minute: 3}\n"},
		{"looser: TSLA as well, no cap on one order's shares", "instrument: {symbols: [AAPL, AMZN, GOOGL, MSFT, NVDA, QQQ, SPY, TSLA]}\nsize: {max_order_qty: off}\n"},
	} {
		doc, err := limits.Over(shipped, one.title, []byte(one.text))
		if err != nil {
			return err
		}
		r, err := replayOf(ctx, source, replay.Options{
			Account: doc.Account, Limits: doc, Text: one.text, Assume: replay.Assumption(f.assume), From: f.from, To: f.to,
			Audit: audit.Options{Calendar: market.XNYS()},
		}, one.title)
		if err != nil {
			return err
		}
		if v.Replays = append(v.Replays, r); a.flags.json {
			continue
		}
		a.out.line()
		a.out.line(a.out.strong(one.title))
		if err := a.showReplay(r, f); err != nil {
			return err
		}
		f.page = "" // the page is of the first
	}
	if a.flags.json {
		return a.out.json(v)
	}
	return a.out.failed
}
