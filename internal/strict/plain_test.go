package strict

import (
	"strconv"
	"strings"
	"testing"
)

func TestReaderTakesPlainScalars(t *testing.T) {
	const text = "id: 7\nday: 2026-03-18\nnothing: null\nlist: [1]\non: true\nword: \"true\"\n"
	r := &Reader{Problems{Name: "x.yaml"}}
	f := r.Fields(r.Read("x.yaml", []byte(text)), "", "id", "day", "nothing", "list", "on", "word", "absent", "needed")
	if f.Plain("id") != "7" || f.Plain("day") != "2026-03-18" || f.Plain("absent") != "" || f.Len() != 6 || !f.Flag("on") || len(r.List) != 0 {
		t.Fatalf("id %q, day %q, %d keys: %v", f.Plain("id"), f.Plain("day"), f.Len(), r.List)
	}
	for _, c := range []struct {
		name string
		read func()
		want string
	}{
		{"null", func() { f.Plain("nothing") }, "nothing: is not a text"},
		{"a list", func() { f.NeedPlain("list") }, "list: is not a text"},
		{"a key that is needed", func() { f.NeedPlain("needed") }, "needed: is missing"},
		{"the same as a tree", func() { f.Must("needed") }, "needed: is missing"},
		{"a flag in quotes", func() { f.Flag("word") }, "word: is neither true nor false"},
		{"a list to parse", func() { Parse(r, f.At("list"), "list", strconv.Atoi, "is no number", "") }, "list: is no number"},
		{"a text to parse", func() { Parse(r, f.At("day"), "day", strconv.Atoi, "is no number", "such as 1") }, "day: is no number; such as 1"},
	} {
		before := len(r.List)
		c.read()
		if len(r.List) != before+1 || !strings.HasSuffix(r.List[before].Error(), c.want) && !strings.Contains(r.List[before].Error(), c.want+";") {
			t.Errorf("%s: %v, want %q", c.name, r.List[before:], c.want)
		}
	}
	before := len(r.List)
	if n := Parse(r, f.At("id"), "id", strconv.Atoi, "is no number", ""); n != 7 {
		t.Errorf("parsed %d", n)
	}
	if n := Parse(r, f.At("absent"), "absent", strconv.Atoi, "is no number", ""); n != 0 || len(r.List) != before {
		t.Errorf("parsed %d of nothing: %v", n, r.List[before:])
	}
}

func TestJSONKeepsWhatWasWritten(t *testing.T) {
	const text = "{a: 1.50, b: 010, c: .5, d: 1_000, e: \"x\\\"y\", f: [true, null, yes], g: {}, h: []}"
	tree, err := Read("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"a":1.50,"b":"010","c":".5","d":"1_000","e":"x\"y","f":[true,null,"yes"],"g":{},"h":[]}`
	if got := string(AppendJSON(nil, tree)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
