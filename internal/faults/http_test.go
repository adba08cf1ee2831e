//go:build unix

package faults

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// launchHTTP starts a server over HTTP and returns the address that it listens on.
func (h *house) launchHTTP(args ...string) (*host, string) {
	h.t.Helper()
	s := h.launch(append([]string{"--transport", "streamable-http", "--port", "0"}, args...)...)
	const word = "listening on http://"
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, rest, ok := strings.Cut(s.log.String(), word); ok && strings.Contains(rest, "\n") {
			addr, _, _ := strings.Cut(rest, "\n")
			return s, addr
		}
		if time.Now().After(limit) {
			h.t.Fatalf("the server does not listen: %s", s.log)
		}
	}
}

// post calls a tool over HTTP, once, and returns the answer.
func post(t testing.TB, addr, params string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), answerWithin)
	defer stop()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(answerWithin))
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2025-06-18\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", addr, len(body), body)
	text, err := io.ReadAll(io.LimitReader(bufio.NewReader(conn), 1<<20))
	if err != nil {
		t.Errorf("no answer: %v", err)
	}
	return string(text)
}
