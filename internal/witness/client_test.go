package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/verify"
)

// question asks for a history's newest checkpoint; the proof is honest from any size.
func question(l *testLog, list [][]byte, cosigned int64) Question {
	return Question{
		Checkpoint: l.checkpoint(list), Cosigned: cosigned,
		Request: func(_ context.Context, old int64) ([]byte, error) {
			if old > int64(len(list)) {
				return nil, fmt.Errorf("asked from %d of %d", old, len(list))
			}
			return l.request(list, int(old)), nil
		},
	}
}

// counted serves a witness and counts what it is asked.
func counted(t *testing.T, w *Witness) (of verify.Witness, asked *int) {
	t.Helper()
	asked = new(int)
	handler := w.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		*asked++
		handler.ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	return verify.Witness{Name: "w1", Key: w.Key(), URL: server.URL + "/"}, asked
}

func TestAskGoesOnFromTheWitnesssHead(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	of, asked := counted(t, w)
	ask := func(size int, cosigned int64, requests int) {
		t.Helper()
		*asked = 0
		q := question(l, straight(size), cosigned)
		line, at, err := Ask(t.Context(), of, q)
		if err != nil || at.IsZero() || *asked != requests {
			t.Fatalf("%v after %d requests", err, *asked)
		}
		if got, err := w.Key().CosignedAt(append(bytes.Clone(q.Checkpoint.Signed), line...)); err != nil || !got.Equal(at) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	ask(4, 0, 1)
	ask(9, 4, 1)
	ask(9, 9, 1)
	// An answer was lost, or another process asked: the conflict tells where to go on.
	ask(12, 4, 2)
	ask(20, 0, 2)
}

func TestBrokenPromisesAreTold(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	of, _ := counted(t, w)
	if _, _, err := Ask(t.Context(), of, question(l, straight(9), 0)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q    Question
		want error
	}{
		"a fork of the same size": {question(l, entries(9, " forked", 4), 9), ErrFork},
		"a rewrite":               {question(l, entries(12, " forked", 4), 9), ErrFork},
		"a rewrite from nothing":  {question(l, entries(12, " forked", 0), 0), ErrFork},
		"a journal that was cut":  {question(l, straight(6), 4), ErrAhead},
		"cut behind a cosigned":   {question(l, straight(6), 9), ErrAhead},
		"a witness put back":      {question(l, straight(20), 15), ErrWentBack},
	} {
		line, _, err := Ask(t.Context(), of, c.q)
		var asked *AskError
		if !errors.Is(err, c.want) || line != nil || !errors.As(err, &asked) || asked.Witness != "w1" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h, _ := w.Head(testOrigin); h.Size != 9 {
		t.Errorf("the head is of %d", h.Size)
	}
}

// Whatever a witness answers, what is no cosignature by the key that is pinned is none.
func TestBadAnswers(t *testing.T) {
	l := newTestLog(t, testOrigin)
	q := question(l, straight(6), 4)
	good, evil := newWitness(t, &Memory{}, l), newWitness(t, &Memory{}, l)
	sign := func(w *Witness, list [][]byte) string {
		line, err := w.Cosign(l.request(list, 0))
		if err != nil {
			t.Fatal(err)
		}
		return string(line)
	}
	other := sign(newWitnessWith(t, good.signer, l), straight(7))
	size := http.Header{"Content-Type": {"text/x.tlog.size"}}
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
	}{
		"nothing":                {200, nil, ""},
		"no signature":           {200, nil, "ok\n"},
		"another's signature":    {200, nil, sign(evil, straight(6))},
		"of another checkpoint":  {200, nil, other},
		"no line feed":           {200, nil, strings.TrimSuffix(sign(newWitnessWith(t, good.signer, l), straight(6)), "\n")},
		"a whole note":           {200, nil, string(q.Checkpoint.Signed)},
		"bad base64":             {200, nil, "— " + good.Key().Name() + " !!!!\n"},
		"too many lines":         {200, nil, strings.Repeat("— x AAAA\n", 100)},
		"too long":               {200, nil, strings.Repeat("a", answerBytesMax+10)},
		"a redirection":          {307, http.Header{"Location": {"/elsewhere"}}, ""},
		"not found":              {404, nil, "\x1b[2J"},
		"an error":               {500, nil, strings.Repeat("x", 5000)},
		"a size of 2^63":         {409, size, "9223372036854775808\n"},
		"a size of 2^63-1":       {409, size, "9223372036854775807\n"},
		"a negative size":        {409, size, "-1\n"},
		"a size with a zero":     {409, size, "05\n"},
		"a size without an end":  {409, size, "5"},
		"a size as another type": {409, http.Header{"Content-Type": {"text/plain"}}, "5\n"},
		"the size that was sent": {409, size, "4\n"},
		"a size that moves on":   {409, size, "5\n"}, // each time
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				requests++
				for k, v := range c.header {
					out.Header()[k] = v
				}
				out.WriteHeader(c.status)
				_, _ = io.WriteString(out, c.body)
			}))
			defer server.Close()
			line, _, err := Ask(t.Context(), verify.Witness{Name: "w1", Key: good.Key(), URL: server.URL}, q)
			if !errors.Is(err, ErrUnanswered) || line != nil {
				t.Errorf("%q, %v", line, err)
			}
			if requests > 2 {
				t.Errorf("%d requests", requests)
			}
			if text := fmt.Sprint(err); len(text) > 1000 || strings.ContainsAny(text, "\x1b\n") {
				t.Errorf("says %q", text)
			}
		})
	}
	for name, w := range map[string]verify.Witness{
		"no address": {Name: "w1", Key: good.Key()}, "nobody there": {Name: "w1", Key: good.Key(), URL: "http://127.0.0.1:1"},
		"no key": {Name: "w1", URL: "http://127.0.0.1:1"},
	} {
		if line, _, err := Ask(t.Context(), w, q); !errors.Is(err, ErrUnanswered) || line != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newWitnessWith(tb testing.TB, s Signer, l *testLog) *Witness {
	tb.Helper()
	w, err := New(Options{Signer: s, Logs: []verify.Key{l.key}, Heads: &Memory{}, Now: wallClock})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// Beside lines of keys that are not known stands the one that is.
func TestOtherLinesArePassedOver(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w, stranger := newWitness(t, &Memory{}, l), newWitness(t, &Memory{}, l)
	request := l.request(straight(6), 0)
	first, err := stranger.Cosign(request)
	if err != nil {
		t.Fatal(err)
	}
	second, err := w.Cosign(request)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		_, _ = out.Write(append(bytes.Clone(first), second...))
	}))
	defer server.Close()
	line, _, err := Ask(t.Context(), verify.Witness{Name: "w1", Key: w.Key(), URL: server.URL}, question(l, straight(6), 0))
	if err != nil || !bytes.Equal(line, second) {
		t.Errorf("%q, %v", line, err)
	}
}
