package money_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
)

func TestBinaryRoundTrip(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "0.000000001", "-0.000000001", "99999999999999999999.999999999", "-99999999999999999999.999999999"} {
		want := money.MustNotional(text)
		b, err := want.AppendBinary(nil)
		if err != nil || len(b) != money.BinaryBytes {
			t.Fatalf("%s: %d bytes, %v", text, len(b), err)
		}
		var got money.Notional
		if err := got.UnmarshalBinary(b); err != nil || got != want {
			t.Errorf("%s: read back %s, %v", text, got, err)
		}
	}
}

func TestBinaryRefusesWhatIsOutOfRange(t *testing.T) {
	figure := money.MustPrice("7")
	for _, b := range [][]byte{nil, make([]byte, 15), make([]byte, 17), {0x7f, 15: 0}, {0x80, 15: 0}} {
		if err := figure.UnmarshalBinary(b); err == nil || figure != money.MustPrice("7") {
			t.Errorf("%x: read as %s", b, figure)
		}
	}
}
