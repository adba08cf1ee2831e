package cli

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/attest"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// Limits of the flags that say when a checkpoint is due.
const (
	checkpointEntriesMax = 1_000_000
	checkpointEveryMin   = time.Second
	checkpointEveryMax   = 24 * time.Hour
)

type attestFlags struct {
	entries int64
	every   time.Duration
	policy  string
}

func (f *attestFlags) check() error {
	switch {
	case f.entries < 1 || f.entries > checkpointEntriesMax:
		return usage("write a number from 1 to 1000000", "--checkpoint-entries %d is not one", f.entries)
	case f.every < checkpointEveryMin || f.every > checkpointEveryMax:
		return usage("write a duration from 1s to 24h", "--checkpoint-every %s is not one", f.every)
	}
	return nil
}

// witnesses are those of the policy that can be asked.
func (f *attestFlags) witnesses(dir string) ([]verify.Witness, error) {
	_, list, err := (&cosignFlags{policy: f.policy}).cosigners(dir)
	return withAddress(list), err
}

// attest signs checkpoints beside the server until the function that it returns is
// called, which signs the last one. Call it when nothing writes to the journal any more.
func (d *deck) attest(ctx context.Context, f *attestFlags, witnesses []verify.Witness, log *slog.Logger) (end func()) {
	keeper := attest.New(attest.Options{
		Folder: tree.In(d.dir), Journal: d.store, Witnesses: witnesses, EntriesEvery: f.entries, SignEvery: f.every,
		Session: d.sessionName, Wall: wall, Log: log,
	})
	// It outlives the server: what the server writes last is signed too.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var task sync.WaitGroup
	task.Go(func() { keeper.Run(ctx) })
	return func() {
		stop()
		task.Wait()
	}
}

// sessionName names the exchange's session and its trade date.
func (d *deck) sessionName() string {
	s := market.Session(d.clock.Read().Market, d.calendar)
	return s.TradeDate.String() + " " + s.Kind.String()
}

// checkpointsView is how far the journal is signed and cosigned.
type checkpointsView struct {
	Newest    *checkpointAge         `json:"newest"`   // null: none is held
	Cosigned  *checkpointAge         `json:"cosigned"` // null: none is cosigned
	QuorumMet bool                   `json:"quorum_met"`
	Missing   []string               `json:"missing"` // witnesses of the policy that have not cosigned it
	Failure   string                 `json:"failure,omitzero"`
	Witnesses []attest.WitnessHealth `json:"witnesses"` // as the server asked them last
}

type checkpointAge struct {
	Size    int64     `json:"size"`
	At      time.Time `json:"at"` // when its file was written; of a cosigned one, what the newest witness says
	AgeSecs int64     `json:"age_seconds"`
}

func ageOf(size int64, at, now time.Time) *checkpointAge {
	return &checkpointAge{Size: size, At: at.UTC().Truncate(time.Second), AgeSecs: max(0, int64(now.Sub(at)/time.Second))}
}

// checkpoints says how far the journal is signed. What cannot be read is told, and is no
// reason to show nothing else.
func (d *deck) checkpoints() checkpointsView {
	folder, now := tree.In(d.dir), wall()
	v := checkpointsView{Missing: []string{}, Witnesses: []attest.WitnessHealth{}}
	text, err := folder.Health()
	if h, known := attest.ReadHealth(text); err == nil && known {
		v.Failure, v.Witnesses = h.Failure, append(v.Witnesses, h.Witnesses...)
	}
	newest, held, err := folder.Newest()
	if err == nil && held {
		var at time.Time
		at, err = folder.WrittenAt(tree.FileName(newest.Size))
		v.Newest = ageOf(newest.Size, at, now)
	}
	cosigned, some, errCosigned := folder.NewestCosigned()
	if errCosigned == nil && some {
		errCosigned = v.cosigned(d.dir, folder, cosigned, now)
	}
	if err = errors.Join(err, errCosigned); err != nil {
		v.Failure = err.Error()
	}
	return v
}

// cosigned fills in what the policy's witnesses say; without a policy nobody can tell
// whose cosignatures they are.
func (v *checkpointsView) cosigned(dir string, folder tree.Folder, c verify.Checkpoint, now time.Time) error {
	at, err := folder.WrittenAt(tree.CosignedName(c.Size))
	if err != nil {
		return err
	}
	v.Cosigned = ageOf(c.Size, at, now)
	policy, err := policyBeside(dir)
	if err != nil || policy == nil {
		return err
	}
	key, _, err := folder.Public()
	if err != nil {
		return err
	}
	q, err := policy.Check(c.Signed, key)
	if err != nil {
		return err
	}
	v.QuorumMet, v.Missing = q.Met, append(v.Missing, q.Missing()...)
	var said time.Time
	for _, w := range q.Witnesses {
		if w.At.After(said) {
			said = w.At
		}
	}
	if !said.IsZero() {
		v.Cosigned = ageOf(c.Size, said, now)
	}
	return nil
}

func (a *app) printCheckpoints(v *checkpointsView) {
	p := a.out
	if v.Newest == nil {
		p.field("checkpoint", "none held; rails serve signs them, and: rails audit checkpoint")
	} else {
		p.field("checkpoint", plural(int(v.Newest.Size), "entry", "entries"), " signed ", ageText(v.Newest))
	}
	if v.Cosigned != nil {
		text := []string{plural(int(v.Cosigned.Size), "entry", "entries"), " cosigned ", ageText(v.Cosigned)}
		if len(v.Missing) > 0 {
			text = append(text, p.warn("  missing "+strings.Join(v.Missing, ", ")))
		}
		p.field("", text...)
	}
	if v.Failure != "" {
		p.field("", p.bad("no checkpoint is signed: "+v.Failure))
	}
	for _, w := range v.Witnesses {
		if w.Failure != "" {
			p.field("witness", p.warn(w.Failure))
		}
	}
}

// ageText is an age to the precision that somebody reads it for.
func ageText(c *checkpointAge) string {
	age := time.Duration(c.AgeSecs) * time.Second
	switch {
	case age >= 48*time.Hour:
		return plural(int(age/(24*time.Hour)), "day", "days") + " ago"
	case age >= 2*time.Hour:
		return plural(int(age/time.Hour), "hour", "hours") + " ago"
	case age >= 2*time.Minute:
		return plural(int(age/time.Minute), "minute", "minutes") + " ago"
	}
	return plural(int(c.AgeSecs), "second", "seconds") + " ago"
}
