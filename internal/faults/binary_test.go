//go:build unix

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// envBinary names the folder that the binary is built into.
const envBinary = "RAILS_FAULTS_BINARY"

// commandWithin bounds a command that is not a server.
const commandWithin = 30 * time.Second

// build makes the product's binary as a release does, once in a run.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv(envBinary), "rails")
	c := exec.Command("go", "build", "-trimpath", "-o", path, "./cmd/rails")
	c.Dir = filepath.Join("..", "..")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, err
})

// house is an account in folders of its own, as a person has it.
type house struct {
	t      testing.TB
	binary string
	env    []string
	dir    string // the data folder
	limits string // the limits document
	prefix []string
}

// newHouse makes an account with rails init, under the shipped limits with over laid on
// them.
func newHouse(t testing.TB, over string) *house {
	t.Helper()
	return newHouseIn(t, t.TempDir(), over)
}

// newHouseIn keeps the data folder under root, which the caller made.
func newHouseIn(t testing.TB, root, over string) *house {
	t.Helper()
	h := plot(t, root, over)
	if code, out := h.rails("init", "--yes"); code != 0 {
		t.Fatalf("init: exit code %d: %s", code, out)
	}
	return h
}

// plot writes the limits document and makes no account yet.
func plot(t testing.TB, root, over string) *house {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the binary")
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	h := &house{
		t: t, binary: binary, dir: filepath.Join(root, "state", "rails"),
		limits: filepath.Join(home, "config", "rails", "limits.yaml"),
		env: []string{
			"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1",
			"XDG_STATE_HOME=" + filepath.Join(root, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		},
	}
	base, err := limits.Load("shipped", limits.Template("paper"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := limits.Over(base, "over", []byte(over))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(h.limits), 0o700), os.WriteFile(h.limits, doc.Canonical, 0o600)); err != nil {
		t.Fatal(err)
	}
	return h
}

// command prepares the binary with the house's environment.
func (h *house) command(ctx context.Context, args ...string) *exec.Cmd {
	line := append(append([]string{}, h.prefix...), h.binary)
	line = append(line, args...)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = h.env
	return c
}

// rails runs a command to its end and returns its exit code, -1 if a signal ended it,
// and all that it said.
func (h *house) rails(args ...string) (code int, said string) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), commandWithin)
	defer stop()
	c := h.command(ctx, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		h.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// must runs a command that has to end with a code.
func (h *house) must(want int, args ...string) string {
	h.t.Helper()
	code, said := h.rails(args...)
	if code != want {
		h.t.Fatalf("rails %v: exit code %d, want %d: %s", args, code, want, said)
	}
	return said
}
