// Package witness_test holds rails' witness and its client against two implementations
// of c2sp.org/tlog-witness that are not ours. It is a module of its own: what it needs is
// no part of the product.
package witness_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/torchwood"
	formatslog "github.com/transparency-dev/formats/log"
	formatsnote "github.com/transparency-dev/formats/note"
	formatspolicy "github.com/transparency-dev/formats/witness"
	peerclient "github.com/transparency-dev/witness/client/http"
	"github.com/transparency-dev/witness/persistence/inmemory"
	peer "github.com/transparency-dev/witness/witness"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"

	"github.com/broker-rails/broker-rails/internal/tree"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

const origin = "broker-rails.local/peers"

type log struct {
	t      *testing.T
	signer note.Signer
	public string
	key    verify.Key

	readers []note.Verifier // more of them, for cosignatures
}

func newLog(t *testing.T) *log {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	key, err := verify.ParseKey([]byte(public))
	if err != nil {
		t.Fatal(err)
	}
	return &log{t: t, signer: signer, public: public, key: key}
}

// history is the first n entries; those from at on carry the fork's name.
func history(n int, fork string, at int) [][]byte {
	var out [][]byte
	for i := range n {
		text := fmt.Sprintf("entry %d", i)
		if i >= at {
			text += fork
		}
		out = append(out, []byte(text))
	}
	return out
}

