package cli

import (
	"context"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
)

func (a *app) limitsCommand() *cobra.Command {
	return group("limits", "Work on the limits document",
		&cobra.Command{
			Use: "schema", Short: "Print the document's JSON schema, for editors", Args: none,
			RunE: func(*cobra.Command, []string) error {
				text := jsontext.Value(limits.Schema())
				if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
					return err
				}
				a.out.line(string(text))
				return a.out.failed
			},
		},
		&cobra.Command{
			Use: "diff [FILE]", Short: "Show what a document would tighten and loosen against the limits in force",
			Args: atMost(1, "at most one file"),
			RunE: func(c *cobra.Command, args []string) error { return a.limitsDiff(c.Context(), args) },
		},
		a.limitsLintCommand(),
		a.limitsBoundCommand(),
	)
}

type limitsDiffView struct {
	Schema  string          `json:"schema"`
	Account string          `json:"account"`
	File    string          `json:"file"`
	InForce string          `json:"in_force"` // fingerprint; empty before the first limits
	New     string          `json:"new"`
	Changes []limits.Change `json:"changes"`
}

func (a *app) limitsDiff(ctx context.Context, args []string) error {
	path, err := a.limitsFile()
	if err == nil && len(args) == 1 {
		path, err = filepath.Abs(args[0])
	}
	if err != nil {
		return err
	}
	text, err := readLimits(path)
	if err != nil {
		return err
	}
	doc, err := limits.Load(path, text)
	if err != nil {
		return err
	}
	v := limitsDiffView{Schema: "rails.limits-diff/v1", File: path, New: doc.Fingerprint}
	err = a.withDeck(ctx, looking, func(d *deck) error {
		v.Account = d.account
		return d.gate.View(ctx, func(now gate.View) {
			v.Changes = limits.Diff(now.Limits, doc)
			if now.Limits != nil {
				v.InForce = now.Limits.Fingerprint
			}
		})
	})
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.changes(v.Changes)
	return a.out.failed
}

// changes lists what differs between two documents.
func (a *app) changes(list []limits.Change) {
	if len(list) == 0 {
		a.out.line("no figure differs")
		return
	}
	t := columns("key", "in force", "new", "effect")
	for _, c := range list {
		t.add(c.Key, dash(c.Old), dash(c.New), a.effect(c.Effect))
	}
	a.out.table(t, "")
}

func (a *app) effect(e limits.Effect) string {
	switch e {
	case limits.Tightens:
		return a.out.good(e.String())
	case limits.Loosens:
		return a.out.bad(e.String())
	default:
		return e.String()
	}
}

type showLimitsView struct {
	Schema      string           `json:"schema"`
	Account     string           `json:"account"`
	Mode        string           `json:"mode"`
	Fingerprint string           `json:"fingerprint"`
	Figures     []figureView     `json:"figures"`
	Off         []string         `json:"off"`
	Warnings    []limits.Warning `json:"warnings"`
}

type figureView struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	About string `json:"about"`
}

func (a *app) showLimitsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show-limits", Short: "Show the limits in force, and which rails are off", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withDeck(c.Context(), looking, func(d *deck) error { return a.showLimits(c.Context(), d) })
		},
	}
}

func (a *app) showLimits(ctx context.Context, d *deck) error {
	v := showLimitsView{Schema: "rails.show-limits/v1", Account: d.account}
	live := false
	err := d.gate.View(ctx, func(now gate.View) {
		v.Mode = now.Mode.String()
		if now.Limits == nil {
			return
		}
		live = now.Limits.Mode == limits.Live
		v.Fingerprint, v.Off, v.Warnings = now.Limits.Fingerprint, now.Limits.Off(), now.Limits.Warnings()
		v.Figures = figuresOf(now.Limits)
	})
	if err != nil {
		return err
	}
	if v.Fingerprint == "" {
		return &failure{code: exitLimits, what: "account " + d.account + " has no limits in force", hint: "load them with: rails reload"}
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.out.line(a.out.badge(live), " ", a.out.strong(d.account), "  limits ", v.Fingerprint)
	t := columns("key", "value", "about")
	for _, f := range v.Figures {
		value := f.Value
		if value == "off" {
			value = a.out.warn(value)
		}
		t.add(f.Key, value, a.out.dim(f.About))
	}
	a.out.table(t, "")
	a.out.line(plural(len(v.Off), "limit is off", "limits are off"))
	for _, w := range v.Warnings {
		a.out.line(a.out.warn("warning: "), w.Key, " ", w.Problem)
	}
	return a.out.failed
}

// figuresOf lists every key of a document with its value, in the shipped order. A diff
// against nothing is such a list.
func figuresOf(doc *limits.Document) []figureView {
	about := map[string]string{}
	for _, k := range limits.Keys() {
		about[k.Path] = k.About
	}
	var out []figureView
	for _, c := range limits.Diff(nil, doc) {
		out = append(out, figureView{Key: c.Key, Value: c.New, About: about[c.Key]})
	}
	return out
}

func (a *app) reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use: "reload", Short: "Put the limits document in force", Args: none,
		Long: "Reads the limits document and, if it is valid, puts it in force for every process\n" +
			"that shares the journal. An invalid document changes nothing.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withDeck(c.Context(), ruling, func(d *deck) error { return a.reload(c.Context(), d) })
		},
	}
}

type reloadView struct {
	Schema      string          `json:"schema"`
	Account     string          `json:"account"`
	File        string          `json:"file"`
	Fingerprint string          `json:"fingerprint"`
	Changes     []limits.Change `json:"changes"`
}

func (a *app) reload(ctx context.Context, d *deck) error {
	path, err := a.limitsFile()
	if err != nil {
		return err
	}
	v := reloadView{Schema: "rails.reload/v1", Account: d.account, File: path}
	if v.Changes, err = d.load(ctx, path); err != nil {
		return err
	}
	if err := d.gate.View(ctx, func(now gate.View) { v.Fingerprint = now.State.Fingerprint }); err != nil {
		return err
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.changes(v.Changes)
	a.out.line("limits ", v.Fingerprint, " are in force for ", a.out.strong(d.account))
	return a.out.failed
}

// load reads the limits document and puts it in force.
func (d *deck) load(ctx context.Context, path string) ([]limits.Change, error) {
	text, err := readLimits(path)
	if err != nil {
		d.gate.InvalidateLimits()
		return nil, err
	}
	return d.gate.LoadLimits(ctx, path, text, d.operator())
}
