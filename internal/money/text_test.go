package money

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// traps are texts that at least one decimal library for Go reads as a number, or
// that people and programs write for one.
var traps = []struct {
	text string
	kind ParseErrorKind
}{
	{"", Empty},
	{"1e5", Syntax}, {"1E5", Syntax}, {"1e999999999", Syntax}, {"1e99999", Syntax}, {"1e", Syntax}, {"1e-9", Syntax},
	{"+1.5", Syntax}, {"+1", Syntax}, {".5", Syntax}, {"5.", Syntax}, {".", Syntax}, {"-", Syntax}, {"-.5", Syntax}, {"--1", Syntax},
	{" 1.5", Syntax}, {"1.5 ", Syntax}, {"1 000", Syntax}, {"1\n", Syntax}, {"\t1", Syntax},
	{"1_000", Syntax}, {"1,000", Syntax}, {"1,5", Syntax}, {"1'000", Syntax}, {"0x10", Syntax}, {"0b1", Syntax}, {"0o7", Syntax},
	{"\u0661\u0662", Syntax}, {"\uff11\uff12", Syntax}, {"1\uff0e5", Syntax}, {"\u22121", Syntax}, {"1\u200b", Syntax}, {"\ufeff1", Syntax},
	{"1\x00", Syntax}, {"\x00", Syntax}, {"1\x005", Syntax}, {"1\xff", Syntax},
	{"NaN", Syntax}, {"nan", Syntax}, {"sNaN", Syntax}, {"Inf", Syntax}, {"-Inf", Syntax}, {"+Inf", Syntax}, {"Infinity", Syntax}, {".inf", Syntax},
	{"00", Syntax}, {"01", Syntax}, {"0100", Syntax}, {"00.5", Syntax}, {"-01", Syntax},
	{"-0", Syntax}, {"-0.0", Syntax}, {"-0.00", Syntax}, {"-0.000000000", Syntax},
	{"1.2.3", Syntax}, {"1..2", Syntax}, {"1.-2", Syntax}, {"1-2", Syntax}, {"1/3", Syntax}, {"$1", Syntax}, {"1%", Syntax}, {"null", Syntax}, {`"1"`, Syntax},
	{"0.0000000001", TooManyDecimals}, {"1.0000000000", TooManyDecimals}, {"-0.0000000000", TooManyDecimals},
	{"0." + strings.Repeat("3", 29), TooManyDecimals},
	{"100000000000000000000", TooManyDigits}, {"-100000000000000000000", TooManyDigits}, {"123456789012345678901.5", TooManyDigits},
	{strings.Repeat("9", 32), TooManyDigits},
	{"000000000000000000001", Syntax}, {strings.Repeat("9", 31) + "x", Syntax}, {"1." + strings.Repeat("9", 29) + "x", Syntax},
	{strings.Repeat("9", 33), TooLong}, {strings.Repeat("1", 41), TooLong}, {strings.Repeat("x", 1_000_000), TooLong},
}

func TestFailClosedTraps(t *testing.T) {
	for _, trap := range traps {
		n, err := ParseNotional(trap.text)
		var parseError *ParseError
		if !errors.As(err, &parseError) || parseError.Kind != trap.kind || !n.IsZero() {
			t.Errorf("ParseNotional(%.40q) = %v, %v; want kind %v", trap.text, n, err, trap.kind)
			continue
		}
		if len(trap.text) > 2 && strings.Contains(err.Error(), trap.text) {
			t.Errorf("the error repeats the text %q", trap.text)
		}
		kept := NotionalFromInt(7)
		if err := kept.UnmarshalText([]byte(trap.text)); err == nil || kept != NotionalFromInt(7) {
			t.Errorf("UnmarshalText(%.40q) = %v, %v; want 7 kept", trap.text, kept, err)
		}
	}
}

func TestParseErrorKindsHaveWords(t *testing.T) {
	seen := map[string]ParseErrorKind{}
	for kind := range TooManyDigits + 2 {
		if other, ok := seen[kind.String()]; ok && kind <= TooManyDigits {
			t.Errorf("kinds %d and %d are both %q", other, kind, kind)
		}
		seen[kind.String()] = kind
	}
	if got := ParseErrorKind(0).String(); got != "unknown" {
		t.Errorf("the zero kind is %q", got)
	}
}

