package account

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// fill gives every field below v a value of its own that is not zero, so that a field
// that a snapshot forgets is seen.
func fill(v reflect.Value, n *int) {
	*n++
	text := strconv.Itoa(*n)
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(int64(1_700_000_000+*n), int64(*n)).UTC()
	case *money.Quantity:
		*p = money.MustQuantity("-" + text + ".5")
	case *money.Price:
		*p = money.MustPrice(text + ".25")
	case *money.Notional:
		*p = money.MustNotional("-" + text + ".75")
	case *market.TradeDate:
		*p = market.TradeDate(20260300 + *n%28 + 1)
	case *[]*Order:
		// A holding's orders stand in the state's own list.
	case *[]journal.Difference:
		*p = make([]journal.Difference, 2)
		fill(reflect.ValueOf(p).Elem().Index(0), n)
		fill(reflect.ValueOf(p).Elem().Index(1), n)
	case **Pending:
		*p = new(Pending)
		fill(reflect.ValueOf(*p).Elem(), n)
	default:
		fillKind(v, text, n)
	}
}

func fillKind(v reflect.Value, text string, n *int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.String:
		v.SetString("t" + text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(1 + *n%2))
	case reflect.Uint64:
		v.SetUint(uint64(*n) << 40)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n) << 35)
	}
}

// kept encodes a filled value, reads it back and compares.
func kept[T any](t *testing.T, each func(*wire, *T)) {
	t.Helper()
	n := 0
	var want, got T
	fill(reflect.ValueOf(&want).Elem(), &n)
	w := wire{}
	each(&w, &want)
	r := wire{b: w.b, reading: true}
	each(&r, &got)
	if r.bad || len(r.b) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%T: bad %v, %d bytes left\n got %+v\nwant %+v", want, r.bad, len(r.b), got, want)
	}
	for cut := range w.b {
		r := wire{b: w.b[:cut], reading: true}
		var part T
		if each(&r, &part); !r.bad {
			t.Fatalf("%T: %d of %d bytes are read", want, cut, len(w.b))
		}
	}
}

func TestASnapshotKeepsEveryField(t *testing.T) {
	kept(t, (*wire).order)
	kept(t, (*wire).holding)
	kept(t, (*wire).day)
	kept(t, (*wire).twin)
	kept(t, (*wire).reconciled)
	kept(t, (*wire).instrument)
	kept(t, (*wire).terms)
	kept(t, (*wire).instant)
	kept(t, (*wire).quantity)
	kept(t, (*wire).i64)
	kept(t, (*wire).text)
	kept(t, func(w *wire, p **Pending) { w.pending(p) })
	kept(t, (*wire).date)
	e := ended{
		seq: 7, clientOrderID: "c", brokerID: "b", side: order.Sell, quantity: money.MustQuantity("5"),
		filled: money.MustQuantity("3"), status: "canceled", date: 20260318,
		instrument: order.Instrument{Symbol: "AAPL", Currency: "USD", Multiplier: money.MustQuantity("1"), Active: true, Class: order.USEquity},
	}
	w, got := wire{}, ended{}
	w.ended(&e)
	r := wire{b: w.b, reading: true}
	if r.ended(&got); r.bad || len(r.b) > 0 || !reflect.DeepEqual(got, e) {
		t.Errorf("an ended order: %+v, want %+v", got, e)
	}
	n := 0
	var head, back State
	fill(reflect.ValueOf(&head.Day).Elem(), &n)
	fill(reflect.ValueOf(&head.Clock).Elem(), &n)
	fill(reflect.ValueOf(&head.Reconciled).Elem(), &n)
	fill(reflect.ValueOf(&head.Peak).Elem(), &n)
	head.Account, head.Broker, head.Currency, head.Started, head.Seq, head.Head = "a", "b", "c", true, 9, journal.Hash{1, 2}
	head.At, head.Fingerprint, head.Mode, head.ModeBy, head.ModeReason = time.Unix(5, 6).UTC(), "f", Active, "by", "why"
	head.ModeAt, head.Cash, head.Cursor = time.Unix(7, 8).UTC(), money.MustNotional("-3"), "cur"
	w = wire{}
	w.header(&head)
	r = wire{b: w.b, reading: true}
	if r.header(&back); r.bad || len(r.b) > 0 || !reflect.DeepEqual(back, head) {
		t.Errorf("the head of a state: %+v, want %+v", back, head)
	}
}

// TestOneSpellingEach: what a writer would have written otherwise is not read.
func TestOneSpellingEach(t *testing.T) {
	read := map[string]func(w *wire){
		"flag":    func(w *wire) { var v bool; w.flag(&v) },
		"number":  func(w *wire) { var v uint64; w.u64(&v) },
		"text":    func(w *wire) { var v string; w.text(&v) },
		"list":    func(w *wire) { w.count(0, 4) },
		"instant": func(w *wire) { var v time.Time; w.instant(&v) },
		"figure":  func(w *wire) { var v money.Quantity; w.quantity(&v) },
		"price":   func(w *wire) { var v money.Price; w.price(&v) },
		"amount":  func(w *wire) { var v money.Notional; w.notional(&v) },
		"date":    func(w *wire) { var v market.TradeDate; w.date(&v) },
	}
	written := func(each func(w *wire)) []byte {
		w := wire{}
		each(&w)
		return w.b
	}
	nanos := func(n int64) []byte {
		return written(func(w *wire) { s := int64(5); w.i64(&s); w.i64(&n) })
	}
	day := func(n uint64) []byte { return written(func(w *wire) { w.u64(&n) }) }
	huge := append([]byte{15, 0x7f}, make([]byte, 14)...)
	for _, c := range []struct {
		name string
		b    []byte
		good bool
	}{
		{"flag", []byte{0}, true}, {"flag", []byte{1}, true}, {"flag", []byte{2}, false}, {"flag", nil, false},
		{"number", []byte{0}, true}, {"number", []byte{0x80, 1}, true}, {"number", []byte{0x80, 0}, false},
		{"number", []byte{0x80}, false}, {"number", nil, false},
		{"text", []byte{1, 'a'}, true}, {"text", []byte{2, 'a'}, false}, {"text", []byte{0}, true},
		{"list", []byte{1, 0, 0, 0, 0}, true}, {"list", []byte{1, 0, 0, 0}, false}, {"list", []byte{2, 0, 0, 0, 0}, false},
		{"instant", nanos(0), true}, {"instant", nanos(999_999_999), true}, {"instant", nanos(1_000_000_000), false}, {"instant", nanos(-1), false},
		{"figure", []byte{0}, true}, {"figure", []byte{1, 5}, true}, {"figure", []byte{1, 0}, false}, {"figure", []byte{0x81, 0xff}, false},
		{"figure", []byte{0x81, 0}, true}, {"figure", []byte{16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false},
		{"figure", []byte{2, 1}, false}, {"figure", nil, false},
		{"figure", huge, false}, {"price", huge, false}, {"amount", huge, false},
		{"date", day(0), true}, {"date", day(20260318), true}, {"date", day(20261399), false}, {"date", day(1), false},
	} {
		r := wire{b: c.b, reading: true}
		read[c.name](&r)
		if r.bad == c.good {
			t.Errorf("%s %v: bad %v", c.name, c.b, r.bad)
		}
		r = wire{b: c.b, reading: true, bad: true}
		if read[c.name](&r); !r.bad {
			t.Errorf("%s %v: what was bad is good again", c.name, c.b)
		}
	}
	w := wire{b: []byte("abc"), reading: true}
	if got := w.take(-1); got != nil || !w.bad {
		t.Errorf("taking -1 bytes gives %v", got)
	}
}
