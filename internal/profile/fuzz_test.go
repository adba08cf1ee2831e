package profile

import (
	"os"
	"testing"
)

// FuzzLoad: a document is refused with its places, or gives a profile that refuses what it
// does not name.
func FuzzLoad(f *testing.F) {
	for _, id := range []string{"alpaca-v2", "kite", "preflight-a", "coinbase-visusnet", "tastytrade-cmike444"} {
		b, err := os.ReadFile("../../profiles/" + id + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("profile: 1\nid: x\nbroker: x\nread: [a]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Load("fuzz.yaml", b)
		if err != nil {
			if p != nil {
				t.Fatal("a refused document gives a profile")
			}
			return
		}
		if _, refusal := p.Read("\x00no such tool", []byte(`{}`)); refusal == nil || refusal.Reason != UnknownTool {
			t.Fatalf("an unknown tool passes: %v", refusal)
		}
		for _, rs := range p.tools {
			holds(t, p, rs.tool, []byte(`{}`))
		}
	})
}

// FuzzRead: no text makes any shipped profile forward what it did not read.
func FuzzRead(f *testing.F) {
	all := everyProfile(f)
	for i, p := range all {
		for j, rs := range p.tools {
			f.Add(uint8(i), uint8(j), []byte(`{"symbol":"AAPL","side":"buy","qty":"10","order_id":"61e69015-8549-4bfd-b9c3-01e75843f47d"}`))
			if len(rs.open)+len(rs.json) > 0 {
				f.Add(uint8(i), uint8(j), []byte(`{"orderJson":"{\"order-type\":\"Limit\"}","orderConfiguration":{"marketMarketIoc":{}}}`))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which, tool uint8, raw []byte) {
		p := all[int(which)%len(all)]
		if len(p.tools) == 0 {
			return
		}
		holds(t, p, p.tools[int(tool)%len(p.tools)].tool, raw)
	})
}

// FuzzOutcome: no reply proves an order without the id that its rule promises.
func FuzzOutcome(f *testing.F) {
	var all []*result
	for _, p := range everyProfile(f) {
		for _, rs := range p.tools {
			if rs.result != nil {
				all = append(all, rs.result)
			}
		}
	}
	f.Add(uint8(0), []byte(`{"data":{"id":"o-1"}}`), `{"order_id":"1"}`, false)
	f.Add(uint8(9), []byte(nil), "order_id: 55\nstatus: x", false)
	f.Add(uint8(40), []byte(`[{"order_id":"987"}]`), `[{"order_id":"987"}]`, true)
	f.Fuzz(func(t *testing.T, which uint8, structured []byte, whole string, isError bool) {
		rs := all[int(which)%len(all)]
		reply := Reply{IsError: isError, Texts: []string{whole}}
		if len(structured) > 0 {
			reply.Structured = structured
		}
		p := rs.read(reply)
		switch p.Outcome {
		case InDoubt, Rejected, PendingConfirmation, PendingApproval, Drafted, CancelRequested, Partial:
		case Accepted:
			if isError {
				t.Fatal("an error is taken for an order")
			}
			for _, r := range rs.rules {
				if r.outcome == Accepted && r.id != "" && p.OrderID == "" && len(p.Items) == 0 && rs.rules[0].noID == "" {
					t.Fatal("accepted without an id")
				}
			}
		default:
			t.Fatalf("outcome %q", p.Outcome)
		}
		for _, s := range []string{p.OrderID, p.ClientID, p.Token, p.Status, p.Symbol, p.Side} {
			if !label(s) {
				t.Fatalf("%q would stand in a journal", s)
			}
		}
	})
}

// FuzzLines: no text of lines gives a key two values.
func FuzzLines(f *testing.F) {
	f.Add("Disclaimer...\nclient_order_id: abc\norder_id: 55")
	f.Add("order_id: 1\r\norder_id: 2")
	f.Fuzz(func(t *testing.T, s string) {
		v := lines(s)
		if v == nil {
			return
		}
		seen := map[string]bool{}
		for _, n := range v.names {
			if seen[n] || !plain(n, 64) {
				t.Fatalf("%q", n)
			}
			seen[n] = true
		}
	})
}

// FuzzVectors: a file of vectors is refused or runs.
func FuzzVectors(f *testing.F) {
	p := loaded(f, "preflight-a")
	b, err := os.ReadFile("../../profiles/vectors/preflight-a.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		if v, err := LoadVectors(b); err == nil {
			v.Run(p)
		}
	})
}
