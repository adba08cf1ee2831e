package limits

import (
	"errors"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// text writes the shipped document with some values replaced, by path. The value
// "-" leaves the key out; a path of a section with "-" leaves the section out.
func text(values map[string]string) string {
	var b strings.Builder
	section := ""
	for _, k := range Keys() {
		value, changed := values[k.Path]
		if !changed {
			value = k.Shipped
		}
		if values[k.Section()] == "-" || value == "-" {
			continue
		}
		if k.Section() != section {
			section = k.Section()
			if section != "" {
				b.WriteString(section + ":\n")
			}
		}
		if section != "" {
			b.WriteString("  ")
		}
		b.WriteString(k.Name() + ": " + value + "\n")
	}
	return b.String()
}

func with(path, value string) string { return text(map[string]string{path: value}) }

func load(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Load("limits.yaml", []byte(text))
	if err != nil {
		t.Fatalf("does not load:\n%v\n%s", err, text)
	}
	return d
}

// refused loads a text that must not load, and returns its problems.
func refused(t *testing.T, name, text string) Errors {
	t.Helper()
	d, err := Load(name, []byte(text))
	if err == nil {
		t.Fatalf("loads, but should not:\n%s", text)
	}
	if d != nil {
		t.Fatal("an error came with a document")
	}
	es, ok := errors.AsType[Errors](err)
	if !ok || len(es) == 0 || len(es) > strict.ProblemsMax {
		t.Fatalf("not a list of problems: %T %v", err, err)
	}
	for i, e := range es {
		if e.Name != name || e.Problem == "" || e.Line < 1 || e.Column < 1 {
			t.Errorf("incomplete problem: %+v", e)
		}
		if i > 0 && (e.Line < es[i-1].Line || e.Line == es[i-1].Line && e.Column < es[i-1].Column) {
			t.Errorf("out of order: %v", es)
		}
	}
	return es
}

// refusedAt says that the first problem is about a key.
func refusedAt(t *testing.T, text, key string) *Error {
	t.Helper()
	e := refused(t, "limits.yaml", text)[0]
	if e.Key != key {
		t.Errorf("the first problem is about %q, not %q: %v", e.Key, key, e)
	}
	return e
}
