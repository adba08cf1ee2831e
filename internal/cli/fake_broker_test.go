package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard is what a command wrote, readable while it runs.
type heard struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(p)
}

// take returns what was written since the last call that found a whole line.
func (h *heard) take() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := bytes.Clone(h.buf.Bytes())
	if bytes.HasSuffix(out, []byte("\n")) {
		h.buf.Reset()
		return out
	}
	return nil
}

// The fake says where it is and with which keys, serves, and shows its ledger at the end.
func TestFakeBrokerServesAndTellsItsLedger(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	keys := filepath.Join(t.TempDir(), "keys")
	out := &heard{}
	a := &app{out: newPrinter(out, nil), errs: newPrinter(&bytes.Buffer{}, nil)}
	a.flags.json = true
	done := make(chan error, 1)
	go func() {
		done <- a.fakeBroker(ctx, &fakeBrokerFlags{listen: "127.0.0.1:0", folder: keys, alwaysOpen: true, tunnel: true})
	}()
	var v fakeBrokerView
	for v.URL == "" {
		if ctx.Err() != nil {
			t.Fatal("it never said where it is")
		}
		time.Sleep(5 * time.Millisecond)
		if text := out.take(); text != nil {
			if err := json.Unmarshal(text, &v); err != nil {
				t.Fatal(err)
			}
		}
	}
	post(ctx, t, &v, `{"symbol":"AAPL","qty":"3","side":"buy","type":"market","time_in_force":"day","client_order_id":"c-1"}`)
	env, err := os.ReadFile(filepath.Join(keys, "env.sh"))
	if err != nil || !strings.Contains(string(env), v.Key) || !strings.Contains(string(env), v.Proxy) {
		t.Errorf("env.sh is %q, %v", env, err)
	}
	if info, err := os.Stat(filepath.Join(keys, "env.sh")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var ledger fakeLedgerView
	text := out.take()
	if err := json.Unmarshal(text, &ledger); err != nil || len(ledger.Orders) != 1 || ledger.Orders[0].Filled != "3" || ledger.Cash != "99399.94" {
		t.Errorf("%s, %v", text, err)
	}
}

func post(ctx context.Context, t *testing.T, v *fakeBrokerView, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.URL+"/v2/orders", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("APCA-API-KEY-ID", v.Key)
	r.Header.Set("APCA-API-SECRET-KEY", v.Secret)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	answer.Body.Close()
}

func TestFakeBrokerRefusesWhatItCannotDo(t *testing.T) {
	for _, f := range []fakeBrokerFlags{
		{listen: "0.0.0.0:0"}, {listen: ":8933"}, {listen: "nowhere"}, {listen: "127.0.0.1:0", faults: []string{"no_such"}},
		{listen: "127.0.0.1:0", faults: []string{"drop_after:POST:0"}}, {listen: "127.0.0.1:0", faults: []string{"drop_after:POST:x"}},
	} {
		a := &app{out: newPrinter(&bytes.Buffer{}, nil), errs: newPrinter(&bytes.Buffer{}, nil)}
		err := a.fakeBroker(t.Context(), &f)
		if code, _ := explained(err); code != exitUsage {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
