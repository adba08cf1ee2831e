package rail

import (
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// judgedElsewhere are keys that no rail reads by itself: what the document is, and the
// slippage, which is part of the risk price.
var judgedElsewhere = map[string]bool{"collar.market_order_slippage": true}

// TestEveryKeyHasItsRail: a figure that an operator writes and no rail reads would be a
// promise that nobody keeps; a rail that names another key is documented wrongly.
func TestEveryKeyHasItsRail(t *testing.T) {
	read := map[string]bool{}
	for _, r := range All() {
		for _, key := range r.Keys {
			read[key] = true
		}
	}
	for _, key := range limits.Keys() {
		section, _, inSection := strings.Cut(key.Path, ".")
		if !inSection || section == "symbols" {
			continue
		}
		if !read[key.Path] && !judgedElsewhere[key.Path] {
			t.Errorf("no rail reads %s", key.Path)
		}
		delete(read, key.Path)
	}
	for key := range read {
		t.Errorf("a rail reads %s, which the document does not have", key)
	}
}
