package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":` + arguments + `}}`
	}
	for _, c := range []struct {
		name, raw string
		code      int // 0: passes
		id        string
	}{
		{"call", call(`{}`), 0, "1"},
		{"spaces round it", "  " + call(`{}`) + "\r\n", 0, "1"},
		{"answer", `{"jsonrpc":"2.0","id":"a","result":{}}`, 0, `"a"`},
		{"failed answer", `{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}`, 0, `"a"`},
		{"answer of nothing", `{"jsonrpc":"2.0","id":"a"}`, CodeInvalidRequest, `"a"`},
		{"answer and failure", `{"jsonrpc":"2.0","id":"a","result":{},"error":{}}`, CodeInvalidRequest, `"a"`},
		{"arguments at the depth", call(`{"a":` + deep(ArgumentsDepthMax-1) + `}`), 0, "1"},
		{"arguments too deep", call(`{"a":` + deep(ArgumentsDepthMax) + `}`), CodeInvalidParams, "1"},
		{"message too deep", call(deep(100_000)), CodeParse, ""},
		{"_meta at the depth", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":` + deep(DepthMax-3) + `}}}`, 0, "1"},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("a", FrameBytesMax) + `"}}`, CodeParse, ""},
		{"300 KiB", call(`{"note":"` + strings.Repeat("a", 300<<10) + `"}`), 0, "1"},
		{"id at its length", `{"jsonrpc":"2.0","id":"` + strings.Repeat("a", IDBytesMax-2) + `","method":"ping"}`, 0, `"` + strings.Repeat("a", IDBytesMax-2) + `"`},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("a", IDBytesMax-1) + `","method":"ping"}`, CodeInvalidRequest, ""},
		{"id of 15 digits", `{"jsonrpc":"2.0","id":-999999999999999,"method":"ping"}`, 0, "-999999999999999"},
		{"id of 16 digits", `{"jsonrpc":"2.0","id":1000000000000000,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id written otherwise", `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`, 0, `"a"`},
		{"kelvin", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","re` + "\u017f" + `ult":1,"_Meta":{}}}`, CodeInvalidRequest, "1"},
		{"name in upper case in _meta is no matter", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"Name":1}}}`, 0, "1"},
		{"unknown envelope member", `{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}`, 0, "1"},
		{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, CodeInvalidRequest, "1"},
		{"number with a leading zero", call(`{"a":01}`), CodeParse, ""},
		{"NaN", call(`{"a":NaN}`), CodeParse, ""},
		{"control character", call("{\"a\":\"\x01\"}"), CodeParse, ""},
		{"comment", call(`{/**/}`), CodeParse, ""},
		{"trailing comma", call(`{"a":1,}`), CodeParse, ""},
	} {
		f, v := Read([]byte(c.raw))
		switch {
		case c.code == 0 && v != nil:
			t.Errorf("%s: refused: %d %s", c.name, v.Code, v.Problem)
		case c.code == 0 && f.ID != c.id:
			t.Errorf("%s: id %q, want %q", c.name, f.ID, c.id)
		case c.code != 0 && (v == nil || v.Code != c.code || c.id != "" && v.ID != c.id):
			t.Errorf("%s: %+v, want code %d", c.name, v, c.code)
		case v != nil && (f.Kind != KindNone || v.Bytes == 0):
			t.Errorf("%s: a refused message is also handed on: %+v", c.name, f)
		}
	}
}

// endless gives letters, as many as it is told, then its tail.
type endless struct {
	left int
	tail io.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return e.tail.Read(p)
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	e.left -= n
	return n, nil
}

// TestALineWithoutEndIsBounded: 64 MiB without a line end are answered once, do not
// take memory, and the next good message passes.
func TestALineWithoutEndIsBounded(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	in := &endless{left: 64 << 20, tail: strings.NewReader("\n" + ping + "\n")}
	var out bytes.Buffer
	var reports []string
	s := NewStdio(in, &out, `"m"`, func(v *Violation) { reports = append(reports, v.Problem) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := make([]byte, 1024)
	n, err := s.In.Read(p)
	runtime.ReadMemStats(&after)
	if err != nil || string(p[:n]) != ping+"\n" {
		t.Fatalf("%q %v", p[:n], err)
	}
	if len(reports) != 1 || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "-32700") {
		t.Fatalf("reports %v, answers %q", reports, out.String())
	}
	// A line's buffer grows by at most a factor, so that all of its sizes together are a
	// small multiple of the limit.
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(8*FrameBytesMax); got > most {
		t.Fatalf("%d bytes were allocated, more than %d", got, most)
	}
	if _, err := s.In.Read(p); err != io.EOF {
		t.Fatalf("after the end: %v", err)
	}
}

func TestALastLineWithoutItsEnd(t *testing.T) {
	var out bytes.Buffer
	n := 0
	s := NewStdio(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","id":2,"meth`), &out, `"m"`, func(*Violation) { n++ })
	got, err := io.ReadAll(s.In)
	if err != nil || string(got) != `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n" || n != 1 || !strings.Contains(out.String(), `"id":2,"error":{"code":-32700`) {
		t.Fatalf("%q %v %d %q", got, err, n, out.String())
	}
}

// TestCallsInFlightAreBounded: one more than the limit is refused; one answer makes room.
func TestCallsInFlightAreBounded(t *testing.T) {
	var in strings.Builder
	for i := range CallsInFlightMax + 1 {
		in.WriteString(`{"jsonrpc":"2.0","id":` + string(appendID(nil, i)) + `,"method":"ping"}` + "\n")
	}
	r, w := io.Pipe()
	var out bytes.Buffer
	s := NewStdio(r, &out, `"m"`, func(*Violation) {})
	go func() { _, _ = io.WriteString(w, in.String()); _ = w.Close() }()
	passed, err := io.ReadAll(s.In)
	if err != nil || bytes.Count(passed, []byte("\n")) != CallsInFlightMax || !strings.Contains(out.String(), "-32000") {
		t.Fatalf("%d passed, %v, %q", bytes.Count(passed, []byte("\n")), err, out.String())
	}
	_, _ = s.Out.Write([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"))
	if v := s.In.(*lineReader).session.admit(&Frame{Kind: KindCall, ID: "0", Method: "ping"}); v != nil {
		t.Fatalf("after an answer: %s", v.Problem)
	}
}

func appendID(b []byte, i int) []byte { j, _ := json.Marshal(i); return append(b, j...) }

// TestWhatTheLibraryRefusesIsReported: an error answer to a tool call without the mark
// tells that nobody has recorded it. Text of a caller cannot forge the mark.
func TestWhatTheLibraryRefusesIsReported(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		reported     bool
	}{
		{"result", `{"jsonrpc":"2.0","id":1,"result":{}}`, false},
		{"error with the mark", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"","data":{"the/mark":1}}}`, false},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`, true},
		{"error with the mark in a text", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"\"the/mark\""}}`, true},
		{"another's error", `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}`, false},
	} {
		n := 0
		s := NewStdio(strings.NewReader(""), io.Discard, `"the/mark"`, func(*Violation) { n++ })
		inner := s.In.(*lineReader).session
		inner.ready = true
		if v := inner.admit(&Frame{Kind: KindCall, ID: "1", Method: MethodCallTool}); v != nil {
			t.Fatal(v)
		}
		if _, err := s.Out.Write([]byte(c.answer + "\n")); err != nil || (n == 1) != c.reported {
			t.Errorf("%s: %d reports, %v", c.name, n, err)
		}
	}
}

