package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/audit"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
	"github.com/broker-rails/broker-rails/internal/tree"
)

type auditView struct {
	Schema   string         `json:"schema"`
	Data     string         `json:"data"`
	Verified bool           `json:"verified"`
	Asked    string         `json:"asked"` // all three questions, or integrity alone
	Entries  uint64         `json:"entries"`
	Accounts []auditAccount `json:"accounts"`
	Tree     auditTree      `json:"tree"`
}

// auditTree is what the checkpoints say that are held, and those that were handed in.
type auditTree struct {
	Checkpoints int    `json:"checkpoints"`
	Newest      int64  `json:"newest"` // entries that the largest vouches for
	Root        string `json:"root"`   // over all entries
	Failure     string `json:"failure,omitzero"`
	// Witnesses is there only when a policy was named.
	Witnesses *auditWitnesses `json:"witnesses,omitzero"`
}

type auditAccount struct {
	Account      string         `json:"account"`
	Entries      uint64         `json:"entries"`
	Head         journal.Hash   `json:"head"`
	Decisions    int            `json:"decisions"`
	Allowed      int            `json:"allowed"`
	Denied       int            `json:"denied"`
	Errors       int            `json:"errors"`
	Rederived    int            `json:"rederived"`
	NotRederived int            `json:"not_rederived"` // by an older engine or another calendar
	Refusals     int            `json:"refusals"`
	Orders       int            `json:"orders_accepted"`
	Rejected     int            `json:"orders_rejected"`
	Fills        int            `json:"fills"`
	DeniedBy     map[string]int `json:"denied_by"`
	// Broker is same, different, behind (the broker has news that the journal has not
	// taken yet), or not_compared.
	Broker  string        `json:"broker"`
	Differs []string      `json:"differs"` // symbols, and cash
	Failure *auditFailure `json:"failure,omitzero"`
}

type auditFailure struct {
	Question string `json:"question"` // integrity, fold or verdict
	Entry    string `json:"entry"`
	Want     string `json:"want"`
	Got      string `json:"got"`
}

// unnamed stands for an account whose name could not be read.
const unnamed = "(unnamed)"

// askedAll is told where all three questions were asked.
const askedAll = "all"

// What a comparison with the broker comes to.
const (
	brokerSame        = "same"
	brokerDifferent   = "different"
	brokerBehind      = "behind"
	brokerNotCompared = "not_compared"
)

func (a *app) auditVerifyCommand() *cobra.Command {
	var known knownHeads
	c := &cobra.Command{
		Use: "audit-verify", Short: "Verify every entry, rebuild every account, and judge every order again", Args: none,
		Long: "Answers three questions with counts: is every entry intact and in order; does the fold\n" +
			"give the account that the broker shows; does every recorded verdict come out again.\n" +
			"A journal whose end was cut off is intact as far as it goes: a head that was written\n" +
			"down before, as status --json shows it, or a checkpoint tells that it went further.\n" +
			"The journal must extend every checkpoint beside it, and those named here.",
		RunE: func(c *cobra.Command, _ []string) error { return a.auditVerify(c.Context(), &known) },
	}
	c.Flags().StringArrayVar(&known.heads, "head", nil, "ACCOUNT/SEQ=HASH: an entry that the journal must hold")
	c.Flags().StringArrayVar(&known.checkpoints, "checkpoint", nil, "file of a checkpoint that was kept elsewhere, as a note or as a line")
	c.Flags().StringVar(&known.policy, "policy", "", "policy file: the newest cosigned checkpoint must have the cosignatures that it asks for")
	c.Flags().BoolVar(&known.integrityOnly, "integrity-only", false, "ask the first question alone: fold nothing, judge nothing again; much faster, in the same memory for any length")
	c.Flags().StringVar(&known.key, "key", "", "public key of --checkpoint, kept elsewhere (default: the one beside the journal)")
	return c
}

// knownHeads is what someone else vouches for.
type knownHeads struct {
	heads, checkpoints []string
	key, policy        string
	integrityOnly      bool
}

// headFrom reads ACCOUNT/SEQ=HASH.
func headFrom(text string) (h audit.Head, err error) {
	name, rest, _ := strings.Cut(text, "/")
	seq, hash, _ := strings.Cut(rest, "=")
	h.Account = name
	h.Seq, err = strconv.ParseUint(seq, 10, 64)
	if err == nil {
		err = h.Hash.UnmarshalText([]byte(hash))
	}
	if err != nil || h.Seq == 0 || !journal.ValidAccount(name) {
		return h, usage("write it as paper/12=, and the 64 hex digits of the entry's hash", "--head %q is not an entry", text)
	}
	return h, nil
}

