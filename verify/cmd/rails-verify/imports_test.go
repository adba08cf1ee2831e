package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNothingOfTheWriterIsBuiltIn lists what the command is made of: an auditor who reads
// this folder has read all of it but for two packages of Go's own.
func TestNothingOfTheWriterIsBuiltIn(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{
		"golang.org/x/mod/sumdb/note": true, "golang.org/x/mod/sumdb/tlog": true, "golang.org/x/mod/internal/lazyregexp": true,
		"github.com/broker-rails/broker-rails/verify": true, "github.com/broker-rails/broker-rails/verify/cmd/rails-verify": true,
	}
	for _, path := range strings.Fields(string(out)) {
		if !want[path] {
			t.Errorf("%s is built in", path)
		}
	}
}
