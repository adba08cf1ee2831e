package adversary

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
)

// web is a server on a loopback port of its own.
type web struct {
	url    string
	client http.Transport
	done   chan error // RunHTTP's, once
	stop   context.CancelFunc
}

// serveHTTP starts serving, here or in a process. Its goroutine ends with end.
func (d *desk) serveHTTP(ctx context.Context) (*web, error) {
	if d.process != nil {
		return d.process.startWeb(ctx)
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := d.server
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &web{url: "http://" + l.Addr().String() + "/", done: make(chan error, 1), stop: stop}
	go func() { w.done <- s.RunHTTP(ctx, l, mcpserver.HTTPConfig{}) }()
	return w, nil
}

func (w *web) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: w.url, HTTPClient: &http.Client{Transport: &w.client}, DisableStandaloneSSE: true, MaxRetries: -1,
	}
}

// end stops the server and waits for it. Of no server it does nothing.
func (w *web) end() error {
	if w == nil {
		return nil
	}
	w.client.CloseIdleConnections()
	w.stop()
	select {
	case err := <-w.done:
		return err
	case <-time.After(callWithin):
		return errSilent
	}
}
