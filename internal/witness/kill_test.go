//go:build unix

package witness

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

// childEnv makes the test binary a witness on a folder, for one log.
const childEnv = "WITNESS_TEST_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		fmt.Fprintln(os.Stderr, child(spec))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func child(spec string) error {
	dir, key, _ := strings.Cut(spec, "\n")
	k, err := verify.ParseKey([]byte(key))
	if err != nil {
		return err
	}
	f, err := OpenFolder(dir, "w.example/killed")
	if err != nil {
		return err
	}
	w, err := New(Options{Signer: f.Signer(), Logs: []verify.Key{k}, Heads: f, Now: wallClock})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return w.Serve(context.Background(), l)
}

// startChild runs a witness in a process of its own.
func startChild(t *testing.T, dir, key string) (c *exec.Cmd, of verify.Witness) {
	t.Helper()
	c = exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+dir+"\n"+key)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the witness did not start: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSigner(text)
	if err != nil {
		t.Fatal(err)
	}
	return c, verify.Witness{Name: "w", Key: s.Key(), URL: "http://" + strings.TrimSpace(line)}
}

// A witness that is killed at any moment has cosigned nothing that its folder does not
// know, goes on after a start, and gives an answer that was lost again.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	dir, l := filepath.Join(t.TempDir(), "witness"), newTestLog(t, testOrigin)
	size, cosignedSize := 1, int64(0)
	for round := range rounds {
		c, of := startChild(t, dir, l.public)
		// What was cosigned before binds it: a fork from there on is refused.
		if cosignedSize > 1 {
			fork := entries(size+5, " forked", int(cosignedSize)-1)
			if line, _, err := Ask(t.Context(), of, question(l, fork, 0)); err == nil {
				t.Fatalf("round %d: a fork was cosigned: %s", round, line)
			}
		}
		var ended atomic.Bool
		late := time.AfterFunc(time.Duration(5+round*7)*time.Millisecond, func() {
			ended.Store(true)
			_ = c.Process.Kill()
		})
		for !ended.Load() {
			if _, _, err := Ask(t.Context(), of, question(l, straight(size), cosignedSize)); err == nil {
				cosignedSize = int64(size)
				size++
			} else if !ended.Load() {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		late.Stop()
		_ = c.Wait()
	}
	c, of := startChild(t, dir, l.public)
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	if _, _, err := Ask(t.Context(), of, question(l, straight(size), cosignedSize)); err != nil {
		t.Errorf("after %d entries: %v", size, err)
	}
	if size < 10 {
		t.Logf("only %d entries were cosigned in %d rounds", size, rounds)
	}
}
