package adversary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/broker-rails/broker-rails/internal/broker/paper"
	"github.com/broker-rails/broker-rails/internal/door/mcpserver"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/limits"
	"github.com/broker-rails/broker-rails/internal/market"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// Server is a server that is a process of its own: the product's binary, with its
// journal and ledger in files.
type Server struct {
	Path    string   // of the binary
	Environ []string // of the process
	// Serve attacks rails serve as it is. Its market runs, so only a case whose Runs is
	// true can be played on it. Otherwise the process is the same server, gate, journal and
	// ledger under the time and the market that the case sets: rails adversarial serve-case.
	Serve bool
}

// process starts the servers of a desk.
type process struct {
	server *Server
	args   []string
}

// newProcess writes down what the server's process needs.
func (d *desk) newProcess(doc *limits.Document) (*process, error) {
	s := d.options.Server
	if !s.Serve {
		return &process{s, []string{"adversarial", "serve-case", "--data", d.site.dir, "--account", d.account}}, nil
	}
	file := filepath.Join(d.site.folder(d.account), "limits.json")
	if err := os.WriteFile(file, doc.Canonical, 0o600); err != nil {
		return nil, err
	}
	return &process{s, []string{"serve", "--data", d.site.dir, "--limits", file, "--account", d.account}}, nil
}

// saidMax bounds what is kept of a process's standard error, for a report.
const saidMax = 4 << 10

// said is the end of what a process wrote to its standard error.
type said struct {
	mu   sync.Mutex // guards text
	text []byte
	more chan struct{} // told after each write, if somebody waits
}

// Write implements io.Writer.
func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.text = append(s.text, b...)
	if len(s.text) > saidMax {
		s.text = s.text[len(s.text)-saidMax:]
	}
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.TrimSpace(s.text))
}

// start starts a server. Its process ends when its input ends, or with stop.
func (p *process) start(over ...string) (*serving, *said, error) {
	ctx, stop := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, p.server.Path, append(append([]string{}, p.args...), over...)...)
	c.Env = p.server.Environ
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = callWithin
	words := &said{more: make(chan struct{}, 1)}
	c.Stderr = words
	in, err := c.StdinPipe()
	if err != nil {
		stop()
		return nil, nil, err
	}
	outR, outW := io.Pipe()
	c.Stdout = outW
	if err := c.Start(); err != nil {
		stop()
		return nil, nil, err
	}
	v := &serving{in: in, out: outR, done: make(chan error, 1), stop: stop}
	go func() { // ends with the process
		err := c.Wait()
		if ctx.Err() != nil { // it was told to end
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("the server's process: %w: %s", err, words)
		}
		v.done <- err
		_ = outW.Close()
	}()
	return v, words, nil
}

// listens is what a server that listens says of its address.
const listens = `listening on (http://127\.0\.0\.1:[0-9]+)`

// startWeb starts a server on a loopback port and waits until it listens.
func (p *process) startWeb(ctx context.Context) (*web, error) {
	v, words, err := p.start("--transport", "streamable-http", "--port", "0")
	if err != nil {
		return nil, err
	}
	address := regexp.MustCompile(listens)
	late := time.NewTimer(callWithin)
	defer late.Stop()
	for {
		if m := address.FindStringSubmatch(words.String()); m != nil {
			return &web{url: m[1] + "/", done: v.done, stop: v.stop}, nil
		}
		select {
		case <-words.more:
			continue
		case err := <-v.done:
			v.done <- err
			err = errors.Join(errors.New("the server's process ended before it listened"), err)
			return nil, errors.Join(err, v.end())
		case <-late.C:
		case <-ctx.Done():
		}
		v.stop()
		return nil, errors.Join(errSilent, v.end())
	}
}

// Desk is what a server's process of its own needs to serve a case. It is the other half
// of Server: the folder holds journal, ledger and scene, made by who plays the case.
type Desk struct {
	Dir, Account string
	Version      string
	Headlines    []string
	Log          *slog.Logger
}

// Serve opens what is there and serves until the serving that it is given ends.
func (k *Desk) Serve(ctx context.Context, serve func(ctx context.Context, s *mcpserver.Server) error) (err error) {
	at := &site{dir: k.Dir}
	dir := at.folder(k.Account)
	file, err := os.Open(filepath.Join(dir, sceneFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	store, err := sqlite.Open(ctx, k.Dir, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ledger, err := paper.OpenFile(ctx, dir, paper.Start{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	scene := &follower{scene: newScene(ledger.Start().Market), file: file}
	broker, err := paper.New(ledger, paper.Options{Clock: scene, Quotes: scene, Calendar: market.XNYS(), AccountID: k.Account})
	if err != nil {
		return err
	}
	g, err := gate.Open(ctx, gate.Config{
		Account: k.Account, Store: store, Broker: broker, Quotes: scene, Clock: scene, Calendar: market.XNYS(),
		Paper: true, AtomicReplace: true, Version: k.Version, Log: k.Log,
	})
	if err != nil {
		return err
	}
	if err := g.Start(ctx); err != nil {
		return errors.Join(err, g.Close(ctx))
	}
	running, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup // its one task ends with running
	tasks.Go(func() { g.Run(running) })
	err = serve(running, mcpserver.New(mcpserver.Config{
		Gate: g, Quotes: scene, Journal: recent{store, k.Account}, Version: k.Version, Headlines: k.Headlines, Practice: true, Agent: "attacker",
		Log: k.Log,
	}))
	stop()
	tasks.Wait()
	return errors.Join(err, g.Close(context.WithoutCancel(ctx)))
}
