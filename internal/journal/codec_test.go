package journal_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

var at = time.Date(2026, 3, 18, 15, 0, 0, 123, time.UTC)

// bodies holds one value of each kind with every member set.
func bodies() []any {
	price, equity := money.MustPrice("1.5"), money.MustNotional("-2")
	now := journal.At(at)
	in := order.Instrument{Active: true, Class: order.USOption, Currency: "USD", Multiplier: money.QuantityFromInt(100), Symbol: "A", Underlying: "B"}
	quantity, amount := money.MustQuantity("3"), money.MustNotional("4.25")
	held := journal.BrokerOrder{
		BrokerID: "b", ClientOrderID: "c", Filled: quantity, Group: "g", Instrument: in, LimitPrice: price, Quantity: quantity,
		Side: order.Buy, StopPrice: price, TimeInForce: order.GTC, Type: order.StopLimit,
	}
	mark := journal.Mark{Ask: price, At: now, Bid: price, Symbol: "A"}
	intent := order.Intent{
		Account: "a", Action: order.ActionReplace, ClientOrderID: "id", ExpireAt: at, ExtendedHours: true, LimitPrice: price,
		Type: order.Limit, Quantity: quantity, Side: order.Sell, StopPrice: price, Symbol: "A", Target: "a/1", TimeInForce: order.GTD,
	}
	return []any{
		journal.Genesis{
			Broker: "b", Cash: amount, Currency: "USD", Cursor: "c", OldHead: "o", Orders: []journal.BrokerOrder{held},
			Positions: []journal.Position{{Cost: price, Instrument: in, Quantity: quantity}}, Reason: "r", Version: "v", Who: "w",
		},
		journal.Limits{Fingerprint: "f", Loosens: []string{"a"}, Text: "t\n\"\\\u0001é\u2028", Tightens: []string{"b"}, Who: "w"},
		journal.Open{Equity: amount, Source: "marks", TradeDate: "2026-03-18"},
		journal.Decision{
			Agent: "a", Broker: &journal.BrokerFigures{At: now, BuyingPower: amount, Cash: amount}, Calendar: "c", CallID: "i",
			Clock: journal.Clock{BootID: "b", BootNS: 1, Suspect: true, Wall: now}, Control: 1, Door: "d",
			Effects: []journal.Effect{{Kind: "latch", Rail: "r"}}, Engine: "1", Equity: &equity, Fees: amount,
			Findings: []journal.Finding{{Limit: "l", Observed: "o", Passes: "p", Rail: "r", Status: "deny", Text: "t"}},
			Flags:    []string{"f"}, Instrument: in, Intent: intent, Marks: []journal.Mark{mark}, Mode: "active", Note: "n", Off: 1, Passes: 2,
			Quote: &journal.Quote{
				Absent: true, Ask: &price, At: now, Bid: &price, Currency: "USD", Feed: "f", Halted: true, Last: &price, LastValid: &mark,
			},
			RawDigest: "r", Reducing: true, ReplyBy: now,
			Reservation: &journal.Reservation{Bucket: "open", Cost: amount, Notional: amount, Price: price, Quantity: quantity},
			StateDigest: "s", Verdict: "allowed",
		},
		journal.Outcome{BrokerID: "b", Cursor: "c", Decision: 1, OrderID: "o", Reason: "r", ReplyDigest: "d", Result: "accepted"},
		journal.Latch{Rail: "r", TradeDate: "2026-03-18"},
		journal.Fill{Cursor: "c", ExecutedAt: now, ExecutionID: "e", Fees: amount, OrderID: "o", Price: price, Quantity: quantity},
		journal.External{
			Cash: &journal.CashFlow{Amount: amount, Reason: "r"}, Cursor: "c", Ended: &journal.ExternalEnd{BrokerID: "b", Result: "canceled"},
			Fill:  &journal.ExternalFill{BrokerID: "b", Fees: amount, Instrument: in, Price: price, Quantity: quantity, Side: order.Buy},
			Order: &held, ID: "s",
		},
		journal.Mode{By: "operator", Mode: "active", Reason: "r", RebasePeak: true, Who: "w"},
		journal.Refusal{Agent: "a", CallID: "i", Code: "c", Count: 1, Denial: true, Door: "d", Message: true, RawBytes: 1, RawDigest: "r", Text: "t", Tool: "t"},
		journal.Reconcile{
			Adopted: []string{"A"}, AsOf: now, Cash: amount, Differences: []journal.Difference{{Broker: quantity, Ledger: quantity, Symbol: "A"}},
			Order:     &journal.Resolution{BrokerID: "b", OrderID: "o", Price: price, Quantity: quantity, Reason: "r", Result: "filled"},
			Positions: []journal.Holding{{Cost: price, Instrument: &in, Quantity: quantity, Symbol: "A"}},
			Reason:    "r", Who: "w", Whole: true,
		},
		journal.Recovery{InDoubt: []string{"a/1"}, Note: "n", Version: "v"},
	}
}

