package journal_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/journal"
)

func TestTimeHasOneText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.Int64Range(-62135596800, 253402300799).Draw(t, "sec")
		want := time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		text := journal.At(want).String()
		var got journal.Time
		if err := got.UnmarshalText([]byte(text)); err != nil || !got.Equal(want) || got != journal.At(want) {
			t.Fatalf("%s read as %v (%v)", text, got, err)
		}
		oracle, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || !oracle.Equal(want) {
			t.Fatalf("the library reads %s as %v", text, oracle)
		}
	})
}

func TestTimeRefusesOtherTexts(t *testing.T) {
	for _, text := range []string{
		"", "2026-03-18T15:00:00Z", "2026-03-18T15:00:00.00000000Z", "2026-03-18T15:00:00.0000000000Z",
		"2026-03-18t15:00:00.000000000Z", "2026-03-18T15:00:00.000000000z", "2026-03-18 15:00:00.000000000Z",
		"2026-03-18T24:00:00.000000000Z", "2026-13-18T15:00:00.000000000Z", "2026-00-18T15:00:00.000000000Z",
		"2026-03-00T15:00:00.000000000Z", "2026-03-32T15:00:00.000000000Z", "2025-02-29T15:00:00.000000000Z",
		"2026-03-18T15:60:00.000000000Z", "2026-03-18T15:00:00,000000000Z", "+026-03-18T15:00:00.000000000Z",
		"2026-03-18T15:00:00.00000000-Z",
	} {
		var got journal.Time
		if err := got.UnmarshalText([]byte(text)); err == nil || !got.IsZero() {
			t.Errorf("%q read as %v", text, got)
		}
	}
	var year journal.Time
	year.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if b, err := year.MarshalText(); err == nil {
		t.Errorf("year 10000 written as %s", b)
	}
}

func TestHashText(t *testing.T) {
	h := journal.HashOf([]byte("x"))
	got, err := journal.ParseHash(h.String())
	if err != nil || got != h {
		t.Errorf("%s read as %s (%v)", h, got, err)
	}
	for _, text := range []string{"", h.String()[1:], h.String() + "0", strings.ToUpper(h.String()), "g" + h.String()[1:]} {
		if _, err := journal.ParseHash(text); err == nil {
			t.Errorf("%q read as a hash", text)
		}
	}
}

// TestClientOrderID pins the derivation, which a broker's records are compared with.
func TestClientOrderID(t *testing.T) {
	got := journal.ClientOrderID("paper", 12, journal.HashOf([]byte("entry")))
	if want := "br-"; !strings.HasPrefix(got, want) || len(got) != 27 {
		t.Errorf("id %q", got)
	}
	// printf 'broker-rails order id v1\npaper\n12\n%s' $(printf entry | sha256sum | cut -c-64) | sha256sum, first 15 bytes, base32.
	if want := "br-w4pofmjvrdmks2mz5kbvdy5i"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	seen := map[string]bool{got: true}
	for _, other := range []string{
		journal.ClientOrderID("paper2", 12, journal.HashOf([]byte("entry"))),
		journal.ClientOrderID("paper", 13, journal.HashOf([]byte("entry"))),
		journal.ClientOrderID("paper", 12, journal.HashOf([]byte("entry2"))),
	} {
		if seen[other] {
			t.Errorf("%s twice", other)
		}
		seen[other] = true
	}
}

func TestBoundText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text", "plain text"},
		{"naïve ünïcode €", "naïve ünïcode €"},
		{"a\nb\tc\x00", `a\u{000A}b\u{0009}c\u{0000}`},
		{"\u202egnp.exe", `\u{202E}gnp.exe`},
		{"a\u2028b\u2029c\u0085", `a\u{2028}b\u{2029}c\u{0085}`},
		{"\u200bx\ufeff", `\u{200B}x\u{FEFF}`},
		{"\U000e0041", `\u{E0041}`},
		{"\U000e0100", `\u{E0100}`},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\x7f", `\u{007F}`},
	} {
		if got := journal.BoundText(c.in, 100); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	if got := journal.BoundText(strings.Repeat("x", 30), 20); got != strings.Repeat("x", 12)+"...[cut]" {
		t.Errorf("cut to %q", got)
	}
	if got := journal.BoundText("long enough", 3); got != "" {
		t.Errorf("no room for the marker, but %q", got)
	}
}

func TestBoundTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "text") {
			in = rapid.String().Draw(t, "in")
		}
		max := rapid.IntRange(0, 80).Draw(t, "max")
		got := journal.BoundText(in, max)
		if len(got) > max || !utf8.ValidString(got) || journal.BoundText(got, max) != got {
			t.Fatalf("%q in %d: %q", in, max, got)
		}
		for _, r := range got {
			if r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e || r == 0x2028 || r == 0x2029 {
				t.Fatalf("%q holds %U", got, r)
			}
		}
	})
}
