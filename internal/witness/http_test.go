package witness

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/broker-rails/broker-rails/verify"
)

func wallClock() time.Time { return time.Now() }

func send(t *testing.T, method, url string, body io.Reader) (status int, kind, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(got)
}

// endless is a body that goes on for as long as somebody reads it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	e.read += len(p)
	return len(p), nil
}

func TestStatusesOnTheWire(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	at := server.URL + AddCheckpoint
	post := func(body []byte) (int, string, string) { return send(t, http.MethodPost, at, bytes.NewReader(body)) }

	status, _, text := post(l.request(straight(5), 0))
	if status != 200 || !strings.HasPrefix(text, "— "+w.Key().Name()+" ") || strings.Count(text, "\n") != 1 {
		t.Fatalf("%d %q", status, text)
	}
	if status, kind, text := post(l.request(straight(7), 0)); status != 409 || kind != "text/x.tlog.size" || text != "5\n" {
		t.Errorf("%d %q %q", status, kind, text)
	}
	if status, kind, text := post(l.request(entries(5, " forked", 2), 5)); status != 409 || kind == "text/x.tlog.size" || text == "5\n" {
		t.Errorf("%d %q %q", status, kind, text)
	}
	stranger := newTestLog(t, "elsewhere.example/log")
	for want, body := range map[int][]byte{
		400: []byte("old 0\n"), 403: newTestLog(t, testOrigin).request(straight(7), 5), 404: stranger.request(straight(7), 5),
		422: l.request(entries(7, " forked", 2), 5),
	} {
		if status, _, text := post(body); status != want || strings.Contains(text, "— ") {
			t.Errorf("%d %q, want %d", status, text, want)
		}
	}
	if status, _, _ := send(t, http.MethodGet, at, nil); status != 405 {
		t.Errorf("GET: %d", status)
	}
	if status, _, _ := send(t, http.MethodPost, server.URL+"/add-something", nil); status != 404 {
		t.Errorf("another path: %d", status)
	}
	if status, _, text := send(t, http.MethodGet, server.URL+"/", nil); status != 200 || !strings.Contains(text, w.Key().String()) {
		t.Errorf("at the root: %d %q", status, text)
	}
	if h, _ := w.Head(testOrigin); h.Size != 5 {
		t.Errorf("the head is of %d", h.Size)
	}
}

// A body without an end is refused once the limit is reached, and is not kept.
func TestAnEndlessBody(t *testing.T) {
	w := newWitness(t, &Memory{}, newTestLog(t, testOrigin))
	body := &endless{}
	out := httptest.NewRecorder()
	w.Handler().ServeHTTP(out, httptest.NewRequest(http.MethodPost, AddCheckpoint, body))
	if out.Code != http.StatusRequestEntityTooLarge || body.read > 2*RequestBytesMax {
		t.Errorf("status %d after %d bytes", out.Code, body.read)
	}
}

// More requests at once than the limit are sent away, not queued.
func TestTooManyRequestsAtOnce(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	handler := w.Handler()
	w.mu.Lock()
	codes := make(chan int, requestsMax+1)
	request := l.request(straight(5), 0)
	for range requestsMax + 1 {
		go func() {
			out := httptest.NewRecorder()
			handler.ServeHTTP(out, httptest.NewRequest(http.MethodPost, AddCheckpoint, bytes.NewReader(request)))
			codes <- out.Code
		}()
	}
	first := <-codes // the only one that can answer while the lock is held
	w.mu.Unlock()
	if first != http.StatusServiceUnavailable {
		t.Errorf("status %d", first)
	}
	for range requestsMax {
		<-codes
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	l := newTestLog(t, testOrigin)
	w := newWitness(t, &Memory{}, l)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx, listener) }()
	url := "http://" + listener.Addr().String()
	line, _, err := Ask(t.Context(), verify.Witness{Name: "w", Key: w.Key(), URL: url}, question(l, straight(5), 0))
	if err != nil || len(line) == 0 {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A connection past the limit waits until another one ends, and a close ends the waiting.
func TestTheListenerWaitsForAPlace(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newPlaces(inner, 1)
	accepted := make(chan net.Conn, 2)
	failed := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				failed <- err
				return
			}
			accepted <- c
		}
	}()
	for range 2 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first := <-accepted
	select {
	case <-accepted:
		t.Fatal("two at once")
	case <-time.After(50 * time.Millisecond):
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	_ = first.Close() // gives its place back once
	second := <-accepted
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("accepted after the end")
	}
	_ = second.Close()
}
