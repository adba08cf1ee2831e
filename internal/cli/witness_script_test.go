package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// witnessing starts a witness, and ends the one that ran before under the same name:
//
//	witnessing NAME [rails witness's own flags]
//
// It writes the lines for a policy to NAME.policy once the witness listens, and fails if
// it ends without listening. With - instead of flags it only ends the one that runs.
func witnessing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: witnessing NAME [flags]")
	}
	running := ts.Value("witnesses").(*sync.Map)
	if end, ok := running.LoadAndDelete(args[0]); ok {
		end.(func())()
	}
	if len(args) == 2 && args[1] == "-" {
		return
	}
	c := exec.Command("rails", append([]string{"witness"}, args[1:]...)...)
	c.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	errs, err := os.Create(ts.MkAbs(args[0] + ".log"))
	ts.Check(err)
	c.Stderr = errs
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	end := sync.OnceFunc(func() {
		_ = c.Process.Signal(os.Interrupt)
		late := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		late.Stop()
		_ = errs.Close()
	})
	running.Store(args[0], end)
	ts.Defer(end)
	var policy strings.Builder
	for scan := bufio.NewScanner(out); scan.Scan(); {
		line := scan.Text()
		if strings.HasPrefix(line, "witness ") || strings.HasPrefix(line, "quorum ") {
			policy.WriteString(line + "\n")
		}
		if strings.HasPrefix(line, "quorum ") {
			ts.Check(os.WriteFile(ts.MkAbs(args[0]+".policy"), []byte(policy.String()), 0o600))
			return
		}
	}
	text, _ := os.ReadFile(ts.MkAbs(args[0] + ".log"))
	ts.Fatalf("the witness ended: %s", text)
}
