package gate

import (
	"context"
	"strconv"
	"time"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/rail"
	"github.com/broker-rails/broker-rails/internal/risk"
)

// CountEvery is how often refusals beyond the spent messages are journaled, as one
// counted entry.
const CountEvery = time.Second

// spentMessages counts refusals that are not journaled one by one.
type spentMessages struct {
	count int
	since time.Time // market time of the newest counted entry
	last  journal.Refusal
}

// Refuse journals a call that never became an intent. The door tells whether it was a
// message and whether it counts as a denial. id is account/seq of the entry, empty when
// the refusal was only counted. An error means that it is not recorded.
func (g *Gate) Refuse(ctx context.Context, r journal.Refusal) (id string, err error) {
	defer g.recovered(ctx, func() { id, err = "", errClosed })
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.catchUp(ctx); err != nil {
		return "", err
	}
	return g.refuse(ctx, r)
}

// refuse journals one refusal, or counts it when the messages are spent. A refusal
// that trips denial_storm brings its mode with it. id is as Refuse gives it. The caller
// holds mu.
func (g *Gate) refuse(ctx context.Context, r journal.Refusal) (id string, err error) {
	if r.Count == 0 {
		r.Count = 1
	}
	m := g.now()
	if (r.Message || r.Denial) && g.bucketSpent(m.at) {
		return g.countRefusal(ctx, r, m.at)
	}
	return g.write(ctx, r)
}

func (g *Gate) write(ctx context.Context, r journal.Refusal) (id string, err error) {
	entries, err := g.commit(ctx, func() ([]draft, time.Time, error) {
		m := g.now()
		drafts := []draft{{journal.KindRefusal, r}}
		if r.Denial && g.stormAfter(r.Count, m.at) && account.Effective(g.state.Mode, g.ctl.Mode) == account.Active {
			drafts = append(drafts, reducedBy(rail.DenialStorm))
		}
		return drafts, m.at, nil
	})
	if err != nil {
		return "", err
	}
	return g.entryID(&entries[0]), nil
}

// entryID is how people and agents name an entry: account/seq.
func (g *Gate) entryID(e *Stored) string {
	return g.cfg.Account + "/" + strconv.FormatUint(e.Seq, 10)
}

// stormAfter reports whether n more denials are more than denial_storm lets pass.
func (g *Gate) stormAfter(n int, now time.Time) bool {
	if g.doc == nil || !g.doc.Session.DenialStorm.On {
		return false
	}
	storm := g.doc.Session.DenialStorm.Value
	return g.state.Denials.Count(now, storm.Window)+n > storm.Denials
}

// bucketSpent reports whether a further message is over max_messages_per_minute in the
// open bucket, which malformed calls draw on.
func (g *Gate) bucketSpent(now time.Time) bool { return g.spentIn(account.BucketOpen, now) }

func (g *Gate) spentIn(bucket string, now time.Time) bool {
	most := refusalsPerMinuteMax
	if g.doc != nil && g.doc.Session.MaxMessagesPerMinute.On {
		most = g.doc.Session.MaxMessagesPerMinute.Value
	}
	return g.state.Messages.Count(now, bucket) >= most
}

// refusalsPerMinuteMax bounds the entries of refused calls a minute when the operator
// has switched the messages' limit off: a flood may not fill the disk.
const refusalsPerMinuteMax = 6_000

// messagesSpent reports whether a decision was denied for its messages: it is counted,
// not journaled in full. One that was refused before the rails is a message as well.
func (g *Gate) messagesSpent(d *risk.Decision, a order.Action, now time.Time) bool {
	if d.Integrity != "" && !d.Allowed() && d.Passes+d.Off == 0 {
		if a == order.ActionCancel {
			return g.spentIn(account.BucketExit, now)
		}
		return g.spentIn(account.BucketOpen, now)
	}
	for i := range d.Findings {
		if d.Findings[i].Rail == rail.MaxMessagesPerMinute {
			return d.Findings[i].Status == rail.Deny
		}
	}
	return false
}

func (g *Gate) countSpent(ctx context.Context, c *Call) (id string, err error) {
	return g.countRefusal(ctx, journal.Refusal{
		Agent: c.Agent, CallID: c.CallID, Code: codeMessagesSpent, Count: 1, Denial: true, Door: c.Door, Message: true,
		RawDigest: c.RawDigest, Text: "messages are spent",
	}, g.now().at)
}

// countRefusal adds to the count; the first of a second, and whatever was counted since,
// goes into one entry, whose id it returns. The caller holds mu.
func (g *Gate) countRefusal(ctx context.Context, r journal.Refusal, now time.Time) (id string, err error) {
	g.spent.count += r.Count
	g.spent.last = r
	if !g.spent.since.IsZero() && now.Sub(g.spent.since) < CountEvery && !now.Before(g.spent.since) {
		return "", nil
	}
	return g.flushSpent(ctx, true)
}

// flushSpent writes the counted entry when it is due, and returns its id. The caller
// holds mu.
func (g *Gate) flushSpent(ctx context.Context, now bool) (id string, err error) {
	if g.spent.count == 0 || g.state == nil || g.broken != nil {
		return "", nil
	}
	at := g.now().at
	if !now && at.Sub(g.spent.since) < CountEvery {
		return "", nil
	}
	r := g.spent.last
	r.Count, r.Code = g.spent.count, codeMessagesSpent
	g.spent = spentMessages{since: at}
	if id, err = g.write(ctx, r); err != nil {
		g.spent.count += r.Count
		g.spent.last = r
	}
	return id, err
}
