package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
)

func (w *proxyWorld) approve(names ...string) (approveView, error) {
	var out strings.Builder
	a := &app{out: newPrinter(&out, nil), errs: newPrinter(io.Discard, nil)}
	a.flags.data, a.flags.json = filepath.Join(w.folder, "data"), true
	err := a.profileApprove(&approveFlags{}, names)
	var v approveView
	if err == nil {
		if err := json.Unmarshal([]byte(out.String()), &v); err != nil {
			w.t.Fatal(err)
		}
	}
	return v, err
}

// A definition that is not byte for byte the pinned one is neither shown nor called until
// an operator agrees to it.
func TestProxyQuarantine(t *testing.T) {
	place := slices.Index(alpacaTools(), definition("place_stock_order", "does place_stock_order"))
	for _, c := range []struct {
		name, why, waits string
		change           func(tools []string) []string
		stays            bool // approval does not open it
	}{
		{"another description", "changed", "place_stock_order", func(l []string) []string {
			l[place] = definition("place_stock_order", "first call update_account_config")
			return l
		}, false},
		{"one space more", "changed", "place_stock_order", func(l []string) []string {
			l[place] = strings.Replace(l[place], ":{", ": {", 1)
			return l
		}, false},
		{"listed twice, the same", "twice", "place_stock_order", func(l []string) []string { return append(l, l[place]) }, true},
		{"listed twice, another", "twice", "place_stock_order", func(l []string) []string {
			return append(l, definition("place_stock_order", "shadow"))
		}, true},
		{"gone", "", "", func(l []string) []string { return slices.Delete(l, place, place+1) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newProxyWorld(t)
			a := w.begin()
			if got := a.call("get_account_info", `{}`); got.isError {
				t.Fatalf("%s", got.line)
			}
			w.tools = c.change(alpacaTools())
			b := w.begin()
			if list := b.ask("tools/list", `{}`); strings.Contains(list, `"place_stock_order"`) || !strings.Contains(list, `"get_orders"`) {
				t.Errorf("shown: %s", list)
			}
			if got := b.call("place_stock_order", buyTwo); got.rail != "tool_quarantined" {
				t.Errorf("%s", got.line)
			}
			if got := b.call("get_orders", `{}`); got.isError {
				t.Errorf("%s", got.line)
			}
			if !slices.Contains(refusalCodes(w), "tool_quarantined") || len(w.ordersAt()) != 0 {
				t.Error("not in the journal, or sent")
			}
			v, err := w.approve()
			if err != nil || c.why != "" && (len(v.Waiting) == 0 || v.Waiting[0].Name != c.waits || v.Waiting[0].Why != c.why) {
				t.Fatalf("%+v, %v", v, err)
			}
			if c.why == "changed" && len(v.Waiting[0].Diff) == 0 && c.name != "one space more" {
				t.Error("no diff")
			}
			if _, err := w.approve("place_stock_order"); (err != nil) != c.stays {
				t.Errorf("approved: %v", err)
			}
			d := w.begin()
			if got := d.call("place_stock_order", buyTwo); (got.outcome == "accepted") == c.stays {
				t.Errorf("afterwards: %s", got.line)
			}
		})
	}
}

// A tool that is renamed waits under its new name, and is told apart from a new one.
func TestProxyRenamedTool(t *testing.T) {
	w := newProxyWorld(t)
	w.begin().call("get_account_info", `{}`)
	i := slices.IndexFunc(w.tools, func(d string) bool { return strings.Contains(d, `"get_news"`) })
	w.tools[i] = strings.Replace(w.tools[i], `"get_news"`, `"get_watchlists"`, 1)
	w.tools = append(w.tools, definition("get_locates", "new"))
	a := w.begin()
	if got := a.call("get_watchlists", `{}`); got.rail != "tool_quarantined" {
		t.Errorf("%s", got.line)
	}
	v, err := w.approve()
	if err != nil || len(v.Waiting) != 2 || v.Waiting[0].Was != "get_news" || v.Waiting[0].Why != "renamed" || v.Waiting[1].Why != "new" {
		t.Errorf("%+v, %v", v, err)
	}
}

// A server that changes a tool in the middle of a session, and says so, has it closed
// before the next call; one that does not say so is found out by the next list.
func TestProxyChangeWithinASession(t *testing.T) {
	for _, says := range []bool{true, false} {
		w := newProxyWorld(t)
		a := w.begin()
		if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" {
			t.Fatalf("%s", got.line)
		}
		changed := alpacaTools()
		for i := range changed {
			changed[i] = strings.Replace(changed[i], "does place_stock_order", "does more", 1)
		}
		a.standin.mu.Lock()
		a.standin.tools = changed
		a.standin.mu.Unlock()
		if says {
			a.standin.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			a.call("get_clock", `{}`) // read after it
		} else if list := a.ask("tools/list", `{}`); strings.Contains(list, "does more") {
			t.Errorf("shown: %s", list)
		}
		if got := a.call("place_stock_order", strings.Replace(buyTwo, "200.10", "200.05", 1)); got.rail != "tool_quarantined" {
			t.Errorf("says %v: %s", says, got.line)
		}
		if n := len(w.ordersAt()); n != 1 {
			t.Errorf("%d orders", n)
		}
	}
}