func TestParseAndWrite(t *testing.T) {
	for text, canonical := range map[string]string{
		"0": "0", "0.0": "0", "0.000000000": "0", "1": "1", "-1": "-1", "10": "10", "100.00": "100", "0.5": "0.5", "-0.5": "-0.5",
		"1.10": "1.1", "0.000000001": "0.000000001", "-0.000000001": "-0.000000001", "1000000000": "1000000000",
		"18446744073.709551615": "18446744073.709551615", "18446744073.709551616": "18446744073.709551616",
		"9007199254740993": "9007199254740993", "9999999999999999999": "9999999999999999999",
		"18446744073709551616": "18446744073709551616", "10000000000000000000.000000001": "10000000000000000000.000000001",
		"99999999999999999999.999999999": "99999999999999999999.999999999", "-99999999999999999999.999999999": "-99999999999999999999.999999999",
	} {
		n, err := ParseNotional(text)
		if err != nil || n.String() != canonical {
			t.Errorf("ParseNotional(%q) = %v, %v; want %s", text, n, err, canonical)
		}
		again, err := ParseNotional(n.String())
		if err != nil || again != n {
			t.Errorf("%s read again = %v, %v", n, again, err)
		}
	}
}

// TestTextAgainstOracle reads every figure with apd, and every text that apd and
// the grammar accept with both.
func TestTextAgainstOracle(t *testing.T) {
	manyChecks(t, func(t *rapid.T) {
		f := draw(t, "f")
		text := f.String()
		oracle, _, err := apd.NewFromString(text)
		if err != nil {
			t.Fatalf("apd does not read %q: %v", text, err)
		}
		if want := apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(bigOf(f)), -decimals); oracle.Cmp(want) != 0 {
			t.Fatalf("%q, want %v", text, want)
		}
		if strings.Contains(text, ".") && strings.HasSuffix(text, "0") || grammar.FindString(text) != text {
			t.Fatalf("%q is not the shortest decimal", text)
		}
		again, err := ParseQuantity(text)
		if err != nil || again.fixed != f {
			t.Fatalf("%q read again = %v, %v", text, again, err)
		}
		if appended, err := f.AppendText([]byte("x")); err != nil || string(appended) != "x"+text {
			t.Fatalf("AppendText = %q, %v; want x%s", appended, err, text)
		}
		if marshaled, err := f.MarshalText(); err != nil || string(marshaled) != text {
			t.Fatalf("MarshalText = %q, %v; want %s", marshaled, err, text)
		}
	})
	texts := rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,11})?`),
		rapid.StringOfN(rapid.SampledFrom([]rune("0019.-+e_ ")), 0, 12, -1))
	manyChecks(t, func(t *rapid.T) { agreesWithOracle(t.Fatalf, texts.Draw(t, "text")) })
}

// grammar is the one of the doc comments, as a regular expression.
var grammar = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,9})?$`)

var negativeZero = regexp.MustCompile(`^-0(\.0+)?$`)

