package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/broker/alpaca"
	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/journal"
	"github.com/broker-rails/broker-rails/internal/store/sqlite"
)

// brokerAlpaca is an account at Alpaca. This version trades paper accounts only.
const brokerAlpaca = "alpaca"

// alpacaFileBytesMax bounds the file below: its ids are the most of it.
const alpacaFileBytesMax = 2 << 20

// alpacaFile says where an account's broker is and what the journal began with. It holds
// no keys.
type alpacaFile struct {
	Schema    string    `json:"schema"`
	AccountID string    `json:"account_id"`
	Trading   string    `json:"trading_url"`
	Data      string    `json:"data_url"`
	Feed      string    `json:"feed"`
	Clock     string    `json:"clock"`
	Keys      string    `json:"keys_file,omitzero"` // empty: the keys stand in the environment
	Began     time.Time `json:"began"`
	Known     []string  `json:"known"`
}

const alpacaSchema = "rails.alpaca/v1"

func alpacaPath(dir, account string) string {
	return filepath.Join(dir, "accounts", account, "alpaca.json")
}

// readAlpaca reads the account's file; nil if it has none.
func readAlpaca(dir, account string) (*alpacaFile, error) {
	path := alpacaPath(dir, account)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file is an answer
	}
	text, err := readOwned("broker's file", path)
	if err != nil {
		return nil, err
	}
	var f alpacaFile
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true)); err != nil || f.Schema != alpacaSchema || f.AccountID == "" || f.Began.IsZero() {
		return nil, failed("put it back as rails init wrote it", "%s cannot be read", path)
	}
	return &f, nil
}

func (f *alpacaFile) write(dir, account string) error {
	path := alpacaPath(dir, account)
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	text, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil || len(text) > alpacaFileBytesMax {
		return errors.Join(err, failed("", "the broker's file would be too long"))
	}
	return os.WriteFile(path, append(bytes.TrimSpace(text), '\n'), 0o600)
}

// alpacaFlags are what init needs to know of the broker.
type alpacaFlags struct{ url, dataURL, feed, keys string }

func (f *alpacaFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.url, "broker-url", "", "address of Alpaca's trading service (default: the paper accounts')")
	c.Flags().StringVar(&f.dataURL, "data-url", "", "address of Alpaca's market data (default: Alpaca's, or --broker-url if that is on this machine)")
	c.Flags().StringVar(&f.feed, "feed", "", "market data of Alpaca: iex or sip; required with --broker alpaca")
	c.Flags().StringVar(&f.keys, "keys", "", "file with the lines "+alpaca.KeyName+"=… and "+alpaca.SecretName+"=…, 0600 (default: the environment)")
}

