package normalize

import (
	"bytes"
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// A restricted symbol is restricted in every spelling, of the call and of the limits.
func TestLimitsAndCallsSpellAShareClassAlike(t *testing.T) {
	for _, written := range []string{"BRK.B", "BRK-B", "brk/b"} {
		text := bytes.Replace(limits.Template("paper"), []byte("restricted_symbols: []"), []byte("restricted_symbols: ["+written+"]"), 1)
		doc, err := limits.Load("limits", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range []string{"BRK.B", "BRK-B", "brk/b"} {
			symbol, ok := Symbol(asked)
			if got := doc.Instrument.RestrictedSymbols; !ok || len(got) != 1 || got[0] != symbol {
				t.Errorf("the limits say %s and hold %v, a call says %s and holds %q", written, got, asked, symbol)
			}
		}
	}
}
