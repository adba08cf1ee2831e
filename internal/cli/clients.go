package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// client is how one MCP host is told of the server.
type client struct {
	Name string `json:"name"`
	File string `json:"file,omitzero"` // where the text goes; none for shell
	Text string `json:"text"`
	Type string `json:"type"` // json, or shell
}

// clients writes what each host needs, with this binary's absolute path: hosts start
// servers with a path of their own.
func (a *app) clients(v *initView) []client {
	binary := "rails"
	if path, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		binary = path
	}
	args := append([]string{"serve"}, a.sameFlags(v)...)
	if v.Broker == brokerAlpaca {
		args = append(args, "--broker", brokerAlpaca)
	}
	config := hostConfig(binary, args)
	return []client{
		{Name: "Claude Code", Text: shellLine(append([]string{"claude", "mcp", "add", "--scope", "user", "broker-rails", "--", binary}, args...)), Type: "shell"},
		{Name: "Claude Desktop", File: "claude_desktop_config.json", Text: config, Type: "json"},
		{Name: "Cursor", File: ".cursor/mcp.json", Text: config, Type: "json"},
	}
}

// sameFlags are the flags by which a later command finds what this one made.
func (a *app) sameFlags(v *initView) (args []string) {
	if a.flags.data != "" {
		args = append(args, "--data", v.Data)
	}
	if a.flags.limits != "" {
		args = append(args, "--limits", v.LimitsFile)
	}
	if v.Account != defaultAccount {
		args = append(args, "--account", v.Account)
	}
	return args
}

// shellLine writes a command for people to paste.
func shellLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(w)
	}
	return strings.Join(out, " ")
}

type hostServer struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func hostConfig(binary string, args []string) string {
	config := struct {
		Servers map[string]hostServer `json:"mcpServers"`
	}{map[string]hostServer{"broker-rails": {binary, args}}}
	// Strings and nothing else: it cannot fail but for a path that is not UTF-8, which
	// JSON cannot say.
	text, err := json.Marshal(config, jsontext.WithIndent("  "))
	if err != nil {
		return ""
	}
	return string(text)
}

func (a *app) printInit(v *initView) error {
	p, flags := a.out, a.sameFlags(v)
	p.line(p.badge(false), " account ", p.strong(v.Account), " is ready")
	p.field("journal", v.Data)
	limits := v.LimitsFile
	if !v.LimitsNew {
		limits += p.dim("  (was there; used as it stands)")
	}
	p.field("limits", limits)
	p.field("fingerprint", short(v.Fingerprint))
	p.field("clock", v.Clock)
	if v.OldJournal != "" {
		p.field("old journal", v.OldJournal)
	}
	if v.OldHead != "" {
		p.field("old head", v.OldHead)
	}
	p.field("mode", p.verdict(v.Mode))
	if v.Mode != journal.ModeActive {
		p.field("", "look at it first, then let it trade with: ", shellLine(append([]string{"rails", "resume", "--reason", "R"}, flags...)))
	}
	p.line("")
	p.line("Connect an agent. In a shell:")
	text := ""
	for _, c := range v.Clients {
		if c.Type == "shell" {
			p.line("  ", c.Name, ": ", c.Text)
		}
	}
	p.line("The text below goes to:")
	for _, c := range v.Clients {
		if c.Type == "json" {
			p.line("  ", c.Name, ": ", c.File)
			text = c.Text
		}
	}
	p.line("")
	p.line(text)
	p.line("")
	p.line("To keep key, journal and limits from the agent, serve as another user with rails serve --listen")
	p.line("unix:PATH, and write shim --socket PATH in place of serve and its flags (docs/operating.md).")
	p.line("")
	then := func(words ...string) string { return shellLine(append(append([]string{"rails"}, words...), flags...)) }
	p.line("Then: ", then("status"), ", ", then("decisions", "--watch"), ", and ", then("halt", "--reason", "R"), " to stop everything.")
	return p.failed
}