// file is what the flags say, without what only the broker can tell.
func (f *alpacaFlags) file(clockName string) (*alpacaFile, error) {
	out := &alpacaFile{Schema: alpacaSchema, Trading: f.url, Data: f.dataURL, Feed: f.feed, Clock: clockName}
	if out.Trading == "" {
		out.Trading = alpaca.PaperURL
	}
	local := false
	if u, err := url.Parse(out.Trading); err == nil {
		ip := net.ParseIP(u.Hostname())
		local = u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	}
	if out.Data == "" {
		out.Data = alpaca.DataURL
		if local {
			out.Data = out.Trading
		}
	}
	switch {
	case f.feed != alpaca.FeedIEX && f.feed != alpaca.FeedSIP:
		return nil, usage("add --feed iex, which every plan has, or --feed sip", "--broker alpaca needs to know which market data to judge by")
	case clockName != clockReal && clockName != clockBroker:
		return nil, usage("leave --clock out", "--clock %q is not for this broker", clockName)
	case clockName == clockBroker && !local:
		return nil, usage("leave --clock out", "only a broker on this machine may tell the time")
	}
	if f.keys != "" {
		var err error
		if out.Keys, err = filepath.Abs(f.keys); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keysOf reads the keys where the file says that they are.
func (f *alpacaFile) keysOf(env func(string) string) (alpaca.Keys, error) {
	var k alpaca.Keys
	var err error
	if f.Keys != "" {
		k, err = alpaca.ReadKeys(f.Keys)
	} else {
		k, err = alpaca.KeysFrom(env)
	}
	if err != nil {
		return k, &failure{code: exitUsage, what: "no keys for the broker", err: err, hint: "keys come from a file, chmod 600, or from the environment; never from a flag"}
	}
	return k, nil
}

// openAlpaca makes the clock of an account at Alpaca, and for one that trades its broker.
func (d *deck) openAlpaca(ctx context.Context, r reach, f *alpacaFile, env func(string) string, log *slog.Logger) error {
	d.venue = f
	told := &brokerClock{system: clock.NewSystem()}
	d.clock = told
	if f.Clock != clockBroker {
		d.clock = clock.NewSystem()
	}
	if r != trading {
		return nil
	}
	keys, err := f.keysOf(env)
	if err != nil {
		return err
	}
	d.alpaca, err = alpaca.New(alpaca.Options{
		Trading: f.Trading, Data: f.Data, Feed: f.Feed, Keys: keys, Calendar: d.calendar, Clock: d.clock,
		AccountID: f.AccountID, Began: f.Began, Known: f.Known, Log: log,
	})
	if err != nil {
		return &failure{code: exitUsage, what: "the broker cannot be used", err: err}
	}
	if f.Clock == clockBroker {
		at, err := d.alpaca.Time(ctx)
		if err != nil {
			return unreached("the broker does not tell the time", err)
		}
		told.set(at)
	}
	d.broker, d.quotes = d.alpaca, d.alpaca
	return nil
}

// lookAlpaca reads the account that a journal will begin with. Nothing is made yet.
func (a *app) lookAlpaca(ctx context.Context, v *initView, f *initFlags) (*deck, error) {
	file, err := f.alpaca.file(f.clock)
	if err != nil {
		return nil, err
	}
	calendar, err := readCalendar(v.Data)
	if err != nil {
		return nil, err
	}
	d := &deck{dir: v.Data, account: v.Account, calendar: calendar}
	if err := d.openAlpaca(ctx, trading, file, a.env, nil); err != nil {
		return nil, err
	}
	taken, err := d.alpaca.Takeover(ctx)
	d.alpaca.Close()
	if err != nil {
		return nil, unreached("the broker did not show the account", err)
	}
	file.AccountID, file.Began, file.Known = taken.Seen.AccountID, taken.Began, taken.Known
	d.taken = (*takenOver)(&taken)
	// From here on for this account and no other.
	return d, d.openAlpaca(ctx, trading, file, a.env, nil)
}

// beginAlpaca makes the account's file and the journal's.
func (d *deck) beginAlpaca(ctx context.Context) (err error) {
	if err := d.venue.write(d.dir, d.account); err != nil {
		return err
	}
	d.store, err = sqlite.Open(ctx, d.dir, sqlite.Options{Create: true})
	return err
}

// sameBroker refuses an account whose files are not of the broker that its journal began
// with. It asks only where orders could be sent, or figures shown.
func (d *deck) sameBroker(ctx context.Context) error {
	var began string
	if err := d.gate.View(ctx, func(v gate.View) { began = v.State.Broker }); err != nil {
		return err
	}
	if (began == brokerAlpaca) != (d.venue != nil) {
		return failed("put the account's files back, or begin anew with: rails init --adopt --reason R",
			"account %s began at broker %s, and %s says otherwise", d.account, began, alpacaPath(d.dir, d.account))
	}
	return nil
}

// genesis is the first entry of an account at Alpaca.
func (t *takenOver) genesis() journal.Genesis {
	return journal.Genesis{
		Broker: brokerAlpaca, Cash: t.Seen.Cash, Currency: currency, Who: operator(), Cursor: t.Cursor,
		Positions: t.Seen.Positions, Orders: t.Seen.Orders,
	}
}

// takenOver is alpaca.Takeover with what the journal makes of it.
type takenOver alpaca.Takeover

// compareAlpaca holds the broker's calendar against ours before the first order. While they
// disagree the market is closed for the account.
func (d *deck) compareAlpaca(ctx context.Context, log *slog.Logger) {
	if d.alpaca == nil {
		return
	}
	if err := d.alpaca.CompareCalendar(ctx); err != nil {
		log.Error("the broker's calendar closes the market for us", "error", err)
	}
}

// watchAlpaca does what the account at Alpaca needs while it is served.
func (d *deck) watchAlpaca(ctx context.Context) {
	if d.alpaca != nil {
		d.alpaca.Run(ctx)
	}
}

// atBroker says whose account it is, for the line that a server begins with.
func (d *deck) atBroker() string {
	if d.venue == nil {
		return ""
	}
	return ", PAPER account " + d.venue.AccountID + " at " + brokerAlpaca + ", feed " + d.venue.Feed
}

// brokerName is the broker that the account was begun with.
func (d *deck) brokerName() string {
	if d.venue != nil {
		return brokerAlpaca
	}
	return brokerPaper
}
