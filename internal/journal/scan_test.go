package journal_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/broker-rails/broker-rails/internal/journal"
)

// agrees fails unless the checker that makes nothing of a body says what decoding and
// writing again says.
func agrees(t interface {
	Helper()
	Fatalf(string, ...any)
}, b []byte) {
	t.Helper()
	e, err := journal.Envelope(b)
	if err != nil {
		return
	}
	_, err = journal.Decode(b)
	if quick := journal.CanonicalBody(e.Kind, e.Body); quick != (err == nil) {
		t.Fatalf("the checker says %v, decoding says %v\n%s", quick, err, b)
	}
}

func FuzzInspect(f *testing.F) {
	for _, body := range vectorBodies() {
		f.Add(seal(f, body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		agrees(t, b)
		e, err := journal.Inspect(b)
		again, errAgain := journal.Decode(b)
		if (err == nil) != (errAgain == nil) {
			t.Fatalf("inspected with %v, decoded with %v", err, errAgain)
		}
		if err == nil && (e.Account != again.Account || e.Seq != again.Seq || e.Prev != again.Prev || e.Kind != again.Kind || e.Limits != again.Limits || !e.At.Equal(again.At.Time)) {
			t.Fatalf("inspected as %+v, decoded as %+v", e, again)
		}
	})
}

// Every byte of an entry of every kind, changed in many ways, left out, or doubled.
func TestInspectAgreesWithDecode(t *testing.T) {
	values := []byte("\x00\x1f \"\\0123459:nutfs{}[],-+.eE\x7f\x80\xc3\xff")
	for _, body := range vectorBodies() {
		text := seal(t, body)
		if e, err := journal.Inspect(text); err != nil || !journal.CanonicalBody(e.Kind, e.Body) {
			t.Fatalf("%T as it was sealed: %v", body, err)
		}
		start := bytes.Index(text, []byte(`"body":`))
		for i := start; i < len(text); i++ {
			changed := bytes.Clone(text)
			for _, c := range append(values, text[i]^1, text[i]^0x20, text[i]^0x80) {
				changed[i] = c
				agrees(t, changed)
			}
			agrees(t, append(bytes.Clone(text[:i]), text[i+1:]...))
			agrees(t, append(bytes.Clone(text[:i+1]), text[i:]...))
		}
	}
}

// Whatever stands in one place of one kind is tried in every place of every kind: values
// of other types, and values that should have been left out.
func TestInspectAgreesOnOtherValues(t *testing.T) {
	values := []string{
		`""`, `"x"`, `"0"`, `"-0"`, `"-0.5"`, `"00"`, `"0.10"`, `"0.1234567891"`, `"123456789012345678901"`, `"99999999999999999999.999999999"`,
		`"1e3"`, `".5"`, `"5."`, `0`, `-1`, `-0`, `01`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
		`18446744073709551615`, `18446744073709551616`, `99999999999999999999999`, `1.5`, `1e3`, `true`, `false`, `null`, `{}`, `[]`, `[""]`, `["a",]`, `["a","b"]`, `[{}]`, `[null]`,
		`"0001-01-01T00:00:00.000000000Z"`, `"2024-02-29T23:59:59.999999999Z"`, `"2023-02-29T00:00:00.000000000Z"`, `"1900-02-29T00:00:00.000000000Z"`,
		`"2026-04-31T00:00:00.000000000Z"`, `"2026-13-01T00:00:00.000000000Z"`, `"2026-00-01T00:00:00.000000000Z"`, `"2026-01-00T00:00:00.000000000Z"`,
		`"2026-01-01T24:00:00.000000000Z"`, `"0000-01-01T00:00:00.000000000Z"`, `"buy"`, `"stop_limit"`, `"gtd"`, `"forex"`, `"cancel"`,
		`"\u0000"`, `"\u000a"`, `"\n"`, `"\/"`, `"\u001F"`, `"\ud83d\ude00"`, "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\"", "\"\u2028\x7f\"", "\"12345678\xc3\"",
	}
	for _, body := range vectorBodies() {
		text := string(seal(t, body))
		for i := range text {
			if text[i] != ':' || text[i-1] != '"' {
				continue
			}
			end := i + 1 + valueBytes(text[i+1:])
			for _, v := range values {
				agrees(t, []byte(text[:i+1]+v+text[end:]))
			}
		}
	}
}

// valueBytes is the length of the JSON value that text starts with.
func valueBytes(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(text)
}

// TestFormsAreTheStructs holds the tables to the structs.
func TestFormsAreTheStructs(t *testing.T) {
	for _, body := range bodies() {
		want := shapeOf(reflect.TypeOf(body))
		if got := journal.FormText(journal.KindOf(body)); got != want {
			t.Errorf("%T\nthe table says %s\nthe struct says %s", body, got, want)
		}
	}
}

// shapeOf writes a struct's members as FormText writes a table's.
func shapeOf(typ reflect.Type) string {
	var out strings.Builder
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		out.WriteString(" " + name)
		if options != "" {
			out.WriteString("?")
		}
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of != reflect.TypeFor[journal.Time]() && !strings.HasSuffix(of.PkgPath(), "/money") && of.String() != "time.Time" {
			out.WriteString("(" + shapeOf(of) + " )")
		}
	}
	return out.String()
}

func TestInspectAllocatesNothing(t *testing.T) {
	for _, body := range bodies() {
		text := seal(t, body)
		e, err := journal.Envelope(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(50, func() { _ = journal.CanonicalBody(e.Kind, e.Body) }); n != 0 {
			t.Errorf("%T: %v allocations", body, n)
		}
	}
}

func TestInspectAgreesOnAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		b, _, err := journal.Seal("paper", 1, journal.Hash{}, at, "", journal.KindRefusal, journal.Refusal{Text: text, Count: 1})
		if err != nil {
			return
		}
		agrees(t, b)
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		b[cut] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		agrees(t, b)
	})
}

func BenchmarkInspect(b *testing.B) {
	text := seal(b, bodies()[3])
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Inspect(text); err != nil {
			b.Fatal(err)
		}
	}
}
