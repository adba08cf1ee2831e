package fakealpaca

import (
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// number writes a figure as a JSON number by its text.
func number(s string) json.Number { return json.Number(s) }

// answer is what a handler says before any fault changes it.
type answer struct {
	status int
	body   any
}

func refused(status, code int, message string) answer {
	return answer{status, object{"code": code, "message": message}}
}

// Handler returns the service: trading, market data and the stream on one address.
func (b *Broker) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stream", b.stream)
	handle := func(pattern string, f func(*http.Request) answer) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { b.serve(w, r, f) })
	}
	handle("POST /v2/orders", b.place)
	handle("GET /v2/orders", b.list)
	handle("DELETE /v2/orders", b.cancelAll)
	handle("GET /v2/orders:by_client_order_id", b.byClientID)
	handle("GET /v2/orders/{id}", b.get)
	handle("PATCH /v2/orders/{id}", b.replace)
	handle("DELETE /v2/orders/{id}", b.cancel)
	handle("GET /v2/positions", b.positions)
	handle("DELETE /v2/positions", b.closeAll)
	handle("GET /v2/positions/{symbol}", b.position)
	handle("DELETE /v2/positions/{symbol}", b.closePosition)
	handle("GET /v2/account", b.account)
	handle("GET /v2/account/activities", b.activities)
	handle("GET /v2/account/activities/{kind}", b.activities)
	handle("GET /v2/account/configurations", b.configuration)
	handle("GET /v2/clock", b.clock)
	handle("GET /v2/calendar", b.days)
	handle("GET /v2/assets", b.assets)
	handle("GET /v2/assets/{symbol}", b.asset)
	handle("GET /v2/stocks/quotes/latest", b.latestQuotes)
	handle("GET /v2/stocks/{symbol}/quotes/latest", b.latestQuote)
	handle("GET /v2/stocks/trades/latest", b.latestTrades)
	handle("GET /v2/stocks/{symbol}/trades/latest", b.latestTrade)
	handle("GET /v2/stocks/snapshots", b.snapshots)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		b.serve(w, r, func(*http.Request) answer { return refused(http.StatusNotFound, 40410000, "endpoint not found") })
	})
	return mux
}

func (b *Broker) known(key, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(b.options.Key)) == 1 &&
		subtle.ConstantTimeCompare([]byte(secret), []byte(b.options.Secret)) == 1
}

// serve runs one request with the faults that are due.
func (b *Broker) serve(w http.ResponseWriter, r *http.Request, f func(*http.Request) answer) {
	r.Body = http.MaxBytesReader(w, r.Body, BodyBytesMax)
	what := r.Method + " " + r.URL.Path
	b.mu.Lock()
	b.calls++
	id := b.book.id("request")
	w.Header().Set("X-Request-Id", id)
	if !b.known(r.Header.Get("APCA-API-KEY-ID"), r.Header.Get("APCA-API-SECRET-KEY")) {
		b.mu.Unlock()
		write(w, http.StatusUnauthorized, object{"message": "unauthorized."})
		return
	}
	over := b.rate(w)
	before := b.due(what, "drop_before", "error_before", "delay_before", "html_before", "rate_limit")
	b.mu.Unlock()
	if over {
		write(w, http.StatusTooManyRequests, object{"code": 42910000, "message": "rate limit exceeded"})
		return
	}
	if before != nil && b.before(w, r, before) {
		return
	}
	out := f(r)
	b.mu.Lock()
	after := b.due(what, "drop_after", "error_after", "delay_after", "html_after", "empty_after", "foreign_after", "number_after", "huge_after", "status_after")
	b.mu.Unlock()
	if after != nil {
		b.after(w, r, after, out)
		return
	}
	write(w, out.status, out.body)
}

// rate counts calls in a minute and tells the client how many are left. The lock is held.
func (b *Broker) rate(w http.ResponseWriter) (over bool) {
	minute := b.options.Now().Unix() / 60
	if minute != b.minute {
		b.minute, b.used = minute, 0
	}
	b.used++
	w.Header().Set("X-RateLimit-Limit", strconv.Itoa(b.options.RateMax))
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(max(b.options.RateMax-b.used, 0)))
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt((minute+1)*60, 10))
	return b.used > b.options.RateMax
}

// before does a fault that keeps the request from its effect; false lets it go on.
func (b *Broker) before(w http.ResponseWriter, r *http.Request, f *Fault) bool {
	switch f.Kind {
	case "drop_before":
		drop(w)
	case "error_before":
		write(w, http.StatusInternalServerError, object{"code": 50010000, "message": "internal server error occurred"})
	case "html_before":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><body>502 Bad Gateway</body></html>")
	case "rate_limit":
		wait := max(f.For, time.Second)
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(b.options.Now().Add(wait).Unix(), 10))
		write(w, http.StatusTooManyRequests, object{"code": 42910000, "message": "rate limit exceeded"})
	case "delay_before":
		return !wait(r, f.For)
	}
	return true
}

// wait sleeps while the client waits; false when it left.
func wait(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-t.C:
		return true
	}
}

func (b *Broker) after(w http.ResponseWriter, r *http.Request, f *Fault, out answer) {
	text := encoded(out.body)
	switch f.Kind {
	case "drop_after":
		drop(w)
	case "error_after":
		write(w, http.StatusInternalServerError, object{"code": 50010000, "message": "internal server error occurred"})
	case "delay_after":
		if wait(r, f.For) {
			write(w, out.status, out.body)
		}
	case "html_after":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>ok</body></html>")
	case "empty_after":
		w.WriteHeader(http.StatusOK)
	case "foreign_after":
		if o, ok := out.body.(object); ok {
			o["id"], o["symbol"], o["client_order_id"] = assetID("another"), "TSLA", "another"
		}
		write(w, out.status, out.body)
	case "number_after":
		raw(w, out.status, unquoted(text, "qty"))
	case "huge_after":
		raw(w, out.status, replaced(text, "qty", `"1e400"`))
	case "status_after":
		raw(w, out.status, replaced(text, "status", `"levitating"`))
	}
}

func encoded(body any) string {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // shapes are ours
	}
	return string(b)
}

// replaced puts another value in the place of a member that is a text.
func replaced(text, name, value string) string {
	head := `"` + name + `":"`
	i := strings.Index(text, head)
	if i < 0 {
		return text
	}
	j := strings.IndexByte(text[i+len(head):], '"')
	return text[:i] + `"` + name + `":` + value + text[i+len(head)+j+1:]
}

func unquoted(text, name string) string {
	head := `"` + name + `":"`
	i := strings.Index(text, head)
	if i < 0 {
		return text
	}
	j := strings.IndexByte(text[i+len(head):], '"')
	return replaced(text, name, text[i+len(head):i+len(head)+j])
}

func write(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	raw(w, status, encoded(body))
}

func raw(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// drop ends the connection without an answer.
func drop(http.ResponseWriter) {
	panic(http.ErrAbortHandler)
}
