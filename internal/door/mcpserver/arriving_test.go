package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timed is a recorder that keeps the deadline set last, as a connection does.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
	asked    bool
}

func (r *timed) SetReadDeadline(t time.Time) error {
	r.deadline, r.asked = t, true
	return nil
}

// A body that never comes must not hold a connection, whoever sends it: net/http reads on
// what a refusal left unread.
func TestABodyHasATimeToArriveBeforeItsSenderIsKnown(t *testing.T) {
	d := newDesk(t)
	tokens, err := ParseTokens(strings.NewReader("desk:0123456789abcdef0123456789abcdef"))
	check(t, err)
	handler := d.server.Handler(HTTPConfig{Tokens: tokens})
	const bearer = "Bearer 0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		method, host, token, body string
		bound                     bool
	}{
		"no token":              {http.MethodPost, "127.0.0.1", "", initialize, true},
		"another host":          {http.MethodPost, "example.org", bearer, initialize, true},
		"no token, not a post":  {http.MethodGet, "127.0.0.1", "", "x", true},
		"not a post, a body":    {http.MethodDelete, "127.0.0.1", bearer, "x", true},
		"not a post, no body":   {http.MethodGet, "127.0.0.1", bearer, "", false},
		"a body that was read":  {http.MethodPost, "127.0.0.1", bearer, initialize, false},
		"a body that is broken": {http.MethodPost, "127.0.0.1", bearer, "{", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), c.method, "/", strings.NewReader(c.body))
			r.Host = c.host
			if c.token != "" {
				r.Header.Set("Authorization", c.token)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			handler.ServeHTTP(w, r)
			left := time.Until(w.deadline)
			switch {
			case !w.asked:
				t.Error("there was no deadline")
			case c.bound != !w.deadline.IsZero():
				t.Errorf("status %d left the deadline at %v", w.Code, w.deadline)
			case c.bound && (left <= 0 || left > BodyWithin):
				t.Errorf("%v is left to read the body, want at most %v", left, BodyWithin)
			}
		})
	}
}
