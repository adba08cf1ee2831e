package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/lint"
	"github.com/broker-rails/broker-rails/internal/money"
)

type lintFlags struct {
	out, html, equity string
	strict, long      bool
}

func (a *app) limitsLintCommand() *cobra.Command {
	var f lintFlags
	c := &cobra.Command{
		Use: "lint", Short: "Say which rails can deny alone, which never do, and which positions cannot be closed", Args: none,
		Long: "For every rail: off; never alone, with the arithmetic; or reachable, with a shortest scenario\n" +
			"in which it denies and no other rail does, played through the real gate. Then positions that\n" +
			"can be opened and not closed, figures that contradict each other, and figures that do nothing.\n" +
			"It judges the limits document at its usual place, or --limits FILE, or the shipped one if\n" +
			"there is none. With --strict a danger, or a rail that is not decided, is exit code 1.",
		Example: "rails limits lint\nrails limits lint --out lint && rails test lint\nrails limits lint --limits limits.yaml --html lint.html",
		RunE:    func(c *cobra.Command, _ []string) error { return a.limitsLint(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "folder for the scenarios and the document, as rails test plays them (default: no files)")
	flags.StringVar(&f.html, "html", "", "file for a page with maps of where each limit binds")
	flags.StringVar(&f.equity, "equity", "100000", "what the account is worth, in the document's currency")
	flags.BoolVar(&f.long, "long", false, "also play scenarios of more than "+strconv.Itoa(lint.ShortMax)+" steps, which can take minutes")
	flags.BoolVar(&f.strict, "strict", false, "exit code 1 on a danger, or when a rail is not decided")
	return c
}

func (a *app) limitsLint(ctx context.Context, f *lintFlags) error {
	equity, err := money.ParseNotional(f.equity)
	if err != nil || !equity.IsPositive() {
		return usage("such as --equity 25000", "--equity is not an amount above 0")
	}
	name, text, err := a.lintedText()
	if err != nil {
		return err
	}
	doc, err := limits.Load(name, text)
	if err != nil {
		return err
	}
	show := a.railsBar()
	r, err := lint.Run(ctx, doc, text, lint.Options{Equity: equity, Long: f.long, Page: f.html != "", Progress: func(done, _ int) { show.count(uint64(done)) }})
	show.end()
	if err != nil {
		return err
	}
	if err := writeLint(f, r); err != nil {
		return err
	}
	if a.flags.json {
		err = a.out.json(r)
	} else {
		err = a.printLint(name, f, r)
	}
	if err == nil && f.strict && (r.Dangers > 0 || r.Count(lint.Undecided) > 0) {
		return silently(exitFailed)
	}
	return err
}

// lintedText is the document that is judged, with what to call it.
func (a *app) lintedText() (string, []byte, error) {
	path, err := a.limitsFile()
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Lstat(path); a.flags.limits == "" && errors.Is(err, fs.ErrNotExist) {
		return "the shipped limits document", limits.Template("paper"), nil
	}
	text, err := readLimits(path)
	return path, text, err
}

func writeLint(f *lintFlags, r *lint.Report) error {
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
		files := r.Files()
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if err := os.WriteFile(filepath.Join(f.out, name), files[name], 0o644); err != nil {
				return err
			}
		}
	}
	if f.html != "" {
		return os.WriteFile(f.html, r.Page, 0o644)
	}
	return nil
}

// railsBar is a bar that counts rails.
func (a *app) railsBar() *bar {
	if !a.errs.terminal || a.flags.json {
		return &bar{}
	}
	return &bar{progressbar.NewOptions(lint.RailsMax,
		progressbar.OptionSetWriter(a.errs.w), progressbar.OptionSetDescription("rails"), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(barAfter), progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(false),
	)}
}

func (a *app) printLint(name string, f *lintFlags, r *lint.Report) error {
	p := a.out
	p.line("What ", p.strong(name), " really allows, for an account worth ", cents(r.Equity))
	p.line()
	t := columns("rail", "verdict", ">steps", "why")
	for i := range r.Rails {
		x := &r.Rails[i]
		steps := ""
		if x.Steps > 0 {
			steps = fmt.Sprint(x.Steps)
		}
		t.add(x.Rail, a.lintVerdict(x.Verdict), steps, x.Why())
	}
	p.table(t, "")
	p.line()
	p.text(plural(r.Count(lint.Reachable), "rail is", "rails are") + " reachable: a scenario was played in which it alone denies; " +
		fmt.Sprintf("%d never deny alone, %d off, %d not decided", r.Count(lint.NeverAlone), r.Count(lint.Off), r.Count(lint.Undecided)))
	p.line()
	for _, x := range r.Findings {
		label := p.warn(x.Label())
		if x.Danger {
			label = p.bad(x.Label())
		}
		p.text(label + ": " + x.What)
		if x.Arithmetic != "" {
			p.hanging("    ", x.Arithmetic)
		}
		p.hanging("    ", p.strong("hint:")+" "+x.Hint)
		if x.File != "" && f.out != "" {
			p.line("    shown by ", filepath.Join(f.out, x.File))
		}
	}
	switch {
	case f.out != "":
		p.line()
		p.line("the scenarios and the document stand in ", f.out, "; play them again with: rails test ", f.out)
	default:
		p.line()
		p.line(p.dim("keep the scenarios as tests with --out DIR, look at maps with --html FILE"))
	}
	return p.failed
}

func (a *app) lintVerdict(v lint.Verdict) string {
	switch v {
	case lint.Reachable:
		return a.out.good(v.Words())
	case lint.Undecided:
		return a.out.bad(v.Words())
	case lint.Off:
		return a.out.dim(v.Words())
	}
	return v.Words()
}