func (a *app) auditVerify(ctx context.Context, known *knownHeads) error {
	var heads []audit.Head
	for _, text := range known.heads {
		h, err := headFrom(text)
		if err != nil {
			return err
		}
		heads = append(heads, h)
	}
	d, err := a.openJournal(ctx, looking)
	if err != nil {
		return err
	}
	held, failure, err := d.heldAnd(known)
	if err != nil {
		return errors.Join(err, d.Close(ctx))
	}
	kept, err := d.snapshots(ctx)
	if err != nil {
		return errors.Join(err, d.Close(ctx))
	}
	cosigned, failure := d.cosignedIn(failure)
	witnesses, err := d.quorum(known, cosigned, held)
	if err != nil {
		return errors.Join(err, d.Close(ctx))
	}
	pass := tree.Against(append(slices.Clone(held), cosigned...)...)
	bar := a.progress()
	report, err := audit.Verify(ctx, d.entries(pass), audit.Options{
		Calendar: d.calendar, Progress: bar.count, Heads: heads, Ends: d.ends, Snapshots: kept,
		IntegrityOnly: known.integrityOnly, Broker: d.paperRecord,
	})
	bar.end()
	if err = errors.Join(err, d.Close(ctx)); err != nil {
		return unread(err, report)
	}
	if len(report.Accounts) == 0 {
		return nothingToVerify(d.dir)
	}
	v := auditView{Schema: "rails.audit-verify/v1", Data: d.dir, Verified: len(report.Failed()) == 0, Entries: report.Entries}
	v.Asked = askedAll
	if known.integrityOnly {
		v.Asked = string(audit.Integrity)
	}
	v.Tree = viewTree(pass, held, failure)
	v.Tree.Witnesses = witnesses
	v.Verified = v.Verified && v.Tree.Failure == "" && (witnesses == nil || witnesses.Failure == "")
	for _, r := range report.Accounts {
		one := viewAudit(r)
		if r.Account != journal.ControlAccount && !known.integrityOnly {
			if one.Broker, one.Differs, err = againstBroker(ctx, d.dir, r); err != nil {
				return err
			}
		}
		v.Verified = v.Verified && one.Broker != brokerDifferent
		v.Accounts = append(v.Accounts, one)
	}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		err = a.printAudit(&v)
	}
	if err == nil && !v.Verified {
		err = silently(exitAudit)
	}
	return err
}

// unread is what ended an audit before its end. A file that is damaged inside is not
// intact, whatever could still be read of it.
func unread(err error, r *audit.Report) error {
	var journal *sqlite.UnavailableError
	if errors.As(err, &journal) && journal.Reason == sqlite.ReasonCorrupt {
		return &failure{code: exitAudit, what: "NOT VERIFIED: the file is damaged after " + plural(int(r.Entries), "entry", "entries"), err: err, hint: journalHint(journal)}
	}
	return err
}

// entries hands every entry of the journal to the verifier, as it is stored, and to the
// tree.
func (d *deck) entries(pass *tree.Pass) audit.Source {
	return func(ctx context.Context, each func(audit.Item) error) error {
		return d.store.All(ctx, 0, func(s gate.Stored) error {
			pass.Take(s.Index, s.Bytes)
			if s.Account == "" {
				s.Account = unnamed
			}
			item := audit.Item{Account: s.Account, Seq: s.Seq, Bytes: s.Bytes, Stored: s.Hash}
			if s.Damage != "" {
				item.Damage = "row " + countText(int64(s.Index)) + " of the journal is " + s.Damage
			}
			return each(item)
		})
	}
}

// snapshots are the folded states that stand on an entry of the journal. One that cannot
// be read is none, as at a start, which then folds the entries.
func (d *deck) snapshots(ctx context.Context) (out []audit.Snapshot, err error) {
	names, err := d.accounts(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if state, at, err := d.store.LoadSnapshot(ctx, name); err == nil && state != nil {
			out = append(out, audit.Snapshot{Account: name, Seq: at.Seq, State: state})
		}
	}
	return out, nil
}

func nothingToVerify(dir string) error {
	return &failure{
		code: exitAudit, what: "the journal in " + dir + " holds no entry: there is nothing to verify",
		hint: "put a backup in its place, or begin anew with: rails init --adopt --reason R",
	}
}

// ends are the newest entries as the store keeps them beside the chains.
func (d *deck) ends(ctx context.Context) (heads []audit.Head, err error) {
	err = d.store.EachHead(ctx, func(name string, h gate.Head) {
		heads = append(heads, audit.Head{Account: name, Seq: h.Seq, Hash: h.Hash})
	})
	return heads, err
}

