package profile_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/order"
	"github.com/broker-rails/broker-rails/internal/profile"
	"github.com/broker-rails/broker-rails/profiles"
)

// full are the profiles that map a broker's orders whole.
func full() []string {
	return []string{
		"alpaca-v1", "alpaca-v2", "ibkr-code-rabi", "kite", "longbridge", "public", "robinhood-official", "schwab",
	}
}

func vectors(t *testing.T, id string) *profile.Vectors {
	t.Helper()
	b, err := profiles.Files().ReadFile("vectors/" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := profile.LoadVectors(b)
	if err != nil {
		t.Fatal(id, err)
	}
	return v
}

func TestVectors(t *testing.T) {
	names, err := fs.Glob(profiles.Files(), "vectors/*.json")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, name := range names {
		id := strings.TrimSuffix(path.Base(name), ".json")
		if id == "cases" || id == "tools" {
			continue
		}
		for _, m := range vectors(t, id).Run(shipped(t, id)) {
			t.Errorf("%s: %s: %s is %q, want %q", id, m.Vector, m.What, m.Got, m.Want)
		}
		ran++
	}
	if ran != len(full())+2 {
		t.Errorf("%d files of vectors ran", ran)
	}
	for _, id := range full() {
		if v := vectors(t, id); len(v.Calls) < 8 || len(v.Replies) < 4 {
			t.Errorf("%s has %d calls and %d replies", id, len(v.Calls), len(v.Replies))
		}
	}
}

// A vector that expects anything else than what the profile says is told.
func TestVectorsCanFail(t *testing.T) {
	p := shipped(t, "alpaca-v2")
	for i := range vectors(t, "alpaca-v2").Calls {
		for _, spoil := range []func(c *profile.CallVector){
			func(c *profile.CallVector) { c.Refused += "x" },
			func(c *profile.CallVector) { c.Class += "x" },
			func(c *profile.CallVector) { c.Judged = !c.Judged },
			func(c *profile.CallVector) { c.Forward = []byte(`{"other":1}`) },
			func(c *profile.CallVector) { c.Order = append(c.Order, profile.Word{From: "product", To: "x"}) },
		} {
			v := vectors(t, "alpaca-v2")
			v.Calls, v.Replies = v.Calls[i:i+1], nil
			spoil(&v.Calls[0])
			if len(v.Run(p)) == 0 {
				t.Errorf("%s passes with another answer", v.Calls[0].Name)
			}
		}
	}
}

func intent(t *testing.T, p *profile.Profile, tool, arguments string) (order.Intent, profile.Reading) {
	t.Helper()
	r, refusal := p.Read(tool, []byte(arguments))
	if refusal != nil {
		t.Fatal(refusal)
	}
	in, refusal := r.Intent()
	if refusal != nil {
		t.Fatal(refusal)
	}
	return in, r
}

// Two brokers with other names for the same things give the same order, and a third one
// takes one file and nothing else.
func TestThreeBrokersOneOrder(t *testing.T) {
	a, _ := intent(t, shipped(t, "preflight-a"), "paper_place_order_a",
		`{"symbol":"AAPL","side":"sell","quantity":20,"order_type":"limit","limit_price":"150.00"}`)
	b, _ := intent(t, shipped(t, "preflight-b"), "paper_place_order_b",
		`{"ticker":"AAPL","direction":"sell","qty":20,"order_type":"limit","price":"150.00"}`)
	text, err := os.ReadFile("testdata/third-broker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	third, err := profile.Load("third-broker.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	c, r := intent(t, third, "new_deal", `{"paper":"US.AAPL","lots":-20,"at":"150.00"}`)
	if a != b || a != c {
		t.Errorf("three orders:\n%+v\n%+v\n%+v", a, b, c)
	}
	if got := string(r.Forward("ours")); got != `{"paper":"US.AAPL","lots":-20,"at":"150.00","house_rules":true,"until":"tonight"}` {
		t.Errorf("forwarded %s", got)
	}
	if p := r.Answer("ours", profile.Reply{Texts: []string{"Thank you.\ndeal: 7"}}); p.Outcome != profile.Accepted || p.OrderID != "7" {
		t.Errorf("proof is %+v", p)
	}
	if _, refusal := third.Read("new_deal", []byte(`{"paper":"US.AAPL","lots":20,"at":"150","margin":2}`)); refusal == nil || refusal.Reason != profile.ForbiddenArgument {
		t.Errorf("margin: %v", refusal)
	}
}
