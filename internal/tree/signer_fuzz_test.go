package tree

import "testing"

// FuzzParseSigner reads private keys. What is read signs as the log that it names.
func FuzzParseSigner(f *testing.F) {
	s, err := newSigner("broker-rails.local/00")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(s.secret))
	f.Add([]byte("PRIVATE+KEY+a+00000000+"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseSigner(text)
		if err != nil {
			return
		}
		c, err := s.Sign(1, [32]byte{1})
		if err == nil && (c.Origin != s.Origin() || c.Size != 1) {
			t.Fatalf("a checkpoint of %q and size %d", c.Origin, c.Size)
		}
	})
}