func viewAudit(r *audit.AccountReport) auditAccount {
	v := auditAccount{
		Account: plainName(r.Account), Entries: r.Entries, Head: r.Head, Decisions: r.Decisions, Allowed: r.Allowed, Denied: r.Denied,
		Errors: r.Errors, Rederived: r.Rederived, NotRederived: r.NotRederived, Refusals: r.Refusals, Orders: r.Orders,
		Rejected: r.Rejected, Fills: r.Fills, DeniedBy: r.DeniedBy, Broker: brokerNotCompared,
	}
	if f := r.Failure; f != nil {
		v.Failure = &auditFailure{Question: string(f.Question), Entry: plainName(f.Account) + "/" + seqText(f.Seq), Want: journal.BoundText(f.Want, saidBytesMax), Got: journal.BoundText(f.Got, saidBytesMax)}
	}
	return v
}

// saidBytesMax bounds what is shown of an entry that fails.
const saidBytesMax = 512

// plainName is an account's name for a screen: in a file that someone edited it may be
// any text, and the text may steer a terminal.
func plainName(name string) string { return journal.BoundText(name, 64) }

func (a *app) printAudit(v *auditView) error {
	p := a.out
	for i := range v.Accounts {
		r := &v.Accounts[i]
		name := r.Account
		if name == journal.ControlAccount {
			name = "all accounts"
		}
		p.line(p.strong(name), p.dim("  "+plural(int(r.Entries), "entry", "entries")+", head "+short(r.Head.String())))
		a.printQuestions(r, v.Asked == askedAll)
		if r.Broker == brokerBehind {
			p.line("  the broker has news that the journal has not taken yet; take it with: rails reconcile")
		}
		if len(r.Differs) > 0 && r.Broker == brokerDifferent {
			p.line("  ", p.bad("differs from the broker: "), strings.Join(r.Differs, ", "))
		}
		if f := r.Failure; f != nil {
			p.line("  ", p.bad("first failure at "+f.Entry))
			p.line("    wanted  ", f.Want)
			p.line("    found   ", strings.TrimPrefix(f.Got, f.Entry+": "))
		}
	}
	a.printTree(&v.Tree)
	a.printQuorum(v.Tree.Witnesses, v.Entries)
	if v.Verified {
		p.line(p.good("verified"), ": ", plural(int(v.Entries), "entry", "entries"), v.unjudged())
	} else {
		p.line(p.bad("NOT VERIFIED"))
	}
	return p.failed
}

// unjudged says how many verdicts nobody has looked at in full.
func (v *auditView) unjudged() string {
	n := 0
	for i := range v.Accounts {
		n += v.Accounts[i].NotRederived
	}
	if n == 0 {
		return ""
	}
	return "; of " + plural(n, "verdict", "verdicts") + " by an older engine or another calendar it is not known whether it is right"
}

// printQuestions answers the three questions for one account. A failure leaves the
// questions after it without an answer.
func (a *app) printQuestions(r *auditAccount, all bool) {
	answer := func(q audit.Question, yes string) string {
		switch {
		case r.Failure == nil:
			return a.out.good("yes") + "  " + yes
		case r.Failure.Question == string(q):
			return a.out.bad("NO")
		}
		return a.out.dim("up to the failure") + "  " + yes
	}
	a.out.field("  intact", answer(audit.Integrity, plural(int(r.Entries), "entry", "entries")+" in one chain"))
	if !all {
		a.out.field("  rebuilt", a.out.dim("not asked"))
		a.out.field("  judged again", a.out.dim("not asked"))
		return
	}
	a.out.field("  rebuilt", answer(audit.Fold, plural(r.Orders, "order", "orders")+" accepted, "+plural(r.Fills, "fill", "fills")+
		", broker: "+a.out.verdict(strings.ReplaceAll(r.Broker, "_", " "))))
	text := seqText(uint64(r.Rederived)) + " of " + plural(r.Decisions, "verdict", "verdicts") + " again (" +
		seqText(uint64(r.Allowed)) + " allowed, " + seqText(uint64(r.Denied)) + " denied, " + seqText(uint64(r.Errors)) + " error)"
	if r.NotRederived > 0 {
		text += ", " + seqText(uint64(r.NotRederived)) + " by an older engine or another calendar"
	}
	a.out.field("  judged again", answer(audit.Verdict, text))
}

// barAfter is how long work must take before it shows how far it has come.
const barAfter = time.Second

// bar shows how far long work has come, on a terminal and once it takes a second.
type bar struct{ show *progressbar.ProgressBar }

func (a *app) progress() *bar {
	if !a.errs.terminal || a.flags.json {
		return &bar{}
	}
	return &bar{progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(a.errs.w), progressbar.OptionSetDescription("entries"), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(barAfter), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(false),
	)}
}

func (b *bar) count(n uint64) {
	if b.show != nil {
		_ = b.show.Set64(int64(n)) // decoration
	}
}

func (b *bar) end() {
	if b.show != nil {
		_ = b.show.Finish() // decoration
	}
}
