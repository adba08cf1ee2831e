package cli

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/fakealpaca"
)

const fakeBrokerListen = "127.0.0.1:8933"

type fakeBrokerFlags struct {
	listen, folder, at string
	faults             []string
	alwaysOpen, tunnel bool
}

type fakeBrokerView struct {
	Schema    string `json:"schema"`
	URL       string `json:"url"`
	Key       string `json:"key"`
	Secret    string `json:"secret"`
	Proxy     string `json:"proxy,omitzero"`
	Authority string `json:"authority,omitzero"`
}

// fakeLedgerView is the fake's books, told at its end.
type fakeLedgerView struct {
	Schema    string          `json:"schema"`
	Cash      string          `json:"cash"`
	Positions []fakePosition  `json:"positions"`
	Orders    []fakeOrderView `json:"orders"`
	Fills     int             `json:"fills"`
}

type fakePosition struct {
	Symbol   string `json:"symbol"`
	Quantity string `json:"quantity"`
}

type fakeOrderView struct {
	ID            string `json:"id"`
	ClientOrderID string `json:"client_order_id"`
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Quantity      string `json:"quantity"`
	Filled        string `json:"filled"`
	Status        string `json:"status"`
}

func (a *app) fakeBrokerCommand() *cobra.Command {
	var f fakeBrokerFlags
	kinds := make([]string, 0, len(fakealpaca.Kinds()))
	for k, does := range fakealpaca.Kinds() {
		kinds = append(kinds, "  "+k+strings.Repeat(" ", max(18-len(k), 1))+does)
	}
	slices.Sort(kinds)
	c := &cobra.Command{
		Use: "fake-broker", Short: "Run a stand-in for Alpaca on this machine, with faults on request", Args: none,
		Long: "A stand-in for Alpaca's trading service, for trying out clients: its addresses, shapes and\n" +
			"refusals, with quotes that stand still and a ledger that is shown at the end. It needs no\n" +
			"account, asks nobody and keeps nothing. A client whose address is fixed reaches it with\n" +
			"--proxy: set HTTPS_PROXY and SSL_CERT_FILE as shown, for that client alone.\n\n" +
			"Faults fire at the next request that they name, once, or as often as the number says:\n" +
			"  --fault drop_after  --fault \"error_before:POST /v2/orders:2\"\n\n" + strings.Join(kinds, "\n"),
		RunE: func(c *cobra.Command, _ []string) error { return a.fakeBroker(c.Context(), &f) },
	}
	c.Flags().StringVar(&f.listen, "listen", fakeBrokerListen, "loopback address and port to listen on; port 0 takes a free one")
	c.Flags().StringArrayVar(&f.faults, "fault", nil, "KIND[:REQUEST[:TIMES]]; may be repeated")
	c.Flags().BoolVar(&f.alwaysOpen, "always-open", false, "trade at any hour, not at the exchange's")
	c.Flags().StringVar(&f.at, "at", "", "begin at another instant, such as 2026-03-18T11:00:00-04:00, and go on from there")
	c.Flags().StringVar(&f.folder, "keys", "", "folder to write env.sh and the authority's certificate to (default: a new one, removed at the end)")
	c.Flags().BoolVar(&f.tunnel, "proxy", false, "also stand for Alpaca's own addresses, behind a proxy and an authority made now")
	return c
}

func (a *app) fakeBroker(ctx context.Context, f *fakeBrokerFlags) error {
	if err := loopbackOnly(f.listen); err != nil {
		return err
	}
	faults, err := readFaults(f.faults)
	if err != nil {
		return err
	}
	now, err := nowFrom(f.at)
	if err != nil {
		return err
	}
	broker, err := fakealpaca.New(fakealpaca.Options{AlwaysOpen: f.alwaysOpen, Now: now})
	if err != nil {
		return &failure{code: exitFailed, what: "no keys could be made", err: err}
	}
	for _, fault := range faults {
		if err := broker.Inject(fault); err != nil {
			return usage("rails fake-broker --help lists them", "%s", err.Error())
		}
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return &failure{code: exitFailed, what: "not listening", err: err, hint: "choose another port with --listen 127.0.0.1:0"}
	}
	folder, remove, err := keysFolder(f.folder)
	if err != nil {
		return errors.Join(&failure{code: exitFailed, what: "no folder for the keys", err: err}, l.Close())
	}
	defer remove()
	key, secret := broker.Keys()
	v := fakeBrokerView{Schema: "rails.fake_broker/v1", URL: "http://" + l.Addr().String(), Key: key, Secret: secret}
	end, err := a.openTunnel(ctx, f, broker, folder, &v)
	if err != nil {
		return errors.Join(&failure{code: exitFailed, what: "no proxy", err: err}, l.Close())
	}
	defer end()
	if err := writeEnv(filepath.Join(folder, "env.sh"), &v); err != nil {
		return errors.Join(&failure{code: exitFailed, what: "the keys were not written", err: err}, l.Close())
	}
	if err := a.tellFakeBroker(&v, folder); err != nil {
		return errors.Join(err, l.Close())
	}
	if err := serveUntil(ctx, l, broker.Handler()); err != nil {
		return &failure{code: exitFailed, what: "the fake broker ended", err: err}
	}
	broker.Close()
	return a.tellLedger(broker)
}

