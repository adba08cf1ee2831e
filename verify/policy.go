package verify

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a policy. Readers should take 32 of each kind (c2sp.org/tlog-policy).
const (
	PolicyBytesMax  = 64 << 10
	policyLogsMax   = 64
	policyNamesMax  = 128 // witnesses and groups together
	policyNameMax   = 256 // bytes of one name
	policyURLMax    = 1024
	quorumNone      = "none"
	quorumUndecided = -1
)

// Witness is one that a policy knows.
type Witness struct {
	Name string // in the policy only
	Key  WitnessKey
	URL  string // where it takes checkpoints; may be empty
}

// Policy says which witnesses are known, and which of them must have cosigned a
// checkpoint (c2sp.org/tlog-policy). The zero Policy is met by nothing.
type Policy struct {
	Witnesses []Witness // as the file lists them
	logs      []Key     // none: any log
	nodes     []node    // witnesses and groups, each after its members
	quorum    int       // of nodes, from 1; quorumUndecided: none is asked for; 0: refuses
}

// node is a witness, or a group of which some members must have cosigned.
type node struct {
	name    string
	witness int // index of Witnesses; only where there are no members
	members []int
	need    int
}

// ParsePolicy reads a policy file. Whatever it does not know is refused, and so is a
// last line without its line feed: a file that was cut may ask for less.
func ParsePolicy(text []byte) (*Policy, error) {
	switch {
	case len(text) > PolicyBytesMax:
		return nil, fmt.Errorf("policy: %w: over %d bytes", ErrMalformed, PolicyBytesMax)
	case len(text) > 0 && text[len(text)-1] != '\n':
		return nil, fmt.Errorf("policy: %w: the last line has no line feed", ErrMalformed)
	}
	b := policyReader{p: &Policy{}, at: map[string]int{}, used: map[string]bool{}, keys: map[string]bool{}}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if err := b.line(line); err != nil {
			return nil, fmt.Errorf("policy: line %d: %w: %w", i+1, ErrMalformed, err)
		}
	}
	if b.p.quorum == 0 {
		return nil, fmt.Errorf("policy: %w: no quorum line", ErrMalformed)
	}
	return b.p, nil
}

type policyReader struct {
	p    *Policy
	at   map[string]int  // of nodes, by name
	used map[string]bool // names that are members already
	keys map[string]bool // public keys, with what they are for
}

func (b *policyReader) line(line []byte) error {
	for _, c := range line {
		if c != '\t' && c < ' ' || c == 0x7f {
			return fmt.Errorf("a control character")
		}
	}
	// Only spaces and tabs part words: strings.Fields would take others too.
	words := strings.FieldsFunc(string(line), func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || words[0][0] == '#' {
		return nil
	}
	switch words[0] {
	case "log":
		return b.log(words[1:])
	case "witness":
		return b.witness(words[1:])
	case "group":
		return b.group(words[1:])
	case "quorum":
		return b.quorum(words[1:])
	}
	return fmt.Errorf("%.40q is not log, witness, group or quorum", words[0])
}

func (b *policyReader) log(words []string) error {
	if len(words) != 1 && len(words) != 2 {
		return fmt.Errorf("write: log KEY [URL]")
	}
	k, err := ParseKey([]byte(words[0]))
	if err != nil {
		return err
	}
	if len(b.p.logs) == policyLogsMax {
		return fmt.Errorf("over %d logs", policyLogsMax)
	}
	b.p.logs = append(b.p.logs, k)
	return b.once("log " + keyBytes(words[0]))
}

// keyBytes is what stands behind name and id of a key that was parsed.
func keyBytes(key string) string {
	parts := strings.SplitN(key, "+", 3)
	return parts[len(parts)-1]
}

// once refuses a public key that stands there already.
func (b *policyReader) once(key string) error {
	if b.keys[key] {
		return fmt.Errorf("the same key twice")
	}
	b.keys[key] = true
	return nil
}

func (b *policyReader) witness(words []string) error {
	if len(words) != 2 && len(words) != 3 {
		return fmt.Errorf("write: witness NAME KEY [URL]")
	}
	k, err := ParseWitnessKey([]byte(words[1]))
	if err != nil {
		return err
	}
	w := Witness{Name: words[0], Key: k}
	if len(words) == 3 {
		if w.URL = words[2]; !askable(w.URL) {
			return fmt.Errorf("%.80q is not an http or https address", w.URL)
		}
	}
	if err := b.once("witness " + string(k.public)); err != nil {
		return err
	}
	b.p.Witnesses = append(b.p.Witnesses, w)
	return b.define(node{name: w.Name, witness: len(b.p.Witnesses) - 1})
}

// askable reports whether an address can be asked as it stands. A query or a fragment
// would swallow the path that is added to it.
func askable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= policyURLMax && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
		u.User == nil && !strings.ContainsAny(address, "?#")
}

