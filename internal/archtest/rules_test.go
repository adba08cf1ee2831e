package archtest

import (
	"sync"
	"testing"
)

// loaded is the module, read once for all tests.
var loaded = sync.OnceValues(func() (*Module, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return Load(root)
})

func TestRules(t *testing.T) {
	m, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		t.Run(r.Name, func(t *testing.T) {
			for _, f := range r.Run(m) {
				t.Errorf("%s\n\t%s", f, r.Reason)
			}
		})
	}
}