func seal(t testing.TB, body any) []byte {
	t.Helper()
	b, h, err := journal.Seal("paper", 7, journal.Hash{9}, at, "", journal.KindOf(body), body)
	if err != nil {
		t.Fatal(err)
	}
	if h != journal.HashOf(b) {
		t.Fatal("hash is not of the bytes")
	}
	return b
}

// TestFieldsStandInCanonicalOrder walks every struct that an entry can hold.
func TestFieldsStandInCanonicalOrder(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		inside := strings.HasSuffix(typ.PkgPath(), "/journal") || strings.HasSuffix(typ.PkgPath(), "/order")
		if typ.Kind() != reflect.Struct || seen[typ] || !inside || typ == reflect.TypeFor[journal.Time]() {
			return
		}
		seen[typ] = true
		last := ""
		for i := range typ.NumField() {
			field := typ.Field(i)
			if !field.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name <= last {
				t.Errorf("%s.%s: name %q does not follow %q", typ, field.Name, name, last)
			}
			last = name
			walk(field.Type)
		}
	}
	walk(reflect.TypeFor[journal.Entry]())
	for _, body := range bodies() {
		walk(reflect.TypeOf(body))
	}
	if len(seen) < 25 {
		t.Errorf("only %d structs were seen", len(seen))
	}
}

