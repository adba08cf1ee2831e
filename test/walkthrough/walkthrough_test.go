// Package walkthrough runs demos/rails_walkthrough.sh, and sees that it can fail.
package walkthrough

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// within bounds one walk: it is told to take under a minute, on a machine with nothing
// else to do.
const within = 5 * time.Minute

// rails builds the binary that is walked through.
func rails(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the walkthrough is a bash script")
	}
	path := filepath.Join(t.TempDir(), "rails")
	build := exec.Command("go", "build", "-o", path, "../../cmd/rails")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("no binary: %v\n%s", err, out)
	}
	return path
}

func walk(t *testing.T, binary string) (string, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), within)
	defer stop()
	script := exec.CommandContext(ctx, "bash", "../../demos/rails_walkthrough.sh")
	script.Env = append(os.Environ(), "RAILS="+binary)
	script.WaitDelay = 10 * time.Second
	out, err := script.CombinedOutput()
	return string(out), err
}

// TestTheArgumentHolds walks through all of it.
func TestTheArgumentHolds(t *testing.T) {
	out, err := walk(t, rails(t))
	if err != nil || !strings.Contains(out, "everything is as it is said to be") || strings.Contains(out, "✗") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestItFailsWhenSomethingIsNotAsSaid: a script that passes whatever the product does
// would show nothing. Each lie is told by a rails of its own, which is the real one but
// for one command.
func TestItFailsWhenSomethingIsNotAsSaid(t *testing.T) {
	real := rails(t)
	for name, c := range map[string]struct{ lie, fails string }{
		"the refused order reached the broker": {
			`demo) "$REAL" "$@" | sed 's/1 after the denied one/2 after the denied one/'; exit 0;;`, "at act 1.",
		},
		"nobody wrote down who asked for a setter": {`decisions) exit 0;;`, "at act 2."},
		"an attack got through":                    {`adversarial) "$REAL" "$@"; exit 4;;`, "at act 4."},
		"one order too many":                       {`positions) "$REAL" "$@" | sed 's/"10"/"11"/'; exit 0;;`, "at act 5."},
	} {
		t.Run(name, func(t *testing.T) {
			liar := filepath.Join(t.TempDir(), "rails")
			text := "#!/usr/bin/env bash\nREAL=" + real + "\ncase $1 in\n" + c.lie + "\nesac\nexec \"$REAL\" \"$@\"\n"
			if err := os.WriteFile(liar, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			out, err := walk(t, liar)
			if err == nil || !strings.Contains(out, "does not hold "+c.fails) {
				t.Errorf("the walkthrough went on: %v\n%s", err, out)
			}
		})
	}
}