func (l *log) checkpoint(list [][]byte) verify.Checkpoint {
	l.t.Helper()
	p := tree.Against()
	for i, e := range list {
		p.Take(uint64(i)+1, e)
	}
	root := p.Root()
	signed, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", origin, len(list), base64.StdEncoding.EncodeToString(root[:]))}, l.signer)
	if err != nil {
		l.t.Fatal(err)
	}
	c, err := verify.OpenCheckpoint(signed, l.key)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func proof(t *testing.T, list [][]byte, old int) (path []verify.Hash) {
	t.Helper()
	if old == 0 || old >= len(list) {
		return nil
	}
	p := tree.Against()
	if err := p.WantTree(int64(len(list)), int64(old)); err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		p.Take(uint64(i)+1, e)
	}
	path, err := p.ProveTree(int64(len(list)), int64(old))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (l *log) question(list [][]byte, cosigned int64) witness.Question {
	c := l.checkpoint(list)
	return witness.Question{Checkpoint: c, Cosigned: cosigned, Request: func(_ context.Context, old int64) ([]byte, error) {
		return tree.FormatExtension(&verify.Extension{Old: old, Path: proof(l.t, list, int(old)), Signed: c.Signed}), nil
	}}
}

// drive plays one history, and then everything that a witness must not cosign, with our
// client against a witness.
func (l *log) drive(w verify.Witness) {
	l.t.Helper()
	straight := func(n int) [][]byte { return history(n, "", n) }
	for _, step := range []struct{ size, cosigned int }{{3, 0}, {8, 3}, {8, 8}, {21, 3}, {64, 0}, {65, 64}} {
		q := l.question(straight(step.size), int64(step.cosigned))
		line, at, err := witness.Ask(l.t.Context(), w, q)
		if err != nil {
			l.t.Fatalf("%d from %d: %v", step.size, step.cosigned, err)
		}
		if age := time.Since(at); age < -time.Minute || age > time.Minute {
			l.t.Errorf("cosigned at %v", at)
		}
		l.opened(w, append(bytes.Clone(q.Checkpoint.Signed), line...), at)
	}
	for name, c := range map[string]struct {
		q    witness.Question
		want error
	}{
		"a fork":              {l.question(history(70, " forked", 30), 65), witness.ErrFork},
		"a rewrite":           {l.question(history(70, " forked", 0), 0), witness.ErrFork},
		"a fork of that size": {l.question(history(65, " forked", 30), 65), witness.ErrFork},
		"a shorter log":       {l.question(straight(60), 30), witness.ErrAhead},
	} {
		if line, _, err := witness.Ask(l.t.Context(), w, c.q); !errors.Is(err, c.want) || line != nil {
			l.t.Errorf("%s: %v", name, err)
		}
	}
	stranger := newLog(l.t)
	if _, _, err := witness.Ask(l.t.Context(), w, stranger.question(straight(70), 65)); !errors.Is(err, witness.ErrUnanswered) {
		l.t.Errorf("another key: %v", err)
	}
}

// opened has several readers open one cosigned checkpoint: they must agree.
func (l *log) opened(w verify.Witness, signed []byte, at time.Time) {
	l.t.Helper()
	v, err := formatsnote.NewVerifierForCosignatureV1(w.Key.String())
	if err != nil {
		l.t.Fatal(err)
	}
	logVerifier, err := note.NewVerifier(l.public)
	if err != nil {
		l.t.Fatal(err)
	}
	_, _, opened, err := formatslog.ParseCheckpoint(signed, origin, logVerifier, v)
	if err != nil || len(opened.Sigs) != 2 {
		l.t.Fatalf("formats: %v", err)
	}
	if said, err := formatsnote.CoSigV1Timestamp(opened.Sigs[1]); err != nil || !said.Equal(at) {
		l.t.Errorf("formats reads the time %v, and we %v: %v", said, at, err)
	}
	for _, more := range l.readers {
		if _, err := note.Open(signed, note.VerifierList(more)); err != nil {
			l.t.Errorf("another reader: %v", err)
		}
	}
	policy := fmt.Sprintf("witness w1 %s %s\nquorum w1\n", w.Key, w.URL)
	group, err := formatspolicy.ParsePolicy([]byte(policy))
	if err != nil || !group.Satisfied(signed) {
		l.t.Errorf("formats' policy is not met: %v", err)
	}
	ours, err := verify.ParsePolicy([]byte(policy))
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := ours.Require(signed, l.key); err != nil {
		l.t.Error(err)
	}
}

// Our client against the witness of transparency-dev.
func TestOurClientTheirWitness(t *testing.T) {
	l := newLog(t)
	secret, public, err := note.GenerateKey(rand.Reader, "peer.example/w")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := formatsnote.NewSignerForCosignatureV1(secret)
	if err != nil {
		t.Fatal(err)
	}
	logVerifier, err := note.NewVerifier(l.public)
	if err != nil {
		t.Fatal(err)
	}
	w, err := peer.New(t.Context(), peer.Opts{
		Persistence: inmemory.New(), Signers: []note.Signer{signer},
		VerifierForLog: func(_ context.Context, name string) (note.Verifier, bool, error) {
			return logVerifier, name == origin, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc(witness.AddCheckpoint, peer.NewHTTPHandler(w).AddCheckpoint)
	server := httptest.NewServer(mux)
	defer server.Close()
	text, err := formatsnote.VKeyToCosignatureV1(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := verify.ParseWitnessKey([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l.drive(verify.Witness{Name: "w1", Key: key, URL: server.URL})
}

func ours(t *testing.T, l *log) (*witness.Witness, string) {
	t.Helper()
	signer, err := witness.NewSigner("ours.example/w")
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(witness.Options{Signer: signer, Logs: []verify.Key{l.key}, Heads: &witness.Memory{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	return w, server.URL
}

func TestOurClientOurWitness(t *testing.T) {
	l := newLog(t)
	w, at := ours(t, l)
	l.drive(verify.Witness{Name: "w1", Key: w.Key(), URL: at})
}

// The client of transparency-dev against our witness.
func TestTheirClientOurWitness(t *testing.T) {
	l := newLog(t)
	w, at := ours(t, l)
	address, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	client := peerclient.NewWitness(address, http.DefaultClient)
	update := func(l *log, list [][]byte, old int, path []verify.Hash) ([]byte, uint64, error) {
		var raw [][]byte
		for _, h := range path {
			raw = append(raw, h[:])
		}
		return client.Update(t.Context(), uint64(old), l.checkpoint(list).Signed, raw)
	}
	straight := func(n int) [][]byte { return history(n, "", n) }
	old := 0
	for _, size := range []int{1, 2, 7, 7, 33} {
		line, _, err := update(l, straight(size), old, proof(t, straight(size), old))
		if err != nil {
			t.Fatalf("%d: %v", size, err)
		}
		c := l.checkpoint(straight(size))
		when, err := w.Key().CosignedAt(append(bytes.Clone(c.Signed), line...))
		if err != nil {
			t.Fatal(err)
		}
		l.opened(verify.Witness{Name: "w1", Key: w.Key(), URL: at}, append(bytes.Clone(c.Signed), line...), when)
		old = size
	}
	if _, size, err := update(l, straight(40), 7, proof(t, straight(40), 7)); !errors.Is(err, peer.ErrCheckpointStale) || size != 33 {
		t.Errorf("stale: %d, %v", size, err)
	}
	if _, _, err := update(l, history(33, " forked", 5), 33, nil); !errors.Is(err, peer.ErrRootMismatch) {
		t.Errorf("another tree of the same size: %v", err)
	}
	if _, _, err := update(l, history(40, " forked", 5), 33, proof(t, history(40, " forked", 5), 33)); !errors.Is(err, peer.ErrInvalidProof) {
		t.Errorf("a fork: %v", err)
	}
	if _, _, err := update(l, straight(40), 33, nil); !errors.Is(err, peer.ErrInvalidProof) {
		t.Errorf("no proof: %v", err)
	}
	if _, _, err := update(l, straight(20), 33, nil); !errors.Is(err, peer.ErrOldSizeInvalid) {
		t.Errorf("shorter: %v", err)
	}
	if _, _, err := update(newLog(t), straight(40), 33, proof(t, straight(40), 33)); !errors.Is(err, peer.ErrNoValidSignature) {
		t.Errorf("another key: %v", err)
	}
	if h, _ := w.Head(origin); h.Size != 33 {
		t.Errorf("the head is of %d", h.Size)
	}
}

// Our client against litewitness, a program that takes its key from an SSH agent and
// keeps its heads in SQLite.
func TestOurClientLitewitness(t *testing.T) {
	l := newLog(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "litewitness")
	for name, path := range map[string]string{"litewitness": binary, "witnessctl": filepath.Join(dir, "witnessctl")} {
		build := exec.Command("go", "build", "-o", path, "filippo.io/torchwood/cmd/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	db := filepath.Join(dir, "w.db")
	for _, args := range [][]string{{"add-log", "-db", db, "-origin", origin}, {"add-key", "-db", db, "-origin", origin, "-key", l.public}} {
		if out, err := exec.Command(filepath.Join(dir, "witnessctl"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sshKey, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	socket := sshAgent(t, private)
	at := "127.0.0.1:" + freePort(t)
	c := exec.Command(binary, "-db", db, "-ssh-agent", socket, "-name", "lite.example/w", "-key", ssh.FingerprintSHA256(sshKey), "-listen", at)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	for range 100 {
		if conn, err := net.Dial("tcp", at); err == nil {
			_ = conn.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	signer, err := torchwood.NewCosignatureSigner("lite.example/w", private)
	if err != nil {
		t.Fatal(err)
	}
	l.readers = []note.Verifier{signer.Verifier()}
	key, err := verify.ParseWitnessKey([]byte(signer.Verifier().String()))
	if err != nil {
		t.Fatal(err)
	}
	l.drive(verify.Witness{Name: "w1", Key: key, URL: "http://" + at})
}

// sshAgent serves one key on a socket.
func sshAgent(t *testing.T, key ed25519.PrivateKey) (socket string) {
	t.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "peer") // short: a socket's path has a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	return filepath.Join(dir, "s")
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()[strings.LastIndexByte(l.Addr().String(), ':')+1:]
}