func (b *policyReader) define(n node) error {
	_, known := b.at[n.name]
	switch {
	case n.name == quorumNone:
		return fmt.Errorf("%s is not a name", quorumNone)
	case known:
		return fmt.Errorf("%.80q stands there already", n.name)
	case len(n.name) > policyNameMax:
		return fmt.Errorf("a name over %d bytes", policyNameMax)
	case len(b.p.nodes) == policyNamesMax:
		return fmt.Errorf("over %d witnesses and groups", policyNamesMax)
	}
	b.at[n.name] = len(b.p.nodes)
	b.p.nodes = append(b.p.nodes, n)
	return nil
}

func (b *policyReader) group(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("write: group NAME all|any|COUNT MEMBER…")
	}
	n := node{name: words[0]}
	for _, name := range words[2:] {
		at, known := b.at[name]
		if !known {
			return fmt.Errorf("%.80q is not defined above", name)
		}
		// So that no witness counts twice.
		if b.used[name] {
			return fmt.Errorf("%.80q is a member already", name)
		}
		b.used[name] = true
		n.members = append(n.members, at)
	}
	switch words[1] {
	case "any":
		n.need = 1
	case "all":
		n.need = len(n.members)
	default:
		need, err := strconv.Atoi(words[1])
		if err != nil || strconv.Itoa(need) != words[1] || need < 1 || need > len(n.members) {
			return fmt.Errorf("%.40q is not all, any, or a count from 1 to %d", words[1], len(n.members))
		}
		n.need = need
	}
	return b.define(n)
}

func (b *policyReader) quorum(words []string) error {
	switch {
	case len(words) != 1:
		return fmt.Errorf("write: quorum NAME")
	case b.p.quorum != 0:
		return fmt.Errorf("a second quorum")
	case words[0] == quorumNone:
		b.p.quorum = quorumUndecided
		return nil
	}
	at, known := b.at[words[0]]
	if !known {
		return fmt.Errorf("%.80q is not defined above", words[0])
	}
	b.p.quorum = at + 1
	return nil
}

// Cosignature is what a policy's witness says of a checkpoint.
type Cosignature struct {
	Witness string    // the policy's name for it
	At      time.Time // zero: it has not cosigned
}

// Quorum is how a checkpoint stands under a policy.
type Quorum struct {
	Checkpoint Checkpoint
	Met        bool
	Witnesses  []Cosignature // as the policy lists them
}

// Missing names the witnesses that have not cosigned.
func (q *Quorum) Missing() []string {
	var names []string
	for _, w := range q.Witnesses {
		if w.At.IsZero() {
			names = append(names, w.Witness)
		}
	}
	return names
}

// Knows reports whether the policy is about the log of this key: one that it lists, or
// any if it lists none.
func (p *Policy) Knows(k Key) bool {
	return k.verifier != nil && (len(p.logs) == 0 || slices.ContainsFunc(p.logs, func(l Key) bool { return l.text == k.text }))
}

// Logs are the public keys that the policy lists.
func (p *Policy) Logs() []Key { return slices.Clone(p.logs) }

// Check verifies the log's signature on a checkpoint and counts its cosignatures. It is
// no error that too few have cosigned: see Quorum.Met, and Require.
func (p *Policy) Check(signed []byte, k Key) (*Quorum, error) {
	if !p.Knows(k) {
		return nil, fmt.Errorf("policy: %w: it does not list the log %s with this key", ErrSignature, k.Name())
	}
	c, err := OpenCheckpoint(signed, k)
	if err != nil {
		return nil, err
	}
	q := &Quorum{Checkpoint: c}
	for _, w := range p.Witnesses {
		one := Cosignature{Witness: w.Name}
		// One that does not verify is as good as none.
		if at, err := w.Key.CosignedAt(signed); err == nil {
			one.At = at
		}
		q.Witnesses = append(q.Witnesses, one)
	}
	q.Met = p.met(q.Witnesses)
	return q, nil
}

func (p *Policy) met(given []Cosignature) bool {
	if p.quorum == quorumUndecided {
		return true
	}
	if p.quorum < 1 || p.quorum > len(p.nodes) {
		return false
	}
	done := make([]bool, len(p.nodes))
	for i, n := range p.nodes {
		if len(n.members) == 0 {
			done[i] = !given[n.witness].At.IsZero()
			continue
		}
		count := 0
		for _, m := range n.members {
			if done[m] {
				count++
			}
		}
		done[i] = count >= n.need
	}
	return done[p.quorum-1]
}

// Require is Check for who goes on only when the quorum is met: the error wraps
// ErrQuorum and names who is missing.
func (p *Policy) Require(signed []byte, k Key) (*Quorum, error) {
	q, err := p.Check(signed, k)
	if err != nil || q.Met {
		return q, err
	}
	return q, fmt.Errorf("checkpoint of size %d: %w: missing %s", q.Checkpoint.Size, ErrQuorum, strings.Join(q.Missing(), ", "))
}
