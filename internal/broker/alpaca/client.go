package alpaca

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

// Limits of the client.
const (
	// ReplyBytesMax bounds one reply: 500 orders of some 2 KiB each, and room.
	ReplyBytesMax = 4 << 20
	// RequestWithin bounds one request, reply read whole.
	RequestWithin = 8 * time.Second
	// ReadsLeaveMin is how many calls of a minute reads leave to orders and cancels.
	ReadsLeaveMin = 20
	// PauseMax bounds how long a rate limit may pause the account, whatever it says.
	PauseMax = 2 * time.Minute
	// PauseMin is the pause after a refusal for too many calls that names no time to come.
	PauseMin = 5 * time.Second
	// TextBytesMax bounds what is kept of a broker's text.
	TextBytesMax = 256
)

// RefusalError is a refusal that the broker wrote.
type RefusalError struct {
	Status  int    // of HTTP
	Code    int64  // the broker's; zero if it gave none
	Message string // the broker's text, bounded
}

func (e *RefusalError) Error() string {
	return fmt.Sprintf("the broker refused with %d: %s", e.Status, e.Message)
}

var (
	errUnreadable = errors.New("the broker's reply cannot be read")
	errBudget     = errors.New("the calls of this minute are nearly used up; what is left is for orders")
	errRedirect   = errors.New("the broker's address leads elsewhere")
)

// client speaks HTTP with the keys. It never sends anything twice.
type client struct {
	trading, data *url.URL
	keys          Keys
	clock         gate.Clock
	http          *http.Client
	within        time.Duration // of one request

	mu     sync.Mutex // guards below
	left   int        // calls left until reset, as the broker said
	reset  time.Time  // zero: not known
	paused time.Time  // until then the broker takes nothing
}

// address reads a base URL: https, or http on this machine.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("%q is not an address such as %s", text, PaperURL)
	case u.Scheme == "https", u.Scheme == "http" && onThisMachine(u):
		u.Path = ""
		return u, nil
	}
	return nil, fmt.Errorf("%q is not reached by https", text)
}

func onThisMachine(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func newClient(trading, data *url.URL, keys Keys, clock gate.Clock) *client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // one request on one connection: what became of it is known to the end
	return &client{
		within:  RequestWithin,
		trading: trading, data: data, keys: keys, clock: clock,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, Protocols: protocols, MaxIdleConnsPerHost: 4, IdleConnTimeout: 20 * time.Second,
				TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: RequestWithin, MaxResponseHeaderBytes: 64 << 10,
			},
			// The keys go to the address that was named, and to no other.
			CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
		},
	}
}

// reply is one answer, read whole.
type reply struct {
	status int
	body   []byte
	digest string
}

// do sends one request once. An error proves nothing about its effect.
func (c *client) do(ctx context.Context, base *url.URL, method, path string, query url.Values, body []byte) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	at := *base
	at.Path, at.RawQuery = path, query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if body == nil {
		req.Body, req.ContentLength = nil, 0
	}
	// Without it the transport has nothing to send a second time.
	req.GetBody = nil
	req.Header.Set("Apca-Api-Key-Id", c.keys.id)
	req.Header.Set("Apca-Api-Secret-Key", c.keys.secret)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("%s %s: %w", method, path, cause(err))
	}
	defer func() { _ = res.Body.Close() }() // read to its end, or given up
	text, err := io.ReadAll(io.LimitReader(res.Body, ReplyBytesMax+1))
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("%s %s: %w", method, path, err)
	case len(text) > ReplyBytesMax:
		return reply{}, fmt.Errorf("%s %s: more than %d bytes: %w", method, path, ReplyBytesMax, errUnreadable)
	}
	if base == c.trading {
		c.heed(res)
	}
	sum := sha256.Sum256(text)
	return reply{status: res.StatusCode, body: text, digest: hex.EncodeToString(sum[:])}, nil
}

// cause leaves out the address that the transport puts into its errors.
func cause(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// heed takes in what the broker says of its rate limit.
func (c *client) heed(res *http.Response) {
	now := c.clock.Read().Market
	reset := now.Add(time.Minute)
	if s, err := strconv.ParseInt(res.Header.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		reset = time.Unix(s, 0)
	}
	if reset.After(now.Add(PauseMax)) {
		reset = now.Add(PauseMax)
	}
	if res.StatusCode == http.StatusTooManyRequests && reset.Before(now.Add(PauseMin)) {
		reset = now.Add(PauseMin) // a time that is over, or none, is no leave to go on at once
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining")); err == nil {
		c.left, c.reset = n, reset
	}
	if res.StatusCode == http.StatusTooManyRequests {
		c.paused = reset
	}
}

// pausedUntil is when the broker takes requests again; false: now.
func (c *client) pausedUntil() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused, c.clock.Read().Market.Before(c.paused)
}

// affords reports whether a read leaves enough of the minute's calls.
func (c *client) affords() error {
	if until, paused := c.pausedUntil(); paused {
		return fmt.Errorf("the broker takes no more calls until %s", until.UTC().Format(time.TimeOnly))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reset.IsZero() && c.left < ReadsLeaveMin && c.clock.Read().Market.Before(c.reset) {
		return errBudget
	}
	return nil
}

// read gets a resource of the trading service.
func (c *client) read(ctx context.Context, path string, query url.Values, into any) error {
	if err := c.affords(); err != nil {
		return err
	}
	return c.get(ctx, c.trading, path, query, into)
}

func (c *client) get(ctx context.Context, base *url.URL, path string, query url.Values, into any) error {
	r, err := c.do(ctx, base, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		if refusal := r.refusal(); refusal != nil {
			return refusal
		}
		return fmt.Errorf("GET %s: %d: %w", path, r.status, errUnreadable)
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, errUnreadable)
	}
	return nil
}

// refusal reads a refusal that the broker wrote; nil if this is none. A proxy's page or an
// error of the service itself says nothing about the request.
func (r *reply) refusal() *RefusalError {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests:
	default:
		return nil
	}
	var body struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(r.body, &body); err != nil || body.Message == "" {
		return nil //nolint:nilerr // what does not read is no refusal
	}
	return &RefusalError{Status: r.status, Code: body.Code, Message: journal.BoundText(body.Message, TextBytesMax)}
}

// codeNotFound is the broker's own code of what it does not have; a 404 without it may be
// a proxy's.
const codeNotFound = 40410000

func notFound(err error) bool {
	var r *RefusalError
	return errors.As(err, &r) && r.Status == http.StatusNotFound && r.Code == codeNotFound
}
