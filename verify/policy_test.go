package verify

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// testWitness cosigns whatever it is given. It is written from the specification, and
// shares nothing with the witness that the product runs.
type testWitness struct {
	name string
	key  ed25519.PrivateKey
}

func witnessOf(name string) testWitness {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return testWitness{name, ed25519.NewKeyFromSeed(seed)}
}

func (w testWitness) material() []byte {
	return append([]byte{4}, w.key.Public().(ed25519.PublicKey)...)
}

func (w testWitness) vkey() string {
	return fmt.Sprintf("%s+%08x+%s", w.name, witnessKeyID(w.name, w.material()), base64.StdEncoding.EncodeToString(w.material()))
}

func (w testWitness) line(body string, stamp uint64) string {
	sig := ed25519.Sign(w.key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", stamp, body))
	raw := binary.BigEndian.AppendUint32(nil, witnessKeyID(w.name, w.material()))
	raw = append(binary.BigEndian.AppendUint64(raw, stamp), sig...)
	return "— " + w.name + " " + base64.StdEncoding.EncodeToString(raw) + "\n"
}

// testCheckpoint is signed by a log whose key is returned.
func testCheckpoint(tb testing.TB) (signed []byte, body string, key Key, vkey string) {
	tb.Helper()
	secret, public, err := note.GenerateKey(zeros{}, "log.example/a")
	if err != nil {
		tb.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		tb.Fatal(err)
	}
	body = "log.example/a\n7\n" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	if signed, err = note.Sign(&note.Note{Text: body}, signer); err != nil {
		tb.Fatal(err)
	}
	if key, err = ParseKey([]byte(public)); err != nil {
		tb.Fatal(err)
	}
	return signed, body, key, public
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestCosignedAt(t *testing.T) {
	signed, body, _, logKey := testCheckpoint(t)
	w := witnessOf("w.example/1")
	k, err := ParseWitnessKey([]byte(w.vkey() + "\n"))
	if err != nil || k.String() != w.vkey() || k.Name() != w.name {
		t.Fatalf("%v, %v", k, err)
	}
	with := func(lines ...string) []byte { return []byte(string(signed) + strings.Join(lines, "")) }
	good := w.line(body, 1_700_000_000)
	at, err := k.CosignedAt(with(good))
	if err != nil || at.Unix() != 1_700_000_000 {
		t.Fatalf("%v, %v", at, err)
	}
	other := strings.Replace(body, "\n7\n", "\n8\n", 1)
	raw, err := base64.StdEncoding.DecodeString(strings.Fields(good)[2])
	if err != nil {
		t.Fatal(err)
	}
	raw[11]++ // the time alone
	for name, text := range map[string][]byte{
		"no cosignature":     signed,
		"another witness":    with(witnessOf("w.example/2").line(body, 5)),
		"another's key":      with(testWitness{w.name, witnessOf("x").key}.line(body, 5)),
		"another checkpoint": with(w.line(other, 5)),
		"another time":       with("— " + w.name + " " + base64.StdEncoding.EncodeToString(raw) + "\n"),
		"no time":            with("— " + w.name + " " + base64.StdEncoding.EncodeToString(raw[:4]) + "\n"),
		"the year 10000":     with(w.line(body, stampMax+1)),
		"a time of 2^64-1":   with(w.line(body, 1<<64-1)),
		"not a note":         []byte("w\n"),
		"nothing":            nil,
		"too long":           append(with(good), make([]byte, CheckpointBytesMax)...),
		"a body of the log":  with(good)[1:],
	} {
		if at, err := k.CosignedAt(text); err == nil || !at.IsZero() {
			t.Errorf("%s: at %v", name, at)
		}
	}
	if _, err := (WitnessKey{}).CosignedAt(with(good)); !errors.Is(err, ErrSignature) {
		t.Errorf("the zero key: %v", err)
	}
	for name, text := range map[string]string{
		"a log's key": logKey, "nothing": "", "another id": strings.Replace(w.vkey(), "+", "+0", 1),
		"another name": "x" + w.vkey(), "a space": "w " + w.vkey(), "cut": w.vkey()[:60], "two lines": w.vkey() + "\n\n",
		"another key": w.vkey()[:len(w.vkey())-3] + "AA=",
	} {
		if _, err := ParseWitnessKey([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func policyOf(tb testing.TB, text string) *Policy {
	tb.Helper()
	p, err := ParsePolicy([]byte(text))
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return p
}

func witnessLines(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "witness %s %s\n", n, witnessOf("w.example/"+n).vkey())
	}
	return b.String()
}

// Every way to ask for a quorum, against every set of witnesses that may have cosigned,
// is held against a plain count.
func TestQuorum(t *testing.T) {
	signed, body, key, logKey := testCheckpoint(t)
	names := []string{"a", "b", "c", "d"}
	lines := witnessLines(names...)
	for text, met := range map[string]func(a, b, c, d int) bool{
		"quorum none\n":                                               func(_, _, _, _ int) bool { return true },
		"quorum b\n":                                                  func(_, b, _, _ int) bool { return b == 1 },
		"group g any a b\nquorum g\n":                                 func(a, b, _, _ int) bool { return a+b >= 1 },
		"group g all a b c d\nquorum g\n":                             func(a, b, c, d int) bool { return a+b+c+d == 4 },
		"group g 2 a b c\nquorum g\n":                                 func(a, b, c, _ int) bool { return a+b+c >= 2 },
		"group g 2 a b c\ngroup h all g d\nquorum h\n":                func(a, b, c, d int) bool { return a+b+c >= 2 && d == 1 },
		"group g all a b\ngroup h all c d\ngroup i 1 g h\nquorum i\n": func(a, b, c, d int) bool { return a+b == 2 || c+d == 2 },
		"log " + logKey + " https://log.example/\nquorum a\n":         func(a, _, _, _ int) bool { return a == 1 },
		"# a comment\n\n \t\ngroup\tg  1 a\n quorum g \n":             func(a, _, _, _ int) bool { return a == 1 },
	} {
		p := policyOf(t, lines+text)
		for set := range 16 {
			with, given := string(signed), [4]int{}
			for i, n := range names {
				if given[i] = set >> i & 1; given[i] == 1 {
					with += witnessOf("w.example/"+n).line(body, uint64(1000+i))
				}
			}
			q, err := p.Check([]byte(with), key)
			if err != nil {
				t.Fatal(err)
			}
			want := met(given[0], given[1], given[2], given[3])
			if q.Met != want {
				t.Errorf("%q with %v: met %v", text, given, q.Met)
			}
			if len(q.Missing()) != 4-given[0]-given[1]-given[2]-given[3] {
				t.Errorf("missing %v of %v", q.Missing(), given)
			}
			if _, err := p.Require([]byte(with), key); errors.Is(err, ErrQuorum) == want {
				t.Errorf("%q with %v: %v", text, given, err)
			}
		}
	}
}

// One witness that signs many times, or under many names, is one.
func TestOneWitnessCountsOnce(t *testing.T) {
	signed, body, key, _ := testCheckpoint(t)
	w := witnessOf("w.example/a")
	p := policyOf(t, witnessLines("a", "b")+"group g all a b\nquorum g\n")
	with := string(signed)
	for i := range 5 {
		with += w.line(body, uint64(i+1))
	}
	if q, err := p.Check([]byte(with), key); err != nil || q.Met {
		t.Errorf("met by one witness: %v", err)
	}
}

func TestFailClosedPolicies(t *testing.T) {
	signed, body, key, logKey := testCheckpoint(t)
	full := []byte(string(signed) + witnessOf("w.example/a").line(body, 5))
	if q, err := (&Policy{}).Check(full, key); err != nil || q.Met {
		t.Errorf("the zero policy: %+v, %v", q, err)
	}
	if _, err := policyOf(t, "quorum none\n").Check(full, Key{}); err == nil {
		t.Error("no key, and a quorum")
	}
	// A policy that lists logs is for these alone.
	other := strings.Replace(logKey, "log.example/a", "log.example/b", 1)
	if k, err := ParseKey([]byte(other)); err == nil {
		t.Fatalf("%v: its id is not that of its name", k)
	}
	_, public, err := note.GenerateKey(strings.NewReader(strings.Repeat("another seed", 9)), "log.example/a")
	if err != nil {
		t.Fatal(err)
	}
	p := policyOf(t, "log "+public+"\nquorum none\n")
	if _, err := p.Check(full, key); !errors.Is(err, ErrSignature) || p.Knows(key) || len(p.Logs()) != 1 {
		t.Errorf("another log's policy: %v", err)
	}
	forged := []byte(strings.Replace(string(full), "\n7\n", "\n8\n", 1))
	if _, err := policyOf(t, "quorum none\n").Check(forged, key); !errors.Is(err, ErrSignature) {
		t.Errorf("a forged checkpoint: %v", err)
	}
}

func TestBadPolicies(t *testing.T) {
	_, _, _, logKey := testCheckpoint(t)
	a, b := witnessOf("w.example/a").vkey(), witnessOf("w.example/b").vkey()
	many := func(n int, line func(i int) string) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(line(i))
		}
		return out.String()
	}
	for name, text := range map[string]string{
		"nothing":              "",
		"no quorum":            "witness a " + a + "\n",
		"no line feed":         "quorum none",
		"two quorums":          "quorum none\nquorum none\n",
		"a quorum of two":      "witness a " + a + "\nquorum a a\n",
		"a quorum of nobody":   "quorum\n",
		"an unknown quorum":    "quorum a\n",
		"a quorum before":      "quorum a\nwitness a " + a + "\n",
		"an unknown word":      "witnes a " + a + "\nquorum none\n",
		"a comment behind":     "quorum none # of them\n",
		"a control character":  "quorum none\r\n",
		"a null":               "quorum\x00none\n",
		"another space":        "quorum\u00a0none\n",
		"no witness key":       "witness a\nquorum none\n",
		"a log's key":          "witness a " + logKey + "\nquorum none\n",
		"a witness's key":      "log " + a + "\nquorum none\n",
		"a witness named none": "witness none " + a + "\nquorum none\n",
		"a group named none":   "witness a " + a + "\ngroup none any a\nquorum none\n",
		"one key, two names":   "witness a " + a + "\nwitness b " + a + "\nquorum a\n",
		"one name, two keys":   "witness a " + a + "\nwitness a " + b + "\nquorum a\n",
		"one log twice":        "log " + logKey + "\nlog " + logKey + "\nquorum none\n",
		"a group twice":        "witness a " + a + "\nwitness b " + b + "\ngroup g any a\ngroup g any b\nquorum g\n",
		"a member twice":       "witness a " + a + "\ngroup g 2 a a\nquorum g\n",
		"a member of two":      "witness a " + a + "\ngroup g any a\ngroup h any a\nquorum h\n",
		"a group of itself":    "group g any g\nquorum g\n",
		"none in a group":      "group g any none\nquorum g\n",
		"nobody in a group":    "group g any\nquorum none\n",
		"zero of a group":      "witness a " + a + "\ngroup g 0 a\nquorum g\n",
		"two of one":           "witness a " + a + "\ngroup g 2 a\nquorum g\n",
		"a count with a zero":  "witness a " + a + "\ngroup g 01 a\nquorum g\n",
		"a negative count":     "witness a " + a + "\ngroup g -1 a\nquorum g\n",
		"a count of 2^63":      "witness a " + a + "\ngroup g 9223372036854775808 a\nquorum g\n",
		"a file as an address": "witness a " + a + " file:///etc/passwd\nquorum a\n",
		"no host":              "witness a " + a + " http://\nquorum a\n",
		"a password":           "witness a " + a + " http://u:p@w.example\nquorum a\n",
		"a query":              "witness a " + a + " http://w.example/?x=\nquorum a\n",
		"a long address":       "witness a " + a + " http://w.example/" + strings.Repeat("x", policyURLMax) + "\nquorum a\n",
		"a long name":          "witness " + strings.Repeat("x", policyNameMax+1) + " " + a + "\nquorum none\n",
		"too many words":       "witness a " + a + " http://w.example x\nquorum a\n",
		"too many witnesses":   many(policyNamesMax+1, func(i int) string { return fmt.Sprintf("witness n%d %s\n", i, witnessOf(fmt.Sprintf("w%d", i)).vkey()) }) + "quorum none\n",
		"too long":             strings.Repeat("#\n", PolicyBytesMax) + "quorum none\n",
	} {
		if p, err := ParsePolicy([]byte(text)); !errors.Is(err, ErrMalformed) || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// As many as a reader should take (c2sp.org/tlog-policy).
	p := policyOf(t, many(32, func(i int) string {
		return fmt.Sprintf("witness n%d %s http://w%d.example/\ngroup g%d any n%d\n", i, witnessOf(fmt.Sprintf("w%d", i)).vkey(), i, i, i)
	})+"quorum g31\n")
	if len(p.Witnesses) != 32 || p.Witnesses[31].URL != "http://w31.example/" {
		t.Errorf("%d witnesses", len(p.Witnesses))
	}
}

func FuzzPolicy(f *testing.F) {
	signed, body, key, logKey := testCheckpoint(f)
	full := []byte(string(signed) + witnessOf("w.example/a").line(body, 5))
	f.Add([]byte("log " + logKey + "\n" + witnessLines("a", "b") + "group g 2 a b\nquorum g\n"))
	f.Add([]byte("quorum none\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParsePolicy(text)
		if err != nil {
			return
		}
		q, err := p.Check(full, key)
		if err == nil && q.Met && p.quorum != quorumUndecided && len(q.Missing()) == len(q.Witnesses) {
			t.Fatalf("%q is met by nobody", text)
		}
		if q, err := p.Check(signed, key); err == nil && q.Met && p.quorum != quorumUndecided {
			t.Fatalf("%q is met without a cosignature", text)
		}
	})
}

func FuzzCosignature(f *testing.F) {
	signed, body, _, _ := testCheckpoint(f)
	w := witnessOf("w.example/a")
	good := w.line(body, 1_700_000_000)
	f.Add(w.vkey(), []byte(string(signed)+good))
	f.Add(w.vkey(), signed)
	k, err := ParseWitnessKey([]byte(w.vkey()))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string, text []byte) {
		if other, err := ParseWitnessKey([]byte(key)); err == nil && other.String() != strings.TrimSuffix(key, "\n") {
			t.Fatalf("%q is read as %s", key, other)
		}
		at, err := k.CosignedAt(text)
		if err != nil {
			return
		}
		if at.Unix() != 1_700_000_000 || !strings.HasPrefix(string(text), body) || at.After(time.Unix(stampMax, 0)) {
			t.Fatalf("%q is cosigned at %v", text, at)
		}
	})
}
