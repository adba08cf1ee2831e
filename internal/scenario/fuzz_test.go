package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// FuzzLoad holds that any text is either scenarios or problems with their places, and
// that what loads can be run without a panic.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"steps":[{"raw":"{}"},{"call":{"tool":"get_quote"}},{"external":{"cash":"-1"}},{"reconcile":{"adopt":true}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Load("fuzz.yaml", text)
		if err != nil {
			var problems limits.Errors
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for i := range all {
			if len(all[i].steps) > 20 || i > 3 || all[i].account.ordersToday > 20 || all[i].limitsFile != "" {
				return
			}
			if _, err := Run(t.Context(), all[i], Options{}); err != nil {
				return
			}
		}
	})
}
