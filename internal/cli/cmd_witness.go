package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/broker-rails/broker-rails/internal/clock"
	"github.com/broker-rails/broker-rails/internal/witness"
	"github.com/broker-rails/broker-rails/verify"
)

const (
	// witnessFolder is the witness's own folder inside the data folder.
	witnessFolder = "witness"
	witnessListen = "127.0.0.1:8932"
	// logsBytesMax bounds a file of log keys.
	logsBytesMax = witness.LogsMax * verify.KeyBytesMax
)

type witnessFlags struct {
	listen, name string
	logs         []string
}

type witnessView struct {
	Schema    string           `json:"schema"`
	Witness   string           `json:"witness"`
	PublicKey string           `json:"public_key"`
	URL       string           `json:"url"`
	Folder    string           `json:"folder"`
	Logs      []witnessLogView `json:"logs"`
}

type witnessLogView struct {
	Origin string `json:"origin"`
	Size   int64  `json:"size"` // of the newest head; 0 if it has cosigned none
}

func (a *app) witnessCommand() *cobra.Command {
	var f witnessFlags
	c := &cobra.Command{
		Use: "witness", Short: "Watch the journals of others, and cosign what extends them", Args: none,
		Long: "A witness keeps the newest head of each journal that it knows, and cosigns only what\n" +
			"extends it: whoever holds a journal's key can then no longer cut or rewrite it unseen.\n" +
			"Run it on another machine, for someone else: beside the journal it bears witness to\n" +
			"nothing. It speaks c2sp.org/tlog-witness. It makes its key with the first start, in the\n" +
			"folder witness of the data folder; that folder must never be put back from a backup.",
		RunE: func(c *cobra.Command, _ []string) error { return a.witness(c.Context(), &f) },
	}
	c.Flags().StringArrayVar(&f.logs, "log", nil, "public key of a journal (its checkpoints/key.pub), or a file of such keys, one a line; may be repeated")
	c.Flags().StringVar(&f.listen, "listen", witnessListen, "address and port to listen on")
	c.Flags().StringVar(&f.name, "name", "", "name of a new key, such as witness.example.com/rails (default: one is made up)")
	return c
}

func (a *app) witness(ctx context.Context, f *witnessFlags) error {
	if len(f.logs) == 0 {
		return usage("where the journal is, sign a checkpoint with: rails audit checkpoint; its public key is then checkpoints/key.pub "+
			"in the data folder. Here: rails witness --log key.pub",
			"a witness watches the journals of others, and no journal's public key was named")
	}
	logs, err := logKeys(f.logs)
	if err != nil {
		return err
	}
	dir, err := a.dataFolder()
	if err != nil {
		return err
	}
	folder, err := witness.OpenFolder(filepath.Join(dir, witnessFolder), f.name)
	if err != nil {
		return witnessFailed(err)
	}
	err = a.serveWitness(ctx, f, folder, filepath.Join(dir, witnessFolder), logs)
	return errors.Join(err, folder.Close())
}

func (a *app) serveWitness(ctx context.Context, f *witnessFlags, folder *witness.Folder, dir string, logs []verify.Key) error {
	system := clock.NewSystem()
	w, err := witness.New(witness.Options{
		Signer: folder.Signer(), Logs: logs, Heads: folder, Now: func() time.Time { return system.Read().Wall },
		Log: slog.New(slog.NewTextHandler(a.errs.w, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	if err != nil {
		return witnessFailed(err)
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return &failure{code: exitFailed, what: "not listening", err: err, hint: "choose another with --listen"}
	}
	v := witnessView{
		Schema: "rails.witness/v1", Witness: w.Key().Name(), PublicKey: w.Key().String(), URL: "http://" + l.Addr().String(), Folder: dir,
	}
	for _, k := range logs {
		head, _ := w.Head(k.Name())
		v.Logs = append(v.Logs, witnessLogView{Origin: k.Name(), Size: head.Size})
	}
	if a.flags.json {
		err = a.out.json(v)
	} else {
		a.printWitness(&v)
		err = a.out.failed
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return w.Serve(ctx, l)
}

func (a *app) printWitness(v *witnessView) {
	p := a.out
	p.line(p.strong(v.Witness), "  listens on ", v.URL)
	for _, l := range v.Logs {
		said := "nothing cosigned yet"
		if l.Size > 0 {
			said = "newest head: " + plural(int(l.Size), "entry", "entries")
		}
		p.line("  watches ", l.Origin, p.dim("  "+said))
	}
	p.line("Lines for the policy file of whoever signs or checks these journals:")
	p.line("")
	p.line("witness ", v.Witness, " ", v.PublicKey, " ", v.URL)
	p.line("quorum ", v.Witness)
	p.line("")
	p.line(p.dim("Ctrl-C ends it"))
}

// logKeys reads keys that are named as they are, or by the file that holds them.
func logKeys(named []string) ([]verify.Key, error) {
	const hint = "a key is NAME+ID+KEY, as in checkpoints/key.pub of a journal's data folder"
	var keys []verify.Key
	seen := map[string]bool{}
	for _, name := range named {
		text := []byte(name)
		if strings.Count(name, "+") < 2 || present(name) {
			var err error
			if text, err = readFile(name, logsBytesMax); errors.Is(err, fs.ErrNotExist) {
				return nil, usage(hint, "--log %q is neither a key nor a file", name)
			} else if err != nil {
				return nil, err
			}
			if len(text) > logsBytesMax {
				return nil, usage(hint, "%s: over %d bytes", name, logsBytesMax)
			}
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' || seen[line] {
				continue
			}
			k, err := verify.ParseKey([]byte(line))
			if err != nil {
				return nil, usage(hint, "--log %s: %v", name, err)
			}
			seen[line] = true
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 || len(keys) > witness.LogsMax {
		return nil, usage(hint, "--log names %d keys; 1 to %d may be named", len(keys), witness.LogsMax)
	}
	return keys, nil
}

// witnessFailed explains why a witness did not start.
func witnessFailed(err error) error {
	var exposed *witness.ExposedError
	f := &failure{code: exitFailed, what: "the witness did not start", err: err}
	switch {
	case errors.Is(err, witness.ErrDamaged):
		f.code = exitAudit
		f.hint = "a witness that forgot what it cosigned would cosign a fork. Begin a new one with another --data, and tell those who pinned its key"
	case errors.Is(err, witness.ErrBusy):
		f.hint = "end the other one first"
	case errors.As(err, &exposed):
		f.hint = "chmod go= " + quoted(exposed.Path)
	}
	return f
}

// readPolicy reads a policy file. A wrong one is a wrong flag: it says nothing of a
// journal.
func readPolicy(path string) (*verify.Policy, error) {
	text, err := readFile(path, verify.PolicyBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("its lines are printed by: rails witness", "there is no policy file %s", path)
	}
	if err != nil {
		return nil, err
	}
	p, err := verify.ParsePolicy(text)
	if err != nil {
		return nil, usage("its lines are those of c2sp.org/tlog-policy: log, witness, group, quorum", "%s: %v", path, err)
	}
	return p, nil
}

// policyBeside is the policy that stands beside a journal, if there is one.
func policyBeside(dir string) (*verify.Policy, error) {
	path := policyPath(dir)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // none is an answer
	case err == nil && !info.Mode().IsRegular(): // a pipe would be waited for
		return nil, usage("", "%s is not a file", path)
	}
	return readPolicy(path)
}