// TestClosingEndsAWaitingReader: a handshake that is never answered does not hold the
// session for ever.
func TestClosingEndsAWaitingReader(t *testing.T) {
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n"
	s := NewStdio(strings.NewReader(init+init), io.Discard, `"m"`, func(*Violation) {})
	p := make([]byte, 1024)
	if n, err := s.In.Read(p); err != nil || string(p[:n]) != init {
		t.Fatalf("%q %v", p[:n], err)
	}
	var ended sync.WaitGroup
	ended.Add(1)
	go func() {
		defer ended.Done()
		if _, err := s.In.Read(p); err != io.EOF {
			t.Errorf("after closing: %v", err)
		}
	}()
	time.Sleep(5 * time.Millisecond)
	_ = s.In.Close()
	ended.Wait()
	if _, err := s.Out.Write([]byte("{}\n")); err == nil {
		t.Error("written after closing")
	}
}

// FuzzRead: a message that passes is one that a strict and a lenient parser read alike.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{"symbol":"AAPL"}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `[{}]`, `{"id":null}`, "{\"a\":\"\xff\"}", `{"id":1,"id":2}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame, v := Read(raw)
		if v != nil {
			if !json.Valid(AppendError(nil, v)) {
				t.Fatalf("the answer is no JSON: %s", AppendError(nil, v))
			}
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
			} `json:"params"`
		}
		// encoding/json folds case and takes the last of two: whatever passes must leave it
		// nothing to choose.
		if err := json.Unmarshal(raw, &m); err != nil && frame.Method == MethodCallTool {
			t.Fatalf("passed and unreadable: %v", err)
		}
		if m.Method != frame.Method || frame.Method == MethodCallTool && m.Params.Name != frame.Tool {
			t.Fatalf("read as %q %q, by another parser as %q %q", frame.Method, frame.Tool, m.Method, m.Params.Name)
		}
		if (frame.Kind == KindNotification) != (frame.ID == "") {
			t.Fatalf("kind %d with id %q", frame.Kind, frame.ID)
		}
	})
}

// TestAnAnswerToNoQuestionIsRefused: no tool asks its caller anything.
func TestAnAnswerToNoQuestionIsRefused(t *testing.T) {
	for _, answer := range []string{`"inputResponses":{"a":1}`, `"requestState":"s"`} {
		line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"place_order","arguments":{},` + answer +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}` + "\n"
		var out bytes.Buffer
		reported := ""
		s := NewStdio(strings.NewReader(line), &out, `"m"`, func(v *Violation) { reported = v.Problem })
		passed, err := io.ReadAll(s.In)
		if err != nil || len(passed) != 0 || !strings.Contains(reported, "was not asked") || !strings.Contains(out.String(), `"id":1,"error"`) {
			t.Errorf("%s: passed %q, reported %q, answered %q, %v", answer, passed, reported, out.String(), err)
		}
	}
}

// TestTwoIDsAreNone: an answer to a message with two ids would be taken for the answer to
// another call; one id is found again in a message that is not sound.
func TestTwoIDsAreNone(t *testing.T) {
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`:                    "",
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`:     "1",
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":"b"}}`:  "1",
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1},"id":"1"}`: "",
	} {
		if _, v := Read([]byte(raw)); v == nil || v.Code != CodeParse || v.ID != want {
			t.Errorf("%s: %+v, want id %q", raw, v, want)
		}
	}
}
