package witness

import (
	"testing"

	"github.com/broker-rails/broker-rails/verify"
)

// BenchmarkCosign is one honest step of a log: read, verified, made durable, signed.
func BenchmarkCosign(b *testing.B) {
	l := newTestLog(b, testOrigin)
	const most = 64
	var requests [][]byte
	requests = append(requests, l.request(straight(1), 0))
	for size := 2; size <= most; size++ {
		requests = append(requests, l.request(straight(size), size-1))
	}
	for name, heads := range map[string]func() Heads{
		"memory": func() Heads { return &Memory{} },
		"folder": func() Heads {
			f, err := OpenFolder(b.TempDir()+"/witness", "")
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			return f
		},
	} {
		b.Run(name, func(b *testing.B) {
			var w *Witness
			i := most
			for b.Loop() {
				if i == most {
					b.StopTimer()
					var err error
					if w, err = New(Options{Signer: testSigner(b), Logs: []verify.Key{l.key}, Heads: fresh{heads()}, Now: wallClock}); err != nil {
						b.Fatal(err)
					}
					i = 0
					b.StartTimer()
				}
				if _, err := w.Cosign(requests[i]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// fresh begins without what was saved before.
type fresh struct{ Heads }

func (fresh) Load() ([]Head, error) { return nil, nil }
