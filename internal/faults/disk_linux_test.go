package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// disk mounts a small file system, for which the test needs privileges.
func disk(t *testing.T, bytes int) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the binary")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", bytes)); err != nil {
		t.Skip("may not mount a small disk: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all that is left of a disk.
func fill(t *testing.T, dir string) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return ballast
}

// ordersMax bounds how many orders it may take to notice a full disk: the logs have room
// of their own, which is used again.
const ordersMax = 3000

// untilRefused places orders until one is refused for the journal's or broker's sake.
func untilRefused(t *testing.T, s *host) string {
	t.Helper()
	for range ordersMax {
		if got := s.order(""); !strings.HasPrefix(got, "ALLOWED ") {
			return got
		}
	}
	t.Fatalf("%d orders passed on a full disk", ordersMax)
	return ""
}

// A full disk refuses orders and sends nothing that is not durable. With room again the
// next order passes, and what was in doubt is settled.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	root := disk(t, 8<<20)
	h := newHouseIn(t, root, fmt.Sprintf(allOff, 100_000))
	s := h.serve()
	s.allowed()
	ballast := fill(t, root)
	got := untilRefused(t, s)
	for range 3 {
		if again := s.order(""); strings.HasPrefix(again, "ALLOWED ") {
			t.Errorf("allowed on a full disk, after: %s", got)
		}
	}
	full := h.look()
	for _, m := range full.messages {
		if full.sent(m.ClientOrderID) != 1 {
			t.Errorf("%s was sent %d times", m.ClientOrderID, full.sent(m.ClientOrderID))
		}
	}
	// A server that starts now may serve, and sends nothing.
	late := h.serve()
	if got := late.order(""); strings.HasPrefix(got, "ALLOWED ") {
		t.Errorf("a server started on a full disk: %s", got)
	}
	late.stop()
	h.wantSent(len(full.messages))
	code, said := h.rails("halt", "--reason", "stop")
	if code != 0 && (code != 1 || !strings.Contains(said, "hint: ")) {
		t.Errorf("halt ended with %d: %s", code, said)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	h.must(0, "resume", "--reason", "there is room")
	if after := s.order(""); !strings.HasPrefix(after, "ALLOWED ") {
		t.Errorf("with room again: %s; log: %s", after, s.log)
	}
	s.stop()
	h.trade(1)
	got2 := oracle(t, h.dir, time.Minute)
	t.Logf("the first refusal: %s; halt on the full disk ended with %d; %d orders at the broker", got, code, got2.placed)
}

// On a disk that turned read-only nothing is sent, and nothing starts but what only reads.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	root := disk(t, 8<<20)
	h := newHouseIn(t, root, fmt.Sprintf(allOff, 100))
	h.trade(2)
	if err := syscall.Mount("", root, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("may not remount: ", err)
	}
	before := h.files()
	h.refusesToStart(1)
	code, said := h.rails("halt", "--reason", "stop")
	if code != 1 || !strings.Contains(said, "hint: ") {
		t.Errorf("halt ended with %d: %s", code, said)
	}
	for _, args := range [][]string{{"status"}, {"decisions"}, {"audit-verify"}} {
		if code, said := h.rails(args...); code != 0 {
			t.Errorf("rails %v ended with %d: %s", args, code, said)
		}
	}
	if got := differ(h.files(), before); got != "" {
		t.Errorf("%s was written", got)
	}
	if err := syscall.Mount("", root, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	h.wantSent(2)
	h.trade(1)
	h.wantSent(3)
	oracle(t, h.dir, time.Minute)
}

// A data folder without leave to write, as its owner without privileges meets it.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("permissions do not bind a privileged user; TestReadOnlyDisk runs instead")
	}
	h := traded(t, 1)
	if err := os.Chmod(h.dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(h.dir, 0o700) })
	h.refusesToStart(1)
	if err := os.Chmod(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.wantSent(1)
	h.trade(1)
	h.wantSent(2)
}

// A limit on the size of files stands in for a full disk where none may be mounted.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip(err)
	}
	h := newHouse(t, fmt.Sprintf(allOff, 100_000))
	h.prefix = []string{"prlimit", "--fsize=393216"}
	s := h.serve()
	s.allowed()
	got := untilRefused(t, s)
	s.order("")
	s.kill()
	v := h.look()
	h.prefix = nil
	h.trade(1)
	end := oracle(t, h.dir, time.Minute)
	t.Logf("the first refusal: %s; %d decisions allowed, %d orders at the broker", got, v.allowed(), end.placed)
}
