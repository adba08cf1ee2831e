package mcpproxy

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// endless gives so many bytes of one line, and then what follows.
type endless struct {
	left int
	then io.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return e.then.Read(p)
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	e.left -= n
	return n, nil
}

// A message without an end costs what one message may, and the next one is read.
func TestLinkEndlessLine(t *testing.T) {
	l := Lines(&endless{left: 256 << 20, then: strings.NewReader("\n{\"next\":1}\n")}, io.Discard, func() error { return nil })
	defer l.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := l.Read()
	runtime.ReadMemStats(&after)
	var long *LongError
	if !errors.As(err, &long) || len(long.Head) > headBytesMax {
		t.Fatalf("%v", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8*MessageBytesMax {
		t.Errorf("it allocated %d bytes", grown)
	}
	if next, err := l.Read(); err != nil || string(next) != `{"next":1}` {
		t.Errorf("%s, %v", next, err)
	}
}

// stuck never takes anything until it is closed.
type stuck struct{ closed chan struct{} }

func (s stuck) Write([]byte) (int, error) { <-s.closed; return 0, io.ErrClosedPipe }

// Who does not read is left, and what waits for it is bounded.
func TestLinkStalled(t *testing.T) {
	s := stuck{make(chan struct{})}
	l := Lines(strings.NewReader(""), s, func() error { close(s.closed); return nil }).(*lines)
	l.stall = 50 * time.Millisecond
	message := bytes.Repeat([]byte("x"), 1<<20)
	written := 0
	for range 64 {
		if err := l.Write(message); err != nil {
			if !errors.Is(err, errStalled) {
				t.Error(err)
			}
			if written*len(message) > QueueBytesMax+len(message) {
				t.Errorf("%d messages waited", written)
			}
			return
		}
		written++
	}
	t.Error("it went on writing")
}

// Everything that was queued is written before a link closes.
func TestLinkCloseWrites(t *testing.T) {
	var out bytes.Buffer
	l := Lines(strings.NewReader(""), &out, func() error { return nil })
	for range 100 {
		if err := l.Write([]byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "{}\n"); got != 100 {
		t.Errorf("%d", got)
	}
	if err := l.Write([]byte("{}")); err == nil {
		t.Error("written after the end")
	}
}

func FuzzServerMessage(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"1","error":{"code":1}}`, `{"jsonrpc":"2.0","method":"x","params":[1]}`,
		`{"id":1,"id":2}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\xff}", `{"jsonrpc":"2.0","id":1.0,"result":{}}x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := readEnvelope(bytes.Clone(raw))
		if err != nil {
			salvageID(raw)
			return
		}
		if e.result == nil {
			return
		}
		// What goes on is the result's own bytes.
		line := response("7", e.result)
		back, err := readEnvelope(line)
		if err != nil || back.id != "7" || !bytes.Equal(back.result, e.result) {
			t.Errorf("%q: %v", line, err)
		}
		_, _ = readReply(e.result) // must not panic
	})
}
