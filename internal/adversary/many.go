package adversary

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Play plays the cases, each with as many attackers at once as o says, and calls each with
// every result in the order of the cases. Several attackers share one journal, and each
// has its own accounts in it: what one does must change nothing for another. An error of
// each, or ctx's, ends it.
func playAll(ctx context.Context, cases []Case, o Options, each func(*Result) error) error {
	if o.Attackers > 1 {
		return playTogether(ctx, cases, o, each)
	}
	for i := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := Play(ctx, &cases[i], o)
		if err := ctx.Err(); err != nil {
			return err // a case that was cut off is no violation
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	return nil
}

// playTogether has every attacker play every case, each beginning at another one.
func playTogether(ctx context.Context, cases []Case, o Options, each func(*Result) error) (err error) {
	shared, err := newSite(ctx, o.Files || o.Server != nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.close()) }()
	results := make([][]Result, o.Attackers)
	var all sync.WaitGroup // each goroutine ends with its last case, or with ctx
	for k := range o.Attackers {
		results[k] = make([]Result, len(cases))
		all.Go(func() {
			for n := range cases {
				if ctx.Err() != nil {
					return
				}
				i := (n + k*len(cases)/o.Attackers) % len(cases)
				own := o
				own.site, own.name = shared, fmt.Sprintf("attacker%d-case%d", k+1, i+1)
				results[k][i] = Play(ctx, &cases[i], own)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range cases {
		r := results[0][i]
		for k := range results {
			one := &results[k][i]
			if k > 0 {
				r.Got = union(r.Got, one.Got)
				r.Problems = append(r.Problems[:len(r.Problems):len(r.Problems)], numbered(k+1, one.Problems)...)
			} else {
				r.Problems = numbered(1, one.Problems)
			}
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	if o.Server != nil {
		return nil // what is sent there is not seen message by message
	}
	r := Storm(ctx, cases, o)
	return each(&r)
}

func numbered(k int, problems []string) (out []string) {
	for _, p := range problems {
		out = append(out, fmt.Sprintf("attacker %d: %s", k, p))
	}
	return out
}

func union(a, b []string) []string {
	set := map[string]bool{}
	for _, id := range append(append([]string(nil), a...), b...) {
		set[id] = true
	}
	return sorted(set)
}
