package risk

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/rail"
)

func TestCombine(t *testing.T) {
	of := func(statuses ...rail.Status) (list []rail.Finding) {
		for _, s := range statuses {
			list = append(list, rail.Finding{Status: s})
		}
		return list
	}
	for _, row := range []struct {
		name string
		list []rail.Finding
		want Verdict
	}{
		{"all pass", of(rail.Pass, rail.Pass), Allowed},
		{"pass and off", of(rail.Pass, rail.Off), Allowed},
		{"any fault", of(rail.Pass, rail.Fault), Error},
		{"any deny", of(rail.Pass, rail.Deny), Denied},
		{"deny outweighs fault", of(rail.Fault, rail.Deny, rail.Fault), Denied},
		{"a finding that nobody made", of(rail.Pass, rail.StatusNone), Error},
		{"an unknown status", of(rail.Pass, 99), Error},
	} {
		if got, _, _ := combine(row.list); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestFailClosedNoRails(t *testing.T) {
	if got, _, _ := combine(nil); got != Denied {
		t.Errorf("an empty list of rails: %s, want denied", got)
	}
}