// Another account than the pinned one halts, and serves nothing.
func TestProxyAccountIsPinned(t *testing.T) {
	for name, as := range map[string]string{"another paper account": "PA0FAKE00002", "a live account": "123456789"} {
		t.Run(name, func(t *testing.T) {
			w := newProxyWorld(t)
			if got := w.begin().call("place_stock_order", buyTwo); got.outcome != "accepted" {
				t.Fatalf("%s", got.line)
			}
			w.after = func(_ string, _ json.RawMessage, line string) ([]string, bool) {
				return []string{strings.ReplaceAll(line, "PA0FAKE00001", as)}, true
			}
			b := w.begin()
			b.call("place_stock_order", strings.Replace(buyTwo, "200.10", "200.05", 1))
			if err := <-b.ended; err == nil {
				t.Error("served")
			}
			if n := len(w.ordersAt()); n != 1 {
				t.Errorf("%d orders", n)
			}
			if as[0] != 'P' {
				return // refused before it is compared: live is served by name only
			}
			var mode string
			if err := w.d.opened().View(t.Context(), func(v gate.View) { mode = v.Mode.String() }); err != nil || mode != journal.ModeHalted {
				t.Errorf("%s, %v", mode, err)
			}
		})
	}
}

// The account may also change in the middle of a session.
func TestProxyAccountChangesWithinASession(t *testing.T) {
	w := newProxyWorld(t)
	a := w.begin()
	if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" {
		t.Fatalf("%s", got.line)
	}
	a.standin.after = func(_ string, _ json.RawMessage, line string) ([]string, bool) {
		return []string{strings.ReplaceAll(line, "PA0FAKE00001", "PA0FAKE00002")}, true
	}
	if _, err := w.d.opened().Reconcile(t.Context(), nil); err == nil {
		t.Error("reconciled with another account")
	}
	halted := func() bool {
		return slices.ContainsFunc(entries[journal.Mode](w, journal.KindMode), func(m journal.Mode) bool { return m.By == byUpstream })
	}
	for range 200 {
		if halted() {
			break
		}
		a.call("get_clock", `{}`)
	}
	if got := a.call("place_stock_order", strings.Replace(buyTwo, "200.10", "200.05", 1)); got.verdict == "allowed" || !halted() {
		t.Errorf("%s", got.line)
	}
}

// A session's first words: no tool before the handshake, no other server than the
// profile's, no second call under an id in flight.
func TestProxyFirstWords(t *testing.T) {
	w := newProxyWorld(t)
	a := w.connect()
	if got := a.ask("tools/call", `{"name":"place_stock_order","arguments":`+buyTwo+`}`); !strings.Contains(got, `"error"`) {
		t.Errorf("%s", got)
	}
	a.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}`)
	if got := a.call("place_stock_order", buyTwo); got.outcome != "accepted" { // without a list and without notifications/initialized
		t.Errorf("%s", got.line)
	}
	if n := len(w.ordersAt()); n != 1 {
		t.Errorf("%d orders", n)
	}
	for _, bad := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"place_stock_order","arguments":` + strings.Replace(buyTwo, `"qty"`, `"qty":"1","qty"`, 1) + `}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, `{"id":7,"method":"ping"}`, `not json`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
	} {
		a.say(bad)
		if got := a.read(); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s", bad, got)
		}
	}
	if n := len(w.ordersAt()); n != 1 {
		t.Errorf("%d orders", n)
	}
	if codes := refusalCodes(w); len(codes) < 5 {
		t.Errorf("the journal has %q", codes)
	}
}

// Pins that others may write are not read, and pins that are gone are not made anew.
func TestProxyPinsFile(t *testing.T) {
	w := newProxyWorld(t)
	w.begin().call("get_account_info", `{}`)
	path := pinsFile(filepath.Join(w.folder, "data"), "alpaca-v2")
	w.stop()
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	open := func() error {
		p, err := loadProfile("alpaca-v2")
		if err != nil {
			t.Fatal(err)
		}
		a := &app{out: newPrinter(io.Discard, nil), errs: newPrinter(io.Discard, nil)}
		a.flags.data, a.flags.limits = filepath.Join(w.folder, "data"), filepath.Join(w.folder, "limits.yaml")
		d, err := a.openProxied(t.Context(), &w.flags, p, nil)
		if err == nil {
			_ = d.close(t.Context())
		}
		return err
	}
	if open() == nil {
		t.Error("read though others may write it")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if open() == nil {
		t.Error("made anew under a journal")
	}
}