// nowFrom is a clock that shows an instant now; the machine's for an empty text.
func nowFrom(text string) (func() time.Time, error) {
	if text == "" {
		return time.Now, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, usage("write it as 2026-03-18T11:00:00-04:00", "--at %q is not an instant", text)
	}
	ahead := time.Until(at)
	return func() time.Time { return time.Now().Add(ahead) }, nil
}

// openTunnel starts the proxy when it is asked for.
func (a *app) openTunnel(ctx context.Context, f *fakeBrokerFlags, broker *fakealpaca.Broker, folder string, v *fakeBrokerView) (end func(), err error) {
	if !f.tunnel {
		return func() {}, nil
	}
	tunnel, err := broker.NewTunnel()
	if err != nil {
		return nil, err
	}
	v.Authority = filepath.Join(folder, "authority.pem")
	if err := os.WriteFile(v.Authority, tunnel.Authority(), 0o600); err != nil {
		return nil, errors.Join(err, tunnel.Close())
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, tunnel.Close())
	}
	v.Proxy = "http://" + l.Addr().String()
	server := &http.Server{Handler: tunnel, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with end
	return func() { _ = errors.Join(server.Close(), tunnel.Close()) }, nil
}

func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

func (a *app) tellFakeBroker(v *fakeBrokerView, folder string) error {
	if a.flags.json {
		return a.out.json(v)
	}
	a.out.line(a.out.good("FAKE BROKER"), " at ", v.URL, "; 100,000.00 in cash; end it with ctrl-c")
	a.out.line("keys      ", filepath.Join(folder, "env.sh"), " (source it; APCA_API_BASE_URL and keys made for this run)")
	if v.Proxy != "" {
		a.out.line("proxy     ", v.Proxy, "; for clients with a fixed address: HTTPS_PROXY=", v.Proxy, " SSL_CERT_FILE=", v.Authority)
	}
	return a.out.failed
}

func (a *app) tellLedger(broker *fakealpaca.Broker) error {
	ledger := broker.Ledger()
	v := fakeLedgerView{Schema: "rails.fake_ledger/v1", Cash: ledger.Cash.String(), Fills: len(ledger.Fills)}
	for _, p := range ledger.Positions {
		v.Positions = append(v.Positions, fakePosition{p.Symbol, p.Quantity.String()})
	}
	for i := range ledger.Orders {
		o := &ledger.Orders[i]
		v.Orders = append(v.Orders, fakeOrderView{o.ID, o.ClientOrderID, o.Symbol, o.Side, o.Quantity.String(), o.Filled.String(), o.Status})
	}
	if a.flags.json {
		return a.out.json(v)
	}
	a.out.line("")
	a.out.line("ledger: cash ", v.Cash, ", ", strconv.Itoa(len(v.Orders)), " orders, ", strconv.Itoa(v.Fills), " fills")
	for _, o := range v.Orders {
		a.out.line("  ", o.Side, " ", o.Quantity, " ", o.Symbol, ", filled ", o.Filled, ", ", o.Status, "  ", o.ClientOrderID)
	}
	return a.out.failed
}

// loopbackOnly refuses an address that others could reach: the fake has no protection.
func loopbackOnly(address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage("such as 127.0.0.1:8933", "%q is not an address and port of this machine alone", address)
	}
	return nil
}

func readFaults(texts []string) (out []fakealpaca.Fault, err error) {
	for _, text := range texts {
		kind, rest, _ := strings.Cut(text, ":")
		on, times, found := strings.Cut(rest, ":")
		f := fakealpaca.Fault{Kind: kind, On: on, For: 30 * time.Second}
		if found {
			if f.Times, err = strconv.Atoi(times); err != nil || f.Times < 1 {
				return nil, usage("write it as KIND:REQUEST:TIMES", "%q does not say how often", text)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// keysFolder returns where the keys of a run are written, and what removes them.
func keysFolder(named string) (folder string, remove func(), err error) {
	if named != "" {
		return named, func() {}, os.MkdirAll(named, 0o700)
	}
	folder, err = os.MkdirTemp("", "rails-fake-broker-")
	return folder, func() { _ = os.RemoveAll(folder) }, err
}

func writeEnv(path string, v *fakeBrokerView) error {
	text := "export APCA_API_BASE_URL=" + v.URL + "\nexport APCA_API_KEY_ID=" + v.Key + "\nexport APCA_API_SECRET_KEY=" + v.Secret +
		"\nexport ALPACA_API_KEY=" + v.Key + "\nexport ALPACA_SECRET_KEY=" + v.Secret + "\nexport DATA_API_URL=" + v.URL + "\n"
	if v.Proxy != "" {
		text += "export HTTPS_PROXY=" + v.Proxy + "\nexport SSL_CERT_FILE=" + v.Authority + "\n"
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
