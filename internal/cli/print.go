package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"

	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
)

// printer writes to one stream. Colour goes to terminals only, never with NO_COLOR,
// and never says anything that the words do not.
type printer struct {
	w        io.Writer
	colour   bool
	terminal bool
	compact  bool     // JSON goes on one line
	screen   *os.File // the terminal that is written to; nil for any other stream
	asked    int      // COLUMNS, 0 where it is not set
	failed   error    // the first error of writing
}

func newPrinter(w io.Writer, environ []string) *printer {
	p := &printer{w: w}
	f, ok := w.(*os.File)
	p.terminal = ok && term.IsTerminal(int(f.Fd()))
	p.colour = p.terminal
	if p.terminal {
		p.screen = f
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if name == "NO_COLOR" && value != "" || name == "TERM" && value == "dumb" {
			p.colour = false
		}
		if n, err := strconv.Atoi(value); name == "COLUMNS" && err == nil {
			p.asked = n
		}
	}
	if p.colour {
		p.w = colorprofile.NewWriter(w, environ)
	}
	return p
}

// terminal reports whether a person sits at the other end of in.
func terminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// unlessStopped waits for a read that nothing can interrupt, and gives it up when ctx
// ends: else a person at the terminal could not leave. The goroutine that is left then
// ends with the process, which follows.
func unlessStopped(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := read()
		got <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", failed("", "stopped; nothing was done")
	case a := <-got:
		return a.text, a.err
	}
}

// prompt writes text without a line feed, for an answer to stand beside.
func (p *printer) prompt(format string, args ...any) {
	if p.failed == nil {
		_, p.failed = fmt.Fprintf(p.w, format, args...)
	}
}

// line writes the parts and a line feed. The first failure is kept, and ends the
// command with an error: an answer that was cut off is no answer.
func (p *printer) line(parts ...string) {
	if p.failed != nil {
		return
	}
	_, p.failed = io.WriteString(p.w, strings.Join(parts, "")+"\n")
}

// whole writes what has its line feeds already.
func (p *printer) whole(s string) {
	if _, err := io.WriteString(p.w, s); err != nil && p.failed == nil {
		p.failed = err
	}
}

func (p *printer) paint(s lipgloss.Style, text string) string {
	if !p.colour || text == "" {
		return text
	}
	return s.Render(text)
}

func (p *printer) good(text string) string {
	return p.paint(lipgloss.NewStyle().Foreground(lipgloss.Green).Bold(true), text)
}

func (p *printer) bad(text string) string {
	return p.paint(lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true), text)
}

func (p *printer) warn(text string) string {
	return p.paint(lipgloss.NewStyle().Foreground(lipgloss.Yellow), text)
}

func (p *printer) dim(text string) string { return p.paint(lipgloss.NewStyle().Faint(true), text) }

func (p *printer) strong(text string) string { return p.paint(lipgloss.NewStyle().Bold(true), text) }

// verdict paints a verdict or an outcome by what it means for the order.
func (p *printer) verdict(word string) string {
	switch word {
	case "allowed", "accepted", "filled", "active", "pass", "working", "same":
		return p.good(word)
	case "denied", "rejected", "halted", "deny", "different":
		return p.bad(word)
	case "error", "fault", "in_doubt", "not_sent", "reduce_only", "refused", "reserved":
		return p.warn(word)
	case "off":
		return p.dim(word)
	}
	return word
}

// badge says first whose money it is.
func (p *printer) badge(live bool) string {
	if live {
		return p.paint(lipgloss.NewStyle().Background(lipgloss.Red).Foreground(lipgloss.White).Bold(true), " LIVE ")
	}
	return p.paint(lipgloss.NewStyle().Background(lipgloss.Green).Foreground(lipgloss.Black).Bold(true), " PAPER ")
}

// json writes one value, indented, or where many follow each other on one line.
func (p *printer) json(v any) error {
	options := []json.Options{json.Deterministic(true)}
	if !p.compact {
		options = append(options, jsontext.WithIndent("  "))
	}
	text, err := json.Marshal(v, options...)
	if err != nil {
		return err
	}
	p.line(string(text))
	return p.failed
}

// field writes one named figure, the names in one column.
func (p *printer) field(name string, parts ...string) {
	p.line(append([]string{p.dim(name + strings.Repeat(" ", max(1, fieldWidth-len(name))))}, parts...)...)
}

const fieldWidth = 16

// cents writes an amount with at least two decimals, as people write it.
func cents(text string) string {
	_, decimals, _ := strings.Cut(text, ".")
	switch len(decimals) {
	case 0:
		return text + ".00"
	case 1:
		return text + "0"
	}
	return text
}

func dollars(n money.Notional) string { return cents(n.String()) }

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// marketTime writes an instant as New York's clock shows it, to the second.
func marketTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	local := market.NewYork(t)
	clock := local.SinceMidnight.Truncate(time.Second)
	return fmt.Sprintf("%s %02d:%02d:%02d", local.Date, int(clock.Hours()), int(clock.Minutes())%60, int(clock.Seconds())%60)
}
