package attest

import (
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/tree"
)

// BenchmarkCheckpoint takes a thousand new entries, signs them and keeps the checkpoint.
func BenchmarkCheckpoint(b *testing.B) {
	j := &book{}
	j.write(1000)
	k := New(Options{Folder: tree.In(b.TempDir()), Journal: j, EntriesEvery: 1000, Wall: time.Now})
	for b.Loop() {
		k.step(b.Context())
		b.StopTimer()
		j.write(1000)
		b.StartTimer()
	}
	if k.told != "" {
		b.Fatal(k.told)
	}
}
