package adversary

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
)

var errSilent = errors.New("the server did not answer in time")

// serving is one stdio session of a server, in this process or in one of its own.
type serving struct {
	in   io.WriteCloser
	out  io.ReadCloser
	done chan error // how serving ended, once
	stop context.CancelFunc
}

// stdio starts a session of the desk's server.
func (d *desk) stdio() (*serving, error) {
	if d.process == nil {
		return serve(d.server), nil
	}
	v, _, err := d.process.start()
	return v, err
}

// serve starts a session. Its goroutine ends with the session.
func serve(s *mcpserver.Server) *serving {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	v := &serving{in: inW, out: outR, done: make(chan error, 1), stop: stop}
	go func() {
		v.done <- s.ServeStdio(ctx, inR, outW)
		_ = outW.Close() // the reader sees the end
	}()
	return v
}

// end closes the session and waits for what is in progress.
func (v *serving) end() error {
	defer v.stop()
	_ = v.in.Close() // a server that has ended closed it
	go func() { _, _ = io.Copy(io.Discard, v.out) }()
	select {
	case err := <-v.done:
		if errors.Is(err, io.ErrClosedPipe) { // a last word that the client did not wait for
			return nil
		}
		return err
	case <-time.After(callWithin):
		return errSilent
	}
}

// session opens a client session by the suite's transport. end closes it.
func (d *desk) session(ctx context.Context) (session *mcp.ClientSession, end func() error, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "rails-adversarial", Version: "1"}, nil)
	if d.web != nil {
		session, err = client.Connect(ctx, d.web.transport(), nil)
		if err != nil {
			return nil, nil, err
		}
		return session, session.Close, nil
	}
	v, err := d.stdio()
	if err != nil {
		return nil, nil, err
	}
	session, err = client.Connect(ctx, &mcp.IOTransport{Reader: v.out, Writer: v.in}, nil)
	if err != nil {
		return nil, nil, errors.Join(err, v.end())
	}
	return session, func() error {
		// The session ends with its streams, whatever Close has to say.
		_ = session.Close()
		return v.end()
	}, nil
}

// answer is what came back to a call: a result, or a refusal in either form.
type answer struct {
	refused bool
	text    string
}

// call makes a tool call through the client session.
func (d *desk) call(ctx context.Context, tool string, arguments []byte) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, callWithin)
	defer stop()
	result, err := d.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	switch {
	case ctx.Err() != nil:
		return answer{}, errSilent
	case err != nil:
		return answer{refused: true, text: err.Error()}, nil
	}
	a := answer{refused: result.IsError}
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			a.text += t.Text
		}
	}
	return a, nil
}

// Lines of a client that is only bytes.
const (
	helloLine = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"rails-adversarial","version":"1"}}}` + "\n"
	readyLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	pingLine  = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"
)

// raw sends one message as it stands, in a session of its own, and waits for as many
// answers as it must have: one, or none and then the session must still live.
func (d *desk) raw(message string, answers int) (a answer, err error) {
	v, err := d.stdio()
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, v.end()) }()
	lines := make(chan string, 16)
	go func() { // ends with the session
		defer close(lines)
		r := bufio.NewReader(v.out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	if _, err := io.WriteString(v.in, helloLine); err != nil {
		return a, err
	}
	if _, err := next(lines); err != nil {
		return a, err
	}
	last := pingLine
	if answers > 0 {
		last = ""
	}
	if _, err := io.WriteString(v.in, readyLine+message+"\n"+last); err != nil {
		return a, err
	}
	line, err := next(lines)
	if err != nil {
		return a, err
	}
	var m struct {
		ID     any             `json:"id"`
		Error  json.RawMessage `json:"error"`
		Result struct {
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return a, err
	}
	if answers == 0 && m.ID != "ping" {
		return a, errors.New("an answer to a message that has none")
	}
	return answer{refused: m.Error != nil || m.Result.IsError, text: line}, nil
}

func next(lines <-chan string) (string, error) {
	select {
	case line, ok := <-lines:
		if !ok {
			return "", errors.New("the session ended")
		}
		return line, nil
	case <-time.After(callWithin):
		return "", errSilent
	}
}
