package lint

import (
	"context"
	"testing"

	"github.com/broker-rails/broker-rails/internal/limits"
)

// BenchmarkLint judges the shipped document, without and with the page.
func BenchmarkLint(b *testing.B) {
	text := limits.Template("paper")
	doc, err := limits.Load("limits.yaml", text)
	if err != nil {
		b.Fatal(err)
	}
	for name, page := range map[string]bool{"Verdicts": false, "Page": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(context.Background(), doc, text, Options{Page: page}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
