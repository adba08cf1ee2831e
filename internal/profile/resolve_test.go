package profile

import "testing"

const byNumber = `profile: 1
id: numbered
broker: Numbered
read: [instrument]
reads:
  instrument:
    tool: instrument
    arguments: {number: $symbol}
    from: structured
    items: found
    fields: {id: number, symbol: ticker, class: kind, currency: money}
    words: {class: {STK: us_equity, OPT: us_option}}
tools:
  deal:
    class: order.place
    asset: equity
    set: {order_type: market, time_in_force: day}
    args:
      conid: {to: raw_id, type: integer, id: digits, symbol: [us_equity_space], absent: refuse}
      side: {to: side, type: text, map: {B: buy, S: sell}, absent: refuse}
      qty: {to: quantity, type: integer, unit: shares, absent: refuse}
    result: {from: json, rules: [{has: [id], outcome: accepted, id: id}]}
`

func TestResolveNumbers(t *testing.T) {
	p, err := Load("numbered.yaml", []byte(byNumber))
	if err != nil {
		t.Fatal(err)
	}
	r := understood(t, p, "deal", `{"conid":72063691,"side":"B","qty":5}`)
	if _, refusal := r.Intent(); refusal == nil || r.Need != NeedInstrument {
		t.Fatalf("judged without its instrument: %v %q", refusal, r.Need)
	}
	q, ok := p.Resolve(&r)
	if !ok || q.Tool != "instrument" || string(q.Arguments) != `{"number":"72063691"}` {
		t.Fatalf("asks %s %s %v", q.Tool, q.Arguments, ok)
	}
	row := `{"number":72063691,"ticker":"BRK B","kind":"STK","money":"USD"}`
	known, refusal := r.Resolved(q, Reply{Structured: []byte(`{"found":[` + row + `]}`)})
	if refusal != nil {
		t.Fatal(refusal)
	}
	in, refusal := known.Intent()
	if refusal != nil || in.Symbol != "BRK.B" || string(known.Forward("")) != `{"conid":72063691,"side":"B","qty":5}` {
		t.Errorf("%v %+v %s", refusal, in, known.Forward(""))
	}
	if _, again := p.Resolve(&known); again {
		t.Error("a known instrument is asked for")
	}
	for name, reply := range map[string]Reply{
		"none":             {Structured: []byte(`{"found":[]}`)},
		"two":              {Structured: []byte(`{"found":[` + row + `,` + row + `]}`)},
		"another number":   {Structured: []byte(`{"found":[{"number":1,"ticker":"BRK B","kind":"STK"}]}`)},
		"no number":        {Structured: []byte(`{"found":[{"ticker":"BRK B","kind":"STK"}]}`)},
		"another class":    {Structured: []byte(`{"found":[{"number":72063691,"ticker":"BRK B","kind":"OPT"}]}`)},
		"another spelling": {Structured: []byte(`{"found":[{"number":72063691,"ticker":"BRK/B","kind":"STK"}]}`)},
		"another currency": {Structured: []byte(`{"found":[{"number":72063691,"ticker":"BRK B","kind":"STK","money":"EUR"}]}`)},
		"an option":        {Structured: []byte(`{"found":[{"number":72063691,"ticker":"AAPL250321C00150000","kind":"OPT"}]}`)},
		"an error":         {Structured: []byte(`{"found":[` + row + `]}`), IsError: true},
		"in prose":         {Texts: []string{`{"found":[` + row + `]}`}},
	} {
		if known, refusal := r.Resolved(q, reply); refusal == nil {
			t.Errorf("%s: resolved as %v", name, known.Facts())
		}
	}
	other := understood(t, p, "deal", `{"conid":1,"side":"B","qty":5}`)
	if _, refusal := other.Resolved(q, Reply{Structured: []byte(`{"found":[` + row + `]}`)}); refusal == nil {
		t.Error("the answer to one number is taken for another")
	}
	// Legs by numbers stay unknown, and so does a profile that has no way to ask.
	legs := understood(t, loaded(t, "robinhood-official"), "place_option_order",
		`{"account_number":"R1","quantity":"1","price":"1","legs":[{"option_id":"`+orderID+`","side":"buy","position_effect":"open"}]}`)
	if _, ok := loaded(t, "robinhood-official").Resolve(&legs); ok || legs.Need != NeedInstrument {
		t.Errorf("legs by numbers are asked for; need %q", legs.Need)
	}
	if r.numbered(); r.Need != NeedInstrument {
		t.Error("the first reading changed")
	}
}

// The environment of an account that stands in a list is found.
func TestEnvironmentInAList(t *testing.T) {
	p := loaded(t, "ibkr-code-rabi")
	for text, want := range map[string]string{`{"accounts":[{"id":"DU123"}]}`: "paper", `{"accounts":[{"id":"U123"}]}`: "live", `{"accounts":[]}`: "", `{"accounts":[{"id":"X1"}]}`: ""} {
		got, err := p.EnvironmentOf(Reply{Texts: []string{text}})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
}
