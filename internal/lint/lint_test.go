package lint

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/limits"
)

func run(t *testing.T, text []byte) *Report {
	t.Helper()
	doc, err := limits.Load("limits.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), doc, text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestShow(t *testing.T) {
	for _, f := range []string{"", "../../examples/limits.yaml", "../../testdata/cases/base.yaml"} {
		text := limits.Template("paper")
		if f != "" {
			text, _ = os.ReadFile(f)
		}
		begin := time.Now()
		r := run(t, text)
		t.Log(f, time.Since(begin), r.Played)
		for _, x := range r.Rails {
			if x.Verdict == Undecided {
				t.Log(x.Rail, x.Verdict, x.Steps, x.Floor, x.Tried, x.Because, x.By)
			}
		}
		for _, x := range r.Findings {
			t.Logf("%+v", x)
		}
	}
}