// TestBodiesSetEveryMember keeps bodies whole when a member is added.
func TestBodiesSetEveryMember(t *testing.T) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is not set", path)
			return
		}
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() == reflect.Slice {
			v = v.Index(0)
		}
		if v.Kind() != reflect.Struct || !strings.HasSuffix(v.Type().PkgPath(), "/journal") || v.Type() == reflect.TypeFor[journal.Time]() {
			return
		}
		for i := range v.NumField() {
			walk(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
	for _, body := range bodies() {
		walk(reflect.TypeOf(body).Name(), reflect.ValueOf(body))
	}
}

func TestEveryKindRoundTrips(t *testing.T) {
	for _, body := range bodies() {
		b := seal(t, body)
		e, err := journal.Decode(b)
		if err != nil {
			t.Errorf("%T: %v\n%s", body, err, b)
			continue
		}
		again, err := journal.Encode(&e)
		if err != nil || string(again) != string(b) {
			t.Errorf("%T: written again as\n%s, want\n%s (%v)", body, again, b, err)
		}
		if e.Seq != 7 || e.Prev != (journal.Hash{9}) || !e.At.Equal(at) || e.Account != "paper" || e.Kind != journal.KindOf(body) {
			t.Errorf("%T: envelope %+v", body, e)
		}
	}
}

func TestDecodeBodyGivesWhatWasSealed(t *testing.T) {
	for _, body := range bodies() {
		want, ok := body.(journal.Decision)
		if !ok {
			continue
		}
		e, err := journal.Envelope(seal(t, want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := journal.DecodeBody[journal.Decision](&e)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v (%v)", got, want, err)
		}
		if _, err := journal.DecodeBody[journal.Fill](&e); err == nil {
			t.Error("a decision was read as a fill")
		}
	}
}

// TestBytesAreAsWritten pins the form: a second implementation must give these bytes.
func TestBytesAreAsWritten(t *testing.T) {
	b, h, err := journal.Seal("paper", 1, journal.Hash{}, at, "", journal.KindOpen,
		journal.Open{Equity: money.MustNotional("100000.5"), Source: "a\"\\/\b\t\n\u0001\u007fé", TradeDate: "2026-03-18"})
	want := `{"account":"paper","at":"2026-03-18T15:00:00.000000123Z","body":{"equity":"100000.5","source":"a\"\\/\b\t\n\u0001` + "\u007fé" +
		`","trade_date":"2026-03-18"},"kind":"open","limits":"","prev":"` + strings.Repeat("0", 64) + `","schema":1,"seq":1}`
	if err != nil || string(b) != want {
		t.Errorf("got  %s\nwant %s (%v)", b, want, err)
	}
	if got := h.String(); got != "2d991ccfef8002fc74b37c70409ed5b097e81c3132ad6b187f3500359226b87b" {
		t.Errorf("hash %s", got)
	}
}

func TestEnvelopeAgreesWithJSON(t *testing.T) {
	for _, body := range bodies() {
		b := seal(t, body)
		var plain journal.Entry
		if err := json.Unmarshal(b, &plain, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%T: %v", body, err)
		}
		e, err := journal.Envelope(b)
		if err != nil || !reflect.DeepEqual(e, plain) {
			t.Errorf("%T: %+v, JSON says %+v (%v)", body, e, plain, err)
		}
	}
}

func TestNotCanonicalIsRefused(t *testing.T) {
	good := string(seal(t, journal.Open{Equity: money.MustNotional("1.5"), Source: "marks", TradeDate: "2026-03-18"}))
	swaps := []struct{ name, old, new string }{
		{"space", `,"source"`, `, "source"`},
		{"space before the end", `}`, ` }`},
		{"trailing newline", `"seq":7}`, "\"seq\":7}\n"},
		{"trailing zero of a decimal", `"1.5"`, `"1.50"`},
		{"decimal as a number", `"1.5"`, `1.5`},
		{"null", `"1.5"`, `null`},
		{"escape that is not needed", `marks`, `m\u0061rks`},
		{"escaped slash", `marks`, `m\/rks`},
		{"upper-case escape", `marks`, `m\u001Frks`},
		{"long escape", `marks`, `m\u000arks`},
		{"bad UTF-8", `marks`, "m\xffrks"},
		{"control character", `marks`, "m\nrks"},
		{"unknown member", `"source"`, `"origin":"x","source"`},
		{"wrong case", `"source"`, `"Source"`},
		{"duplicate", `"source":"marks"`, `"source":"marks","source":"marks"`},
		{"order of members", `"equity":"1.5","source":"marks"`, `"source":"marks","equity":"1.5"`},
		{"missing member", `"equity":"1.5",`, ``},
		{"schema", `"schema":1`, `"schema":2`},
		{"schema as text", `"schema":1`, `"schema":"1"`},
		{"seq 0", `"seq":7`, `"seq":0`},
		{"seq with a leading zero", `"seq":7`, `"seq":07`},
		{"seq with an exponent", `"seq":7`, `"seq":7e0`},
		{"seq too large", `"seq":7`, `"seq":18446744073709551616`},
		{"unknown kind", `"kind":"open"`, `"kind":"opened"`},
		{"kind of another body", `"kind":"open"`, `"kind":"latch"`},
		{"upper-case hash", `"prev":"09`, `"prev":"0A`},
		{"short hash", `"prev":"09`, `"prev":"9`},
		{"limits", `"limits":""`, `"limits":"abc"`},
		{"time without its nanoseconds", `.000000123Z`, `Z`},
		{"time with an offset", `.000000123Z`, `.000000123+00:00`},
		{"no such day", `2026-03-18T`, `2026-02-30T`},
		{"second 60", `15:00:00.`, `15:00:60.`},
		{"account", `"account":"paper"`, `"account":"pa per"`},
		{"account with a slash", `"account":"paper"`, `"account":"pa/per"`},
		{"array for the body", `"body":{`, `"body":[{`},
		{"two values", `"body":{`, `"body":{},"body":{`},
		{"member after seq", `"seq":7`, `"seq":7,"t":1`},
	}
	if _, err := journal.Decode([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, s := range swaps {
		bad := strings.Replace(good, s.old, s.new, 1)
		if bad == good {
			t.Fatalf("%s: nothing to change", s.name)
		}
		if e, err := journal.Decode([]byte(bad)); err == nil {
			t.Errorf("%s was read: %+v\n%s", s.name, e, bad)
		}
	}
	for i := range len(good) {
		if _, err := journal.Decode([]byte(good[:i])); err == nil {
			t.Errorf("the first %d bytes were read", i)
		}
	}
}

func TestFailClosedSeal(t *testing.T) {
	open := journal.Open{Source: "marks", TradeDate: "2026-03-18"}
	cases := []struct {
		name    string
		account string
		seq     uint64
		limits  string
		kind    journal.Kind
		body    any
	}{
		{"no account", "", 1, "", journal.KindOpen, open},
		{"long account", strings.Repeat("a", 65), 1, "", journal.KindOpen, open},
		{"star in an account", "a*", 1, "", journal.KindOpen, open},
		{"seq 0", "a", 0, "", journal.KindOpen, open},
		{"fingerprint", "a", 1, "zz", journal.KindOpen, open},
		{"no kind", "a", 1, "", "", open},
		{"another kind", "a", 1, "", journal.KindFill, open},
		{"no body", "a", 1, "", journal.KindOpen, nil},
		{"bad UTF-8", "a", 1, "", journal.KindOpen, journal.Open{Source: "\xff"}},
		{"too long", "a", 1, "", journal.KindLimits, journal.Limits{Text: strings.Repeat("x", journal.EntryBytesMax)}},
	}
	for _, c := range cases {
		if b, _, err := journal.Seal(c.account, c.seq, journal.Hash{}, at, c.limits, c.kind, c.body); err == nil {
			t.Errorf("%s: sealed as %s", c.name, b)
		}
	}
	if _, err := journal.Decode(nil); err == nil {
		t.Error("nothing was read as an entry")
	}
	var typed *journal.EntryError
	if _, err := journal.Decode([]byte(`{}`)); !errors.As(err, &typed) {
		t.Errorf("error is %T", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range bodies() {
		f.Add(seal(f, body))
	}
	f.Add([]byte(`{"account":"a","at":"2026-03-18T15:00:00.000000000Z","body":{"x":","kind":"},"kind":"open"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := journal.Decode(b)
		if err != nil {
			return
		}
		again, err := journal.Encode(&e)
		if err != nil || string(again) != string(b) {
			t.Fatalf("read, but written again as %s (%v)", again, err)
		}
		var plain journal.Entry
		if err := json.Unmarshal(b, &plain, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("read, but it is no JSON: %v", err)
		}
	})
}
