package markfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/broker-rails/broker-rails/internal/markfile"
)

func TestAFileIsAskedForAndTakenAway(t *testing.T) {
	f := markfile.For(t.TempDir(), "paper")
	if _, on := f.Requested(); on {
		t.Fatal("a fresh folder asks for a halt")
	}
	if err := f.Request("stop now"); err != nil {
		t.Fatal(err)
	}
	if reason, on := f.Requested(); !on || reason != "stop now" {
		t.Fatalf("requested %v with %q", on, reason)
	}
	if err := f.Done(); err != nil {
		t.Fatal(err)
	}
	if _, on := f.Requested(); on {
		t.Fatal("the file still stands")
	}
	if err := f.Done(); err != nil {
		t.Fatalf("taking it away twice: %v", err)
	}
}

func TestFailClosedOddFilesAreRequests(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"empty":  func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"long":   func(p string) error { return os.WriteFile(p, make1MiB(), 0o600) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, markfile.Name)); err != nil {
			t.Fatal(err)
		}
		reason, on := markfile.ForAll(dir).Requested()
		if !on || len(reason) > markfile.ReasonBytesMax || reason == "" {
			t.Errorf("%s: requested %v, reason of %d bytes", name, on, len(reason))
		}
	}
}

// A link that leads nowhere stands all the same, and is not written through.
func TestFailClosedLinkIsARequest(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	f := markfile.For(dir, "paper")
	if err := os.Symlink(elsewhere, filepath.Join(dir, markfile.Name+"-paper")); err != nil {
		t.Skip("no links here:", err)
	}
	if _, on := f.Requested(); !on {
		t.Error("a link that leads nowhere is no request")
	}
	if err := f.Request("stop"); err != nil {
		t.Errorf("asking where a link stands: %v", err)
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("the file was written through the link")
	}
	if err := f.Done(); err != nil {
		t.Fatal(err)
	}
	if _, on := f.Requested(); on {
		t.Error("the link still stands")
	}
}

func make1MiB() []byte { return make([]byte, 1<<20) }

func TestTheFileForAllBindsEachAndStays(t *testing.T) {
	dir := t.TempDir()
	one, other, all := markfile.For(dir, "one"), markfile.For(dir, "other"), markfile.ForAll(dir)
	if err := one.Request("one"); err != nil {
		t.Fatal(err)
	}
	if _, on := other.Requested(); on {
		t.Error("one account's file binds another")
	}
	if err := all.Request("all"); err != nil {
		t.Fatal(err)
	}
	if err := other.Done(); err != nil {
		t.Fatal(err)
	}
	if reason, on := other.Requested(); !on || reason != "all" {
		t.Errorf("requested %v with %q, want the file for all", on, reason)
	}
	if _, on := markfile.InvalidLimits(dir, "one").Requested(); on {
		t.Error("a halt is taken for invalid limits")
	}
	if _, on := (markfile.File{}).Requested(); !on {
		t.Error("the zero file asks for nothing")
	}
}

// A folder that is none any more cannot be asked: that is no leave to trade.
func TestFailClosedFileThatCannotBeAskedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a path through a file is a plain absence here")
	}
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(folder, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]markfile.File{"account": markfile.For(folder, "paper"), "all": markfile.ForAll(folder)} {
		if _, on := f.Requested(); !on {
			t.Errorf("%s: a halt file that cannot be read is no request", name)
		}
	}
}

// Who has dealt with a request takes that one away, and leaves one that was made since.
func TestANewerRequestIsNotTakenAway(t *testing.T) {
	dir := t.TempDir()
	f := markfile.For(dir, "paper")
	_, on, done := f.Take()
	if on {
		t.Fatal("a fresh folder asks for a halt")
	}
	for _, reason := range []string{"first", "again"} { // of one length, and at once
		if err := f.Request(reason); err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
		got, on, next := f.Take()
		if !on || got != reason {
			t.Fatalf("requested %v with %q, want %q", on, got, reason)
		}
		done = next
	}
	if err := done(); err != nil {
		t.Fatal(err)
	}
	if _, on := f.Requested(); on {
		t.Error("the file still stands")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
}
