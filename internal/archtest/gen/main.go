// Command gen writes what the sources already say: the page of rails, the reference of
// the command line, the limits document as shipped and its schema. With -check it writes
// nothing and fails when one of them is stale.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/broker-rails/broker-rails/internal/archtest"
	"github.com/broker-rails/broker-rails/internal/limits"
)

func main() {
	check := flag.Bool("check", false, "write nothing, and fail when a file is stale")
	flag.Parse()
	stale, err := generate(*check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	for _, name := range stale {
		fmt.Fprintln(os.Stderr, "stale:", name)
	}
	if len(stale) > 0 {
		fmt.Fprintln(os.Stderr, "hint: go run ./internal/archtest/gen")
		os.Exit(1)
	}
}

// generated is one file and its text.
type generated struct {
	name string
	text []byte
}

// generate writes the files that differ, or with check only names them.
func generate(check bool) (stale []string, err error) {
	root, err := archtest.Root()
	if err != nil {
		return nil, err
	}
	rails, err := railsPage(root)
	if err != nil {
		return nil, err
	}
	var schema bytes.Buffer
	if err := json.Indent(&schema, limits.Schema(), "", "  "); err != nil {
		return nil, err
	}
	schema.WriteByte('\n')
	for _, g := range []generated{
		{"docs/rails.md", rails},
		{"docs/cli.md", cliPage()},
		{"limits.schema.json", schema.Bytes()},
		{"examples/limits.yaml", limits.Template("paper")},
	} {
		name := filepath.Join(root, filepath.FromSlash(g.name))
		old, err := os.ReadFile(name)
		switch {
		case err == nil && bytes.Equal(old, g.text):
			continue
		case err != nil && !os.IsNotExist(err):
			return nil, err
		case check:
			stale = append(stale, g.name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, g.text, 0o644); err != nil {
			return nil, err
		}
		fmt.Println("wrote", g.name)
	}
	return stale, nil
}