func agreesWithOracle(fail func(string, ...any), text string) {
	p, err := ParsePrice(text)
	valid := len(text) <= textBytesMax && grammar.FindString(text) == text && text != "" && !negativeZero.MatchString(text)
	if (err == nil) != valid {
		fail("ParsePrice(%q) = %v, %v; the grammar says %v", text, p, err, valid)
	}
	var fromBytes Price
	if bytesErr := fromBytes.UnmarshalText([]byte(text)); (bytesErr == nil) != valid || fromBytes != p {
		fail("UnmarshalText(%q) = %v, %v; ParsePrice %v, %v", text, fromBytes, bytesErr, p, err)
	}
	if !valid {
		if parseError := (*ParseError)(nil); !errors.As(err, &parseError) || parseError.Kind.String() == "unknown" || p != (Price{}) {
			fail("ParsePrice(%q) = %v, %#v", text, p, err)
		}
		return
	}
	oracle, _, oracleErr := apd.NewFromString(text)
	if oracleErr != nil {
		fail("apd does not read %q: %v", text, oracleErr)
		return
	}
	written, _, _ := apd.NewFromString(p.String())
	if oracle.Cmp(written) != 0 {
		fail("ParsePrice(%q) = %v", text, p)
	}
	if again, err := ParsePrice(p.String()); err != nil || again != p {
		fail("%q: %v read again is %v, %v", text, p, again, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, trap := range traps {
		if len(trap.text) < 100 {
			f.Add(trap.text)
		}
	}
	f.Add("99999999999999999999.999999999")
	f.Add("-18446744073.709551616")
	f.Fuzz(func(t *testing.T, text string) { agreesWithOracle(t.Fatalf, text) })
}

func TestJSON(t *testing.T) {
	type ticket struct {
		Price    Price       `json:"price"`
		Stop     *Price      `json:"stop,omitempty"`
		Quantity Quantity    `json:"quantity,omitzero"`
		Value    Notional    `json:"value"`
		Band     BasisPoints `json:"band"`
		Share    Percent     `json:"share"`
	}
	stop := MustPrice("0.000000001")
	full := ticket{MustPrice("100.50"), &stop, MustQuantity("-3"), MustNotional("99999999999999999999.999999999"), MustBasisPoints("1.5"), MustPercent("0")}
	const text = `{"price":"100.5","stop":"0.000000001","quantity":"-3","value":"99999999999999999999.999999999","band":"1.5","share":"0"}`
	written, err := json.Marshal(full)
	if err != nil || string(written) != text {
		t.Errorf("written %s, %v\nwant    %s", written, err, text)
	}
	var read ticket
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	// Equal lets go-cmp compare figures although their field is unexported.
	if diff := cmp.Diff(full, read); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if written, err := json.Marshal(ticket{}); err != nil || string(written) != `{"price":"0","value":"0","band":"0","share":"0"}` {
		t.Errorf("zero ticket written %s, %v", written, err)
	}
	if err := json.Unmarshal([]byte(`{"stop":null}`), &read); err != nil || read.Stop != nil {
		t.Errorf("an absent price read as %v, %v", read.Stop, err)
	}

	byPrice := map[Price]string{}
	if err := json.Unmarshal([]byte(`{"1.50":"x"}`), &byPrice); err != nil || byPrice[MustPrice("1.5")] != "x" {
		t.Errorf("map by price read as %v, %v", byPrice, err)
	}
}

func TestFailClosedJSON(t *testing.T) {
	for _, value := range []string{
		`null`, `1`, `1.5`, `1e5`, `true`, `[]`, `["1"]`, `{}`, `""`, `" 1"`, `"1e5"`, `"NaN"`, `"-0"`, `"+1"`, `"1\u0030"`, `"\u0031"`, `"1`, `"12`, `12"`, `"`, ``,
	} {
		kept := struct{ Price Price }{PriceFromInt(7)}
		if err := json.Unmarshal([]byte(`{"Price":`+value+`}`), &kept); err == nil || kept.Price != PriceFromInt(7) {
			t.Errorf("%s read as %v, %v; want 7 kept", value, kept.Price, err)
		}
		if err := kept.Price.UnmarshalJSON([]byte(value)); err == nil || kept.Price != PriceFromInt(7) {
			t.Errorf("UnmarshalJSON(%s) = %v, %v; want 7 kept", value, kept.Price, err)
		}
	}
}

func TestMustPanics(t *testing.T) {
	for unit, f := range map[string]func(){
		"Price":       func() { MustPrice("x") },
		"Quantity":    func() { MustQuantity("x") },
		"Notional":    func() { MustNotional("x") },
		"BasisPoints": func() { MustBasisPoints("x") },
		"Percent":     func() { MustPercent("x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Must%s accepted x", unit)
				}
			}()
			f()
		}()
	}
}

func TestEveryUnitParses(t *testing.T) {
	want := MustNotional("-12.5").fixed
	p, pErr := ParsePrice("-12.50")
	q, qErr := ParseQuantity("-12.50")
	b, bErr := ParseBasisPoints("-12.50")
	c, cErr := ParsePercent("-12.50")
	if err := errors.Join(pErr, qErr, bErr, cErr); err != nil {
		t.Fatal(err)
	}
	for _, got := range []fixed{p.fixed, q.fixed, b.fixed, c.fixed, MustPrice("-12.5").fixed, MustQuantity("-12.5").fixed, MustBasisPoints("-12.5").fixed, MustPercent("-12.5").fixed} {
		if got != want {
			t.Errorf("parsed %v, want %v", got, want)
		}
	}
}
