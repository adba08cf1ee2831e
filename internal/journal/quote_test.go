package journal

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// A side of zero is present and bad, one that is absent is absent: a decision that was
// denied for the first must not read as an error for the second.
func TestASideOfZeroIsWritten(t *testing.T) {
	t.Parallel()
	zero, ask := money.MustPrice("0"), money.MustPrice("200.02")
	var equity money.Notional
	text, err := EncodeBody(Decision{Intent: order.Intent{Action: order.ActionNew}, Quote: &Quote{Bid: &zero, Ask: &ask}, Equity: &equity})
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]bool{`"bid":"0"`: true, `"ask":"200.02"`: true, `"last"`: false, `"equity":"0"`: true} {
		if strings.Contains(string(text), part) != want {
			t.Errorf("%s: want %v in %s", part, want, text)
		}
	}
}
