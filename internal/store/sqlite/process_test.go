package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// roleVar makes the test's binary play another process of the product.
const roleVar = "STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv("STORE_TEST_DIR"), os.Getenv("STORE_TEST_MARK")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// play is the other process: "some" appends processAppends entries; "endless" appends
// until it is killed, and prints the seq of each entry that it was told is durable.
func play(role, dir, mark string) (err error) {
	ctx := context.Background()
	s, err := Open(ctx, dir, Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if role == "some" {
		return storetest.ContestedAppends(ctx, s, "a", mark, processAppends)
	}
	head, _, err := s.Heads(ctx, "a")
	if err != nil {
		return err
	}
	for {
		b := storetest.Batch("a", head, 1+int(head.Seq%3), mark)
		if err := s.Append(ctx, b); err != nil {
			return err
		}
		head = b.After()
		if _, err := fmt.Println(head.Seq); err != nil {
			return err
		}
	}
}

func process(t *testing.T, role, dir, mark string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), roleVar+"="+role, "STORE_TEST_DIR="+dir, "STORE_TEST_MARK="+mark)
	return cmd
}

const (
	processes      = 8
	processAppends = 40
)

// TestProcessesShareOneChain has eight processes create and fill the same journal.
func TestProcessesShareOneChain(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "journal")
	var cmds []*exec.Cmd
	var outputs []*strings.Builder
	for i := range processes {
		cmd, output := process(t, "some", dir, fmt.Sprintf("p%d", i)), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = output, output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outputs = append(cmds, cmd), append(outputs, output)
	}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, outputs[i])
		}
	}
	s := openAt(t, dir, Options{})
	entries := storetest.Contents(t, s, "a")
	head := storetest.CheckChain(t, entries)
	if head.Seq != processes*processAppends {
		t.Errorf("%d entries, want %d", head.Seq, processes*processAppends)
	}
	writers := map[string]int{}
	for _, e := range entries {
		_, mark, _ := strings.Cut(string(e.Bytes), `"mark":"`)
		writer, _, _ := strings.Cut(mark, "-")
		writers[writer]++
	}
	for i := range processes {
		if n := writers[fmt.Sprintf("p%d", i)]; n != processAppends {
			t.Errorf("process %d has %d entries, want %d", i, n, processAppends)
		}
	}
}

// TestKilledWritersLeaveTheChainWhole kills a writer over and over, without a warning.
// Whatever it was told is durable must be there, and all must be one chain.
func TestKilledWritersLeaveTheChainWhole(t *testing.T) {
	noLeaks(t)
	dir := filepath.Join(t.TempDir(), "journal")
	var durable uint64
	for round := range 12 {
		cmd := process(t, "endless", dir, fmt.Sprintf("r%d", round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if _, err := fmt.Fscanln(lines, &durable); err != nil {
			t.Fatal("the writer wrote nothing: ", err)
		}
		time.Sleep(time.Duration(rand.N(int64(60 * time.Millisecond))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		// The last line may be cut off; those before it are whole.
		told := strings.Split(string(rest), "\n")
		if len(told) > 1 {
			if _, err := fmt.Sscan(told[len(told)-2], &durable); err != nil {
				t.Fatal(err)
			}
		}
		s := openAt(t, dir, Options{})
		head := storetest.CheckChain(t, storetest.Contents(t, s, "a"))
		if head.Seq < durable {
			t.Fatalf("round %d: the chain ends at %d, but %d was durable", round, head.Seq, durable)
		}
		own, _, err := s.Heads(t.Context(), "a")
		if own != head || err != nil {
			t.Fatalf("round %d: head %d, %v; the chain ends at %d", round, own.Seq, err, head.Seq)
		}
		if round%2 == 0 { // the next writer finds a clean end, or another process in the middle
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if durable < 50 {
		t.Errorf("only %d entries were written: the test shows little", durable)
	}
}

// TestReaderFollowsAnotherProcess reads while others write: what a reader sees is always
// a chain from seq 1.
func TestReaderFollowsAnotherProcess(t *testing.T) {
	noLeaks(t)
	s := openNew(t, Options{})
	cmd := process(t, "some", filepath.Dir(s.path), "other")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReadOnly(t.Context(), filepath.Dir(s.path))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var head gate.Head
	for deadline := time.Now().Add(20 * time.Second); head.Seq < processAppends; time.Sleep(time.Millisecond) {
		next := storetest.CheckChain(t, storetest.Contents(t, reader, "a"))
		if next.Seq < head.Seq {
			t.Fatalf("the chain went back from %d to %d", head.Seq, next.Seq)
		}
		if head = next; time.Now().After(deadline) {
			t.Fatalf("only %d entries arrived", head.Seq)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
