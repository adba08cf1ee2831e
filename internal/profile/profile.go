package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/broker-rails/broker-rails/internal/strict"
)

// Limits of a profile.
const (
	ToolsMax     = 1024
	ArgumentsMax = 96
	RulesMax     = 64
	LegsMax      = 16
	BasketMax    = 64
	// DocumentBytesMax is how long a profile's text may be, and its file of vectors.
	DocumentBytesMax = strict.TextBytesMax
)

// Profile is how one broker's MCP server is read. It comes from Load; the zero value
// names no tool and refuses every call.
type Profile struct {
	ID          string
	Broker      string
	Servers     []string // names that the server may give itself; empty: not known
	Prefixes    []string // what agent hosts write before a tool's name
	Fingerprint string   // SHA-256 of the document's bytes, hex
	Environment Environment

	read   []string // tools that read, each by its full name
	denied []denial
	tools  []*ruleset // sorted by name
	reads  []*reads
}

// Environment says where it is written whether the account is paper or live.
type Environment struct {
	Value    string // paper or live when the operator's set-up says so; empty: see the others
	Argument string // an argument of each order
	Tool     string // a read tool to ask once a session, with the path of the answer
	Path     string
	Words    []Word // the answer's text, or the beginning of it, to paper or live
}

// Word is one entry of a closed map.
type Word struct{ From, To string }

type denial struct {
	tool  string
	class Class
}

// Load reads a profile. Errors are strict.Errors, each with its place.
func Load(name string, text []byte) (*Profile, error) {
	r := &loader{}
	r.Name = strict.Printable(name)
	root := r.Problems.Read(name, text)
	if root == nil {
		return nil, r.Err()
	}
	p := r.profile(root)
	if err := r.Err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	p.Fingerprint = hex.EncodeToString(sum[:])
	return p, nil
}

// Class says what a tool is to this profile, before any argument is read. Known is false
// for a tool that the profile does not name: it is refused.
func (p *Profile) Class(tool string) (class Class, known bool) {
	if slices.Contains(p.read, tool) {
		return Read, true
	}
	for _, d := range p.denied {
		if d.tool == tool {
			return d.class, true
		}
	}
	if rs := p.ruleset(tool); rs != nil {
		return rs.class, true
	}
	return "", false
}

// Denied reports whether a known tool is closed as a whole.
func (p *Profile) Denied(tool string) bool {
	return slices.ContainsFunc(p.denied, func(d denial) bool { return d.tool == tool })
}

// Tools returns the names of all tools that the profile names, sorted.
func (p *Profile) Tools() []string {
	all := slices.Clone(p.read)
	for _, d := range p.denied {
		all = append(all, d.tool)
	}
	for _, rs := range p.tools {
		all = append(all, rs.tool)
	}
	slices.Sort(all)
	return all
}

// Arguments returns the names that a mapped tool's arguments may have, sorted, and
// whether the tool is mapped. What a live schema has beyond them is not mapped.
func (p *Profile) Arguments(tool string) (names []string, mapped bool) {
	rs := p.ruleset(tool)
	if rs == nil {
		return nil, false
	}
	return rs.known(), true
}

func (p *Profile) ruleset(tool string) *ruleset {
	for _, rs := range p.tools {
		if rs.tool == tool {
			return rs
		}
	}
	return nil
}
