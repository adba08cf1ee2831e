package journal_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/order"
)

// fillIn gives every field of a body any value, absurd ones too: zones, monotonic
// readings, lists that are empty and not nil, texts that are no UTF-8, words out of range.
func fillIn(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case journal.Time:
		v.Set(reflect.ValueOf(journal.Time{Time: anyTime(t)}))
		return
	case time.Time:
		v.Set(reflect.ValueOf(anyTime(t)))
		return
	case money.Price:
		v.Set(reflect.ValueOf(figure(t, money.ParsePrice)))
		return
	case money.Quantity:
		v.Set(reflect.ValueOf(figure(t, money.ParseQuantity)))
		return
	case money.Notional:
		v.Set(reflect.ValueOf(figure(t, money.ParseNotional)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			fillIn(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fillIn(t, v.Index(i))
			}
		}
	case reflect.String:
		v.SetString(anyText(t))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Just(int64(math.MinInt64)), rapid.Int64Range(-2, 2), rapid.Int64()).Draw(t, "number"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.SampledFrom([]uint8{0, 1, 1, 2, 2, 2, 3, 4, 5, 6, 255}).Draw(t, "word")))
	case reflect.Uint64:
		v.SetUint(rapid.OneOf(rapid.Just(uint64(math.MaxUint64)), rapid.Uint64()).Draw(t, "count"))
	default:
		t.Fatalf("a body has a field of %s", v.Type())
	}
}

func anyText(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "", "a", "paper/7", `"`, `\`, "\x00\x1f\x7f", "\u2028<&>", "é", "\U0001F600", "{", "{}"}),
		rapid.String(), rapid.Custom(func(t *rapid.T) string {
			if rapid.IntRange(0, 20).Draw(t, "bad") > 0 {
				return "plain"
			}
			return string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "bytes"))
		})).Draw(t, "text")
}

func anyTime(t *rapid.T) time.Time {
	switch rapid.IntRange(0, 30).Draw(t, "time") {
	case 0, 1, 2:
		return time.Time{}
	case 3:
		return time.Time{}.In(time.FixedZone("east", 3600))
	case 4, 5, 6:
		return time.Now() // with a monotonic reading
	case 7, 8:
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), 5).In(time.FixedZone("west", -5*3600))
	case 9:
		return time.Date(rapid.SampledFrom([]int{-1, 10000, 9999, 1}).Draw(t, "year"), 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	}
	return time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
}

func figure[T any](t *rapid.T, parse func(string) (T, error)) T {
	text := rapid.SampledFrom([]string{"0", "0", "1", "-1.5", "200.02", "0.000000001", "-123456789.987654321"}).Draw(t, "figure")
	v, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// anyBody is a random body of any kind.
func anyBody(t *rapid.T) any {
	kind := rapid.SampledFrom(bodies()).Draw(t, "kind")
	if rapid.Bool().Draw(t, "often") {
		kind = journal.Decision{}
	}
	v := reflect.New(reflect.TypeOf(kind)).Elem()
	fillIn(t, v)
	return v.Interface()
}

// TestThePenWritesAsTheGeneralEncoder holds the hand-written encoder to the general one:
// the same bytes, and an error where that gives one.
func TestThePenWritesAsTheGeneralEncoder(t *testing.T) {
	check := func(t interface{ Errorf(string, ...any) }, body any) {
		want, wantErr := journal.EncodeAny(body)
		got, err := journal.EncodeBody(body)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Errorf("%T: written as\n%s (%v), want\n%s (%v)", body, got, err, want, wantErr)
		}
	}
	for _, body := range bodies() {
		check(t, body)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyBody(t)) })
}

// TestABodyHandedOverIsTheBodyRead holds an entry that was sealed to the same entry read
// from its bytes, so that folding the one is folding the other.
func TestABodyHandedOverIsTheBodyRead(t *testing.T) {
	handed := map[journal.Kind]int{}
	check := func(t interface{ Fatalf(string, ...any) }, body any) {
		kind := journal.KindOf(body)
		e, b, h, err := journal.SealEntry("paper", 7, journal.Hash{9}, time.Now(), "", kind, body)
		if err != nil {
			return
		}
		if journal.HashOf(b) != h {
			t.Fatalf("%s: the hash is not of the bytes", kind)
		}
		read, err := journal.Decode(b)
		if err != nil {
			t.Fatalf("%s: what was sealed is not read: %v\n%s", kind, err, b)
		}
		if journal.Handed(&e) {
			handed[kind]++
		}
		got, want := bodyOf(&e), bodyOf(&read)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: handed over\n%#v, read\n%#v", kind, got, want)
		}
		if got, want := journal.Unhanded(e), journal.Unhanded(read); !reflect.DeepEqual(got, want) {
			t.Fatalf("envelope %+v, want %+v", got, want)
		}
	}
	for _, body := range bodies() {
		check(t, body)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyBody(t)) })
	for _, kind := range []journal.Kind{journal.KindDecision, journal.KindOutcome, journal.KindFill, journal.KindRefusal} {
		if handed[kind] == 0 {
			t.Errorf("no body of kind %s was handed over", kind)
		}
	}
}

// bodyOf is the entry's body with the error of reading it.
func bodyOf(e *journal.Entry) [2]any {
	one := func(body any, err error) [2]any { return [2]any{body, err} }
	switch e.Kind {
	case journal.KindDecision:
		return one(journal.DecodeBody[journal.Decision](e))
	case journal.KindOutcome:
		return one(journal.DecodeBody[journal.Outcome](e))
	case journal.KindFill:
		return one(journal.DecodeBody[journal.Fill](e))
	case journal.KindRefusal:
		return one(journal.DecodeBody[journal.Refusal](e))
	}
	return [2]any{string(e.Body)}
}

// TestSealingChangesNoBody: what is handed over is normalized in a copy.
func TestSealingChangesNoBody(t *testing.T) {
	now := journal.Time{Time: time.Now()}
	d := journal.Decision{
		Broker: &journal.BrokerFigures{At: now}, Quote: &journal.Quote{At: now, LastValid: &journal.Mark{At: now}},
		Marks: []journal.Mark{{At: now}}, Intent: order.Intent{Action: order.ActionNew},
	}
	if _, _, _, err := journal.SealEntry("paper", 1, journal.Hash{}, at, "", journal.KindDecision, d); err != nil {
		t.Fatal(err)
	}
	if d.Broker.At != now || d.Quote.At != now || d.Quote.LastValid.At != now || d.Marks[0].At != now {
		t.Errorf("sealing changed the caller's body: %+v", d)
	}
}
