package account_test

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/account"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/order"
)

// TestASnapshotOfAnotherLength is refused: shorter or longer, with the check sum that it
// had and with one of its own.
func TestASnapshotOfAnotherLength(t *testing.T) {
	c := begin(t)
	c.fill(c.working(order.Buy, "AAPL", "2", "10"), "1", "10")
	whole := snapshot(t, c.s)
	parts := whole[:len(whole)-sha256.Size]
	summed := func(b []byte) []byte {
		sum := sha256.Sum256(b)
		return append(b[:len(b):len(b)], sum[:]...)
	}
	if _, err := account.Restore(summed(parts)); err != nil {
		t.Fatalf("whole: %v", err)
	}
	for n := range len(whole) {
		if s, err := account.Restore(whole[:n]); err == nil || s != nil {
			t.Errorf("%d bytes are restored", n)
		}
	}
	for n := range len(parts) {
		if s, err := account.Restore(summed(parts[:n])); err == nil || s != nil {
			t.Errorf("%d bytes and their sum are restored", n)
		}
	}
	for _, more := range []string{"\x00", "\x01", "more"} {
		if s, err := account.Restore(summed(append(parts[:len(parts):len(parts)], more...))); err == nil || s != nil {
			t.Errorf("%q behind it is restored", more)
		}
	}
}

// TestASnapshotOfMuch: of a long text of limits, and of years of fills.
func TestASnapshotOfMuch(t *testing.T) {
	c := begin(t)
	c.must(journal.KindLimits, journal.Limits{Fingerprint: journal.Hash{1}.String(), Text: strings.Repeat("# \n", 10_000), Who: "w"})
	for i := range 9_000 {
		c.s.Remember("id"+strconv.Itoa(i), true)
	}
	digest := c.s.Digest()
	restored, err := account.Restore(snapshot(t, c.s))
	if err != nil {
		t.Fatal(err)
	}
	if restored.Digest() != digest || len(restored.LimitsText) != 30_000 || !restored.SeenExecution("id8999/2") {
		t.Error("restored otherwise")
	}
	c = begin(t)
	c.s.Remember("one", false)
	for i := range 3_000 {
		c.s.Remember("id"+strconv.Itoa(i), true)
	}
	if restored, err := account.Restore(snapshot(t, c.s)); err != nil || !restored.SeenExecution("id2999/2") {
		t.Errorf("restored otherwise: %v", err)
	}
}

// TestARestoredStateKnowsWhatWasAsked: under which id, by which decision, and for what.
func TestARestoredStateKnowsWhatWasAsked(t *testing.T) {
	c := begin(t)
	d := c.decision(intent(order.Buy, "AAPL", "1", "100"))
	d.Intent.ClientOrderID = "mine"
	reserve(&d, journal.BucketOpen)
	c.must(journal.KindDecision, d)
	c.fill("paper/2", "1", "100")
	c.fill(c.working(order.Sell, "AAPL", "1", "150"), "1", "150")
	restored, err := account.Restore(snapshot(t, c.s))
	if err != nil {
		t.Fatal(err)
	}
	if id, digest, known := restored.ClientID("mine"); !known || id != "paper/2" || digest != account.IntentDigest(&d.Intent) {
		t.Errorf("mine is %q %x", id, digest)
	}
	// What AAPL earned before it went flat is known when it is bought again.
	c.s = restored
	c.external(c.outside("AAPL", "1", "100"))
	is(t, "realized", c.s.Holding("AAPL").Realized, "50")
}
