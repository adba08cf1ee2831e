package sqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

// small mounts a file system of so many bytes, for which the test needs privileges.
func small(t *testing.T, bytes int) string {
	t.Helper()
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

// TestRealDiskFull fills a small disk to the last byte. Appends are refused without
// breaking the store, all that was reported is there, and with space they go on.
func TestRealDiskFull(t *testing.T) {
	noLeaks(t)
	disk := small(t, 2<<20)
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, "journal")
	s := openAt(t, dir, Options{Create: true})
	var head gate.Head
	var err error
	next := func() *gate.Batch {
		text := fmt.Appendf(nil, "%016d", head.Seq+1)
		text = append(text, make([]byte, 20_000)...)
		return &gate.Batch{Account: "a", Expect: head, Entries: []gate.Stored{
			{Account: "a", Seq: head.Seq + 1, Hash: sha256.Sum256(text), Bytes: text}}}
	}
	for err == nil {
		b := next()
		if err = s.Append(t.Context(), b); err == nil {
			head = b.After()
		}
	}
	for range 3 {
		wantReason(t, err, ReasonDiskFull)
		err = s.Append(t.Context(), next())
	}
	if s.Broken() != nil || head.Seq == 0 {
		t.Fatalf("head %d, broken: %v", head.Seq, s.Broken())
	}
	check := func(s *Store) {
		t.Helper()
		if own, _, err := s.Heads(t.Context(), "a"); own != head || err != nil {
			t.Fatalf("head %d, %v; want %d", own.Seq, err, head.Seq)
		}
		if n := len(storetest.Contents(t, s, "a")); n != int(head.Seq) {
			t.Fatalf("%d entries, want %d", n, head.Seq)
		}
	}
	check(s)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	b := next()
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal("space returned: ", err)
	}
	head = b.After()
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(openAt(t, dir, Options{}))
}

// TestReadOnlyDisk mounts the disk read-only under an open store, and opens a journal on it.
func TestReadOnlyDisk(t *testing.T) {
	noLeaks(t)
	disk := small(t, 4<<20)
	dir := filepath.Join(disk, "journal")
	s, err := Open(t.Context(), dir, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	b := storetest.Batch("a", gate.Head{}, 3, "x")
	if err := errors.Join(s.Append(t.Context(), b), s.Close()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("may not remount: ", err)
	}
	if s, err := Open(t.Context(), dir, Options{}); err == nil {
		t.Error("opened for writing: ", s.Close())
	} else {
		wantReasonIn(t, err, ReasonReadOnly, ReasonUnreadable)
	}
	s, err = OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head := storetest.CheckChain(t, storetest.Contents(t, s, "a")); head != b.After() {
		t.Errorf("head %d", head.Seq)
	}
}
