package mcpserver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// TestConversations runs the whole JSON-RPC conversations of testdata. In each file:
//
//	conversation  > LINE      the client sends LINE
//	              >q "GO"     the client sends a Go string's bytes
//	              < JSON      the next answer holds at least this; a text that starts
//	                          with ~ is a regular expression; one that starts with $ is
//	                          a name for whatever stands there, to be used from then on
//	              none        there is no answer
//	              wait D      time passes
//	journal       the decisions and refusals, one a line, oldest first
//	broker        how many messages arrived and how many executions there were
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	check(t, err)
	if len(files) == 0 {
		t.Fatal("no conversations")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			check(t, err)
			if len(strings.TrimSpace(string(a.Comment))) == 0 {
				t.Error("the file does not say what it shows")
			}
			d := newDesk(t)
			for _, f := range a.Files {
				body := strings.TrimSpace(string(f.Data))
				switch f.Name {
				case "conversation":
					d.converse(body)
				case "journal":
					if got := strings.Join(d.journaled(), "\n"); got != body {
						t.Errorf("journal:\n%s\nwant:\n%s", got, body)
					}
				case "broker":
					got := fmt.Sprintf("messages %d, executions %d", d.broker.sends.Load(), d.filled())
					if got != body {
						t.Errorf("broker: %s, want %s", got, body)
					}
				default:
					t.Errorf("%s: no such part", f.Name)
				}
			}
		})
	}
}

func (d *desk) converse(script string) {
	d.t.Helper()
	l := d.stdio()
	m := matcher{}
	for n, step := range strings.Split(script, "\n") {
		kind, rest, _ := strings.Cut(step, " ")
		switch kind {
		case ">":
			for name, value := range m {
				rest = strings.ReplaceAll(rest, name, value)
			}
			l.send(rest)
		case ">q":
			raw, err := strconv.Unquote(rest)
			check(d.t, err)
			l.send(raw)
		case "<":
			var want any
			check(d.t, json.Unmarshal([]byte(rest), &want))
			got := l.receive()
			if why := m.holds(got, want); why != "" {
				b, _ := json.Marshal(got)
				d.t.Fatalf("line %d: %s\ngot  %s\nwant %s", n+1, why, b, rest)
			}
		case "none":
			l.silent()
		case "wait":
			by, err := time.ParseDuration(rest)
			check(d.t, err)
			d.pass(by)
		case "":
		default:
			d.t.Fatalf("line %d: %q is no step", n+1, kind)
		}
	}
}

// matcher compares answers; it keeps what its names stand for.
type matcher map[string]string

// holds says why got does not hold what is wanted; empty when it does.
func (m matcher) holds(got, want any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%v is no object", got)
		}
		for name, w := range want {
			g, there := object[name]
			if !there {
				return name + " is missing"
			}
			if why := m.holds(g, w); why != "" {
				return name + ": " + why
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) < len(want) {
			return fmt.Sprintf("%v is too short a list", got)
		}
		for i := range want {
			if why := m.holds(list[i], want[i]); why != "" {
				return fmt.Sprintf("[%d]: %s", i, why)
			}
		}
	case string:
		text, ok := got.(string)
		if pattern, is := strings.CutPrefix(want, "~"); is && ok {
			if regexp.MustCompile("(?s)" + pattern).MatchString(text) {
				return ""
			}
			return fmt.Sprintf("%q does not match %q", text, pattern)
		}
		if ok && strings.HasPrefix(want, "$") {
			if m[want] == "" {
				m[want] = text
			}
			want = m[want]
		}
		if !ok || text != want {
			return fmt.Sprintf("%v is not %q", got, want)
		}
	default:
		if got != want {
			return fmt.Sprintf("%v is not %v", got, want)
		}
	}
	return ""
}

// journaled writes decisions and refusals in one line each.
func (d *desk) journaled() (out []string) {
	d.t.Helper()
	entries, err := d.Decisions(d.t.Context(), 1<<20)
	check(d.t, err)
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		if e.Kind == journal.KindRefusal {
			body, err := journal.DecodeBody[journal.Refusal](e)
			check(d.t, err)
			words := []string{"refusal", body.Code}
			if body.Tool != "" {
				words = append(words, body.Tool)
			}
			if !body.Denial {
				words = append(words, "(no denial)")
			}
			out = append(out, strings.Join(words, " "))
			continue
		}
		body, err := journal.DecodeBody[journal.Decision](e)
		check(d.t, err)
		words := []string{"decision", body.Verdict}
		for _, f := range body.Findings {
			words = append(words, f.Rail)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}
