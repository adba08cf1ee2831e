package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/broker-rails/broker-rails/internal/attest"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/verify"
)

// policyPath is where a journal's own policy file stands.
func policyPath(dir string) string { return filepath.Join(dir, policyName) }

// policyName is the policy file in a data folder. It is none of the checkpoints: a new
// journal in their place has the same witnesses.
const policyName = "witness.policy"

func wall() time.Time { return clock.NewSystem().Read().Wall }

type cosignFlags struct {
	policy string
	only   []string // names or addresses of witnesses
}

type cosignatureView struct {
	Witness  string    `json:"witness"`
	Cosigned time.Time `json:"cosigned_at,omitzero"`
	Failure  string    `json:"failure,omitzero"`
}

// cosigners are the witnesses to ask, and the policy that names them; none if there is
// no policy.
func (f *cosignFlags) cosigners(dir string) (*verify.Policy, []verify.Witness, error) {
	var policy *verify.Policy
	var err error
	if f.policy != "" {
		policy, err = readPolicy(f.policy)
	} else {
		policy, err = policyBeside(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	const hint = "its lines are printed by: rails witness; name the file with --policy, or keep it as " + policyName + " in the data folder"
	if policy == nil {
		if len(f.only) > 0 {
			return nil, nil, usage(hint, "a witness is only as good as the key that it is known by, and no policy file names one")
		}
		return nil, nil, nil
	}
	if len(f.only) == 0 {
		return policy, withAddress(policy.Witnesses), nil
	}
	var chosen []verify.Witness
	for _, name := range f.only {
		i := slices.IndexFunc(policy.Witnesses, func(w verify.Witness) bool {
			return w.Name == name || w.URL != "" && strings.TrimSuffix(w.URL, "/") == strings.TrimSuffix(name, "/")
		})
		if i < 0 {
			return nil, nil, usage(hint, "the policy names no witness %q", name)
		}
		chosen = append(chosen, policy.Witnesses[i])
	}
	return policy, chosen, nil
}

// withAddress are the witnesses that can be asked.
func withAddress(all []verify.Witness) []verify.Witness {
	return slices.DeleteFunc(slices.Clone(all), func(w verify.Witness) bool { return w.URL == "" })
}

// cosign asks witnesses for a checkpoint that is held. It returns what came of each, and
// the checkpoint with the cosignatures that it has now.
func (d *deck) cosign(ctx context.Context, c verify.Checkpoint, witnesses []verify.Witness) (views []cosignatureView, cosigned verify.Checkpoint, broken, err error) {
	folder := tree.In(d.dir)
	answers, err := attest.Ask(ctx, folder, d.store, c, witnesses, wall, nil)
	if err != nil {
		return nil, c, nil, err
	}
	for _, answer := range answers {
		v := cosignatureView{Witness: answer.Witness, Cosigned: answer.Cosigned}
		if answer.Err != nil {
			v.Failure = answer.Err.Error()
		}
		views = append(views, v)
	}
	c, err = folder.WithCosignatures(c)
	return views, c, attest.Broken(answers), err
}

// cosignFailed is what a checkpoint command ends with when a witness did not cosign.
func (a *app) cosignFailed(views []cosignatureView, broken error) error {
	if broken != nil {
		return &failure{code: exitAudit, what: "signed and kept; a witness knows another history", err: broken, hint: hintBehind}
	}
	var missing []string
	for _, v := range views {
		if v.Failure != "" {
			a.errs.line("rails: ", v.Failure)
			missing = append(missing, v.Witness)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return failed("ask again with: rails audit checkpoint", "signed and kept; not cosigned by %s", strings.Join(missing, ", "))
}

// auditWitnesses is how the newest cosigned checkpoint stands under a policy.
type auditWitnesses struct {
	Policy   string            `json:"policy"`
	Size     int64             `json:"size"` // entries that it vouches for; 0: none is cosigned
	Met      bool              `json:"quorum_met"`
	Cosigned []cosignatureView `json:"cosigned"`
	Missing  []string          `json:"missing"`
	Failure  string            `json:"failure,omitzero"`
}

// quorum holds the newest checkpoint that witnesses have cosigned against a policy. Those
// handed in count too: they may be newer than what is held.
func (d *deck) quorum(known *knownHeads, cosigned, handed []verify.Checkpoint) (*auditWitnesses, error) {
	if known.policy == "" {
		return nil, nil //nolint:nilnil // none is asked for
	}
	policy, err := readPolicy(known.policy)
	if err != nil {
		return nil, err
	}
	v := &auditWitnesses{Policy: known.policy, Cosigned: []cosignatureView{}, Missing: []string{}}
	key, err := d.trustedKey(known)
	if err != nil {
		v.Failure = "there is no public key of this journal: " + err.Error()
		return v, nil //nolint:nilerr // it is the audit's answer
	}
	best := &verify.Quorum{}
	for _, c := range append(slices.Clone(handed), cosigned...) {
		q, err := policy.Check(c.Signed, key)
		if err != nil {
			v.Failure = err.Error()
			return v, nil //nolint:nilerr // likewise
		}
		any := len(q.Missing()) < len(q.Witnesses)
		if c.Size > best.Checkpoint.Size && (any || q.Met) || c.Size == best.Checkpoint.Size && q.Met {
			best = q
		}
	}
	v.fill(policy, best)
	return v, nil
}

func (d *deck) trustedKey(known *knownHeads) (verify.Key, error) {
	if known.key != "" {
		return readKey(known.key)
	}
	key, _, err := tree.In(d.dir).Public()
	return key, err
}

func (v *auditWitnesses) fill(policy *verify.Policy, q *verify.Quorum) {
	v.Size, v.Met, v.Missing = q.Checkpoint.Size, q.Met, q.Missing()
	if v.Size == 0 {
		for _, w := range policy.Witnesses {
			v.Missing = append(v.Missing, w.Name)
		}
		v.Failure = "no checkpoint is cosigned: missing " + strings.Join(v.Missing, ", ")
		return
	}
	for _, w := range q.Witnesses {
		if !w.At.IsZero() {
			v.Cosigned = append(v.Cosigned, cosignatureView{Witness: w.Witness, Cosigned: w.At})
		}
	}
	if !v.Met {
		v.Failure = "checkpoint of size " + countText(v.Size) + ": " + verify.ErrQuorum.Error() + ": missing " + strings.Join(v.Missing, ", ")
	}
}

func (a *app) printQuorum(v *auditWitnesses, entries uint64) {
	if v == nil {
		return
	}
	if v.Failure != "" {
		a.out.field("witnesses", a.out.bad("NO")+"  "+v.Failure)
		return
	}
	var names []string
	for _, c := range v.Cosigned {
		names = append(names, c.Witness+" at "+c.Cosigned.Format(time.DateTime)+" UTC")
	}
	text := "the first " + countText(v.Size) + " of " + seqText(entries) + " entries are cosigned by " + strings.Join(names, ", ")
	if len(names) == 0 {
		text = "the policy asks for no cosignature"
	}
	a.out.field("witnesses", a.out.good("yes")+"  "+text)
}

// cosignedIn are the cosigned checkpoints beside the journal. One that does not verify is
// a failure of the audit.
func (d *deck) cosignedIn(failure string) ([]verify.Checkpoint, string) {
	cosigned, err := tree.In(d.dir).Cosigned()
	if err != nil {
		return nil, errorText(failure, err)
	}
	return cosigned, failure
}

func errorText(first string, err error) string {
	if first != "" {
		return first
	}
	return err.Error()
}
