package mcpproxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// PinsBytesMax bounds the file of pins.
const PinsBytesMax = 16 << 20

// pinsSchema is the version of the file.
const pinsSchema = "rails.pins/v1"

// Pinned is one tool's definition, byte for byte as the server listed it.
type Pinned struct {
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	Definition string `json:"definition"`
	// Why says what is wrong with one that waits: new, changed, renamed or twice.
	Why string `json:"why,omitempty"`
	Was string `json:"was,omitempty"` // of one that was renamed: its old name
}

// Pins is what an operator has agreed to, of one server for one account: which account
// and environment it shows, and its tools. It stands in a file of the data folder.
type Pins struct {
	path string

	mu sync.Mutex // guards the file and what was read of it
	f  pinsFile
}

type pinsFile struct {
	Schema      string   `json:"schema"`
	Profile     string   `json:"profile"`
	AccountID   string   `json:"account_id"`
	Environment string   `json:"environment"`
	Server      string   `json:"server"`
	Tools       []Pinned `json:"tools"`
	Waiting     []Pinned `json:"waiting"`
}

// OpenPins reads a file of pins; one that is not there yet is a server that was never
// seen.
func OpenPins(path string) (*Pins, error) {
	p := &Pins{path: path}
	return p, p.read()
}

func (p *Pins) read() error {
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.f.Schema != "":
		return fmt.Errorf("%s is gone", p.path) // whatever is listed now would be agreed to as at first use
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() > PinsBytesMax || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s is too long, not a file, or can be written by others", p.path)
	}
	raw, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	var f pinsFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	if f.Schema != pinsSchema {
		return fmt.Errorf("%s is not of schema %s", p.path, pinsSchema)
	}
	p.f = f
	return nil
}

// save writes the file anew, durably and whole.
func (p *Pins) save() error {
	p.f.Schema = pinsSchema
	raw, err := json.MarshalIndent(&p.f, "", " ")
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(p.path), ".pins-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(t.Name()) }() // gone already, if all went well
	_, err = t.Write(raw)
	if err = errors.Join(err, t.Chmod(0o600), t.Sync(), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), p.path)
}

// Known reports whether a server was pinned before.
func (p *Pins) Known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.f.Schema != ""
}

// Account returns the account and environment that were pinned, and for which profile.
func (p *Pins) Account() (id, environment, profile string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.f.AccountID, p.f.Environment, p.f.Profile
}

// PinAccount pins the account at first use.
func (p *Pins) PinAccount(id, environment, profile, server string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.f.AccountID, p.f.Environment, p.f.Profile, p.f.Server = id, environment, profile, server
	return p.save()
}

// Waiting returns the tools that wait for an operator, each with the definition that was
// agreed to before, empty if there was none.
func (p *Pins) Waiting() (list []Pinned, before []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.f.Waiting {
		list = append(list, w)
		old := p.pinned(w.Name)
		if w.Was != "" {
			old = p.pinned(w.Was)
		}
		if old != nil {
			before = append(before, old.Definition)
		} else {
			before = append(before, "")
		}
	}
	return list, before
}

// Approve pins waiting tools by name and hash, as an operator saw them; the rest waits on.
func (p *Pins) Approve(tools []Pinned) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return err
	}
	for _, t := range tools {
		i := slices.IndexFunc(p.f.Waiting, func(w Pinned) bool { return w.Name == t.Name && w.SHA256 == t.SHA256 })
		if i < 0 || p.f.Waiting[i].Why == whyTwice {
			return fmt.Errorf("%s does not wait for approval, or has changed since it was shown", printable(t.Name))
		}
		w := p.f.Waiting[i]
		p.f.Waiting = slices.Delete(p.f.Waiting, i, i+1)
		p.f.Tools = slices.DeleteFunc(p.f.Tools, func(k Pinned) bool { return k.Name == w.Name })
		p.f.Tools = append(p.f.Tools, Pinned{Name: w.Name, SHA256: w.SHA256, Definition: w.Definition})
	}
	slices.SortFunc(p.f.Tools, func(a, b Pinned) int { return strings.Compare(a.Name, b.Name) })
	return p.save()
}

// Words of why a tool waits.
const (
	whyNew     = "new"
	whyChanged = "changed"
	whyRenamed = "renamed"
	whyTwice   = "twice"
)

func (p *Pins) pinned(name string) *Pinned {
	for i := range p.f.Tools {
		if p.f.Tools[i].Name == name {
			return &p.f.Tools[i]
		}
	}
	return nil
}

// listing is a server's whole list, held against the pins.
type listing struct {
	agreed  map[string]string // hash of each tool that may be used, by name
	waiting map[string]string // why not, by name
}

// hold compares a whole list with what was agreed to. At first use the list is agreed to
// as it stands, but for what stands in it twice.
func (p *Pins) hold(tools []jsontext.Value) (listing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return listing{}, err
	}
	first := p.f.Schema == "" || len(p.f.Tools)+len(p.f.Waiting) == 0
	out := listing{agreed: map[string]string{}, waiting: map[string]string{}}
	var seen []Pinned
	for _, raw := range tools {
		seen = append(seen, pin(raw))
	}
	var waiting []Pinned
	for i, t := range seen {
		same := func(o Pinned) bool { return o.Name == t.Name }
		old := p.pinned(t.Name)
		switch {
		case slices.ContainsFunc(seen[:i], same) || slices.ContainsFunc(seen[i+1:], same):
			t.Why = whyTwice
		case t.Name == "":
			t.Why = whyNew
		case first || old != nil && old.SHA256 == t.SHA256:
			out.agreed[t.Name] = t.SHA256
			if first {
				p.f.Tools = append(p.f.Tools, t)
			}
			continue
		case old != nil:
			t.Why = whyChanged
		default:
			t.Why, t.Was = p.newOrRenamed(&t, seen)
		}
		out.waiting[t.Name] = t.Why
		waiting = append(waiting, t)
	}
	if !first && slices.Equal(waiting, p.f.Waiting) {
		return out, nil
	}
	p.f.Waiting = waiting
	slices.SortFunc(p.f.Tools, func(a, b Pinned) int { return strings.Compare(a.Name, b.Name) })
	return out, p.save()
}

// newOrRenamed finds the tool that a new one was, if one of the same definition is gone.
func (p *Pins) newOrRenamed(t *Pinned, seen []Pinned) (why, was string) {
	for _, old := range p.f.Tools {
		gone := !slices.ContainsFunc(seen, func(o Pinned) bool { return o.Name == old.Name })
		if gone && strings.Replace(old.Definition, string(quote(old.Name)), string(quote(t.Name)), 1) == t.Definition {
			return whyRenamed, old.Name
		}
	}
	return whyNew, ""
}

// pin hashes a definition's bytes as they came.
func pin(raw jsontext.Value) Pinned {
	sum := sha256.Sum256(raw)
	out := Pinned{SHA256: hex.EncodeToString(sum[:]), Definition: string(raw)}
	if ms, err := members(raw); err == nil {
		out.Name = text(find(ms, "name"))
	}
	return out
}

// printable keeps a server's name for people.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s[:min(len(s), 64)])
}
