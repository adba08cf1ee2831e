package profile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/profiles"
)

// shipped loads a profile that the product ships; nil when there is none.
func shipped(t *testing.T, id string) *profile.Profile {
	t.Helper()
	name := strings.ReplaceAll(id, "_", "-") + ".yaml"
	text, err := profiles.Files().ReadFile(name)
	if err != nil {
		return nil
	}
	p, err := profile.Load(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type argumentCase struct {
	Broker, Tool string
	Arguments    json.RawMessage
	Why          string
	Expect       struct {
		Verdict, Reason, Merge, Via, Outcome, Class, Target string
		N                                                   int
		Intent                                              map[string]any
	}
}

type resultCase struct {
	Broker, Tool string
	Result       struct {
		StructuredContent json.RawMessage
		Content           []struct{ Type, Text string }
		IsError           bool
	}
	Expect struct {
		Outcome, Token string
		OrderID        string `json:"order_id"`
		Items          []string
	}
	Why string
}

func cases(t *testing.T) (out struct {
	Arguments []argumentCase
	Results   []resultCase
}) {
	t.Helper()
	text, err := profiles.Files().ReadFile("vectors/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Each case of the brokers' traps has one right answer.
func TestArgumentCases(t *testing.T) {
	for _, c := range cases(t).Arguments {
		t.Run(c.Broker+" "+c.Tool+" "+c.Why, func(t *testing.T) {
			p := shipped(t, c.Broker)
			if p == nil {
				t.Fatalf("no profile for %s", c.Broker)
			}
			r, refusal := p.Read(c.Tool, c.Arguments)
			if refusal == nil && r.Class == profile.Confirm {
				var none profile.Tokens
				_, refusal = none.Take(r, now)
			}
			if c.Expect.Verdict == "refuse" {
				if refusal == nil {
					t.Fatalf("read as %+v, want %s", r, c.Expect.Reason)
				}
				if string(refusal.Reason) != c.Expect.Reason {
					t.Fatalf("refused for %v, want %s", refusal, c.Expect.Reason)
				}
				return
			}
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			checkReading(t, &r, &c)
		})
	}
}

// plainNumber leaves out zeros that a decimal may end in.
func plainNumber(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func checkReading(t *testing.T, r *profile.Reading, c *argumentCase) {
	t.Helper()
	switch c.Expect.Verdict {
	case "intent":
		for key, want := range c.Expect.Intent {
			got, wanted := figure(r, key), asText(want)
			if key == "notional" || key == "net_price" {
				got, wanted = plainNumber(got), plainNumber(wanted)
			}
			if got != wanted {
				t.Errorf("%s is %q, want %q", key, got, wanted)
			}
		}
	case "needs_order":
		if r.Need != profile.NeedOrder || c.Expect.Merge == "patch" != r.Keeps {
			t.Errorf("need is %q, keeps %v", r.Need, r.Keeps)
		}
	case "needs_position":
		if r.Need != profile.NeedPosition || r.Order.Target == nil || r.Order.Target.String() != c.Expect.Target {
			t.Errorf("need is %q, target %v", r.Need, r.Order.Target)
		}
	case "needs_resolution":
		if r.Need != profile.NeedInstrument || r.Via != c.Expect.Via || c.Expect.Outcome == "draft" != (r.Class == profile.Draft) {
			t.Errorf("need is %q by %q, class %q", r.Need, r.Via, r.Class)
		}
	case "class":
		if string(r.Class) != c.Expect.Class {
			t.Errorf("class is %q, want %q", r.Class, c.Expect.Class)
		}
	case "basket":
		if len(r.Basket) != c.Expect.N {
			t.Errorf("basket of %d, want %d", len(r.Basket), c.Expect.N)
		}
	default:
		t.Errorf("the case's verdict %q is not known", c.Expect.Verdict)
	}
}

func TestResultCases(t *testing.T) {
	for _, c := range cases(t).Results {
		t.Run(c.Broker+" "+c.Tool+" "+c.Why, func(t *testing.T) {
			p := shipped(t, c.Broker)
			if p == nil {
				t.Fatalf("no profile for %s", c.Broker)
			}
			reply := profile.Reply{Structured: c.Result.StructuredContent, IsError: c.Result.IsError}
			for _, b := range c.Result.Content {
				reply.Texts = append(reply.Texts, b.Text)
			}
			proof, ok := p.Outcome(c.Tool, reply)
			want := c.Expect.Outcome
			switch {
			case !ok:
				t.Fatal("the profile reads no reply of this tool")
			case want == "unknown":
				want = string(profile.InDoubt)
			case want == "rejected_or_unknown":
				if proof.Outcome != profile.Rejected && proof.Outcome != profile.InDoubt {
					t.Errorf("outcome is %q", proof.Outcome)
				}
				return
			}
			if string(proof.Outcome) != want || c.Expect.OrderID != "" && proof.OrderID != c.Expect.OrderID || proof.Token != c.Expect.Token {
				t.Errorf("proof is %+v, want %+v", proof, c.Expect)
			}
			for i, item := range c.Expect.Items {
				if i >= len(proof.Items) || string(proof.Items[i].Outcome) != item {
					t.Errorf("items are %+v, want %v", proof.Items, c.Expect.Items)
				}
			}
		})
	}
}
