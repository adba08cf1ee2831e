package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/door/mcpproxy"
)

type approveFlags struct{ all bool }

type waitingView struct {
	Name   string   `json:"name"`
	Why    string   `json:"why"`
	Was    string   `json:"was,omitzero"`
	SHA256 string   `json:"sha256"`
	Diff   []string `json:"diff"`
}

type approveView struct {
	Schema   string        `json:"schema"`
	Account  string        `json:"account"`
	Waiting  []waitingView `json:"waiting"`
	Approved []string      `json:"approved"`
}

func (a *app) profileApproveCommand() *cobra.Command {
	var f approveFlags
	c := &cobra.Command{
		Use: "approve [TOOL…]", Short: "Show the tools that wait behind rails proxy, and open those named",
		Long: "rails proxy pins the definition of each tool that the broker's server has. One that is new,\n" +
			"changed, renamed or listed twice is closed, and not shown to agents. This shows what changed,\n" +
			"line by line, and opens the tools that are named: what is opened is exactly what was shown by\n" +
			"the newest session. A tool that the profile does not name stays closed all the same.",
		RunE: func(_ *cobra.Command, args []string) error { return a.profileApprove(&f, args) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "open all that wait, but for those listed twice")
	return c
}

func (a *app) profileApprove(f *approveFlags, names []string) error {
	if f.all && len(names) > 0 {
		return usage("leave one of them out", "--all and names of tools do not go together")
	}
	dir, err := a.dataFolder()
	if err != nil {
		return err
	}
	account, err := a.pinnedAccount(dir)
	if err != nil {
		return err
	}
	pins, err := mcpproxy.OpenPins(pinsFile(dir, account))
	if err != nil {
		return &failure{code: exitFailed, what: "the pins cannot be read", err: err}
	}
	list, before := pins.Waiting()
	v := approveView{Schema: "rails.profile_approve/v1", Account: account, Waiting: []waitingView{}, Approved: []string{}}
	var open []mcpproxy.Pinned
	for i, t := range list {
		named := slices.Contains(names, t.Name) || f.all && t.Why != "twice"
		if named {
			open = append(open, t)
			v.Approved = append(v.Approved, t.Name)
		}
		v.Waiting = append(v.Waiting, waitingView{t.Name, t.Why, t.Was, t.SHA256, changed(before[i], t.Definition)})
	}
	for _, n := range names {
		if !slices.Contains(v.Approved, n) {
			return usage("rails profile approve shows what waits", "no tool %q waits", n)
		}
	}
	if len(open) > 0 {
		if err := pins.Approve(open); err != nil {
			return &failure{code: exitFailed, what: "not approved", err: err, hint: "look at what waits now: rails profile approve"}
		}
	}
	if a.flags.json {
		return a.out.json(v)
	}
	return a.printApprove(&v)
}

// pinnedAccount is the account that is meant: --account, else the only one with pins.
func (a *app) pinnedAccount(dir string) (string, error) {
	if a.flags.account != "" {
		return a.flags.account, nil
	}
	names := proxiedAccounts(dir)
	switch len(names) {
	case 0:
		return "", failed("tools are pinned at the first use of: rails proxy -- COMMAND", "nothing was pinned yet in %s", dir)
	case 1:
		return names[0], nil
	}
	return "", usage("name one with --account", "several accounts have pinned tools: %s", strings.Join(names, ", "))
}

func (a *app) printApprove(v *approveView) error {
	if len(v.Waiting) == 0 {
		a.out.line("no tool of ", v.Account, " waits")
		return a.out.failed
	}
	for i := range v.Waiting {
		t := &v.Waiting[i]
		state := "closed"
		if slices.Contains(v.Approved, t.Name) {
			state = "opened"
		}
		was := ""
		if t.Was != "" {
			was = ", was " + visible(t.Was)
		}
		a.out.line(a.out.strong(visible(t.Name)), "  ", t.Why, was, ", ", state, "  ", a.out.dim(t.SHA256[:12]))
		for _, line := range t.Diff {
			a.out.line("  ", line)
		}
	}
	if len(v.Approved) == 0 {
		a.out.line("open one with: rails profile approve --account ", v.Account, " TOOL")
	}
	return a.out.failed
}

// visible writes a server's text so that it cannot steer a terminal.
func visible(s string) string {
	q := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// diffLinesMax bounds what is compared line by line; longer definitions are shown whole.
const diffLinesMax = 2000

// changed compares two definitions line by line: lines that are gone begin with -, new
// ones with +, and what is the same is left out.
func changed(before, after string) (out []string) {
	old, now := laidOut(before), laidOut(after)
	if len(old) > diffLinesMax || len(now) > diffLinesMax {
		return []string{"- " + strconv.Itoa(len(old)) + " lines", "+ " + strconv.Itoa(len(now)) + " lines"}
	}
	// common[i][j] is the longest common part of old[i:] and now[j:].
	common := make([][]int, len(old)+1)
	for i := range common {
		common[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(now) - 1; j >= 0; j-- {
			if old[i] == now[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) || j < len(now); {
		switch {
		case i < len(old) && j < len(now) && old[i] == now[j]:
			i, j = i+1, j+1
		case j == len(now) || i < len(old) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+visible(old[i]))
			i++
		default:
			out = append(out, "+ "+visible(now[j]))
			j++
		}
	}
	return out
}

func laidOut(definition string) []string {
	if definition == "" {
		return nil
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(definition), "", "  ") != nil {
		return []string{definition}
	}
	return strings.Split(b.String(), "\n")
}
