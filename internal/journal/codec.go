package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AccountBytesMax bounds the name of an account, in bytes.
const AccountBytesMax = 64

// An EntryError says why bytes are not an entry, or a value cannot be written as one.
type EntryError struct {
	Problem string
	Cause   error // may be nil
}

func (e *EntryError) Error() string {
	if e.Cause != nil {
		return "journal entry: " + e.Problem + ": " + e.Cause.Error()
	}
	return "journal entry: " + e.Problem
}

func (e *EntryError) Unwrap() error { return e.Cause }

func problem(text string) error { return &EntryError{Problem: text} }

// HashOf returns the SHA-256 of an entry's stored bytes.
func HashOf(b []byte) Hash { return sha256.Sum256(b) }

// ValidAccount reports whether name can be an account's: 1 to AccountBytesMax printable
// ASCII characters without space, quote, backslash and slash, or the control chain.
func ValidAccount(name string) bool {
	if name == "" || len(name) > AccountBytesMax {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '/':
			return false
		case c == '*' && name != ControlAccount:
			return false
		}
	}
	return true
}

// Encode returns the entry's canonical bytes: members in the order of their names, no
// space between tokens, strings escaped as RFC 8785 says, decimals as strings. The
// body must be canonical already, as EncodeBody makes it.
func Encode(e *Entry) ([]byte, error) {
	if err := checkEnvelope(e, ""); err != nil {
		return nil, err
	}
	if err := checkBody(e); err != nil {
		return nil, err
	}
	b, err := appendHead(make([]byte, 0, len(e.Body)+400), e)
	if err != nil {
		return nil, err
	}
	b = appendTail(append(b, e.Body...), e)
	if len(b) > EntryBytesMax {
		return nil, problem("longer than an entry may be")
	}
	return b, nil
}

// EncodeBody returns the canonical bytes of a kind's body.
func EncodeBody(body any) (jsontext.Value, error) {
	return appendBody(nil, body)
}

func appendBody(b []byte, body any) ([]byte, error) {
	p := pen{b: b}
	if !p.write(body) {
		text, err := encodeAny(body)
		return append(b, text...), err
	}
	if p.err != nil {
		return nil, &EntryError{Problem: "body cannot be written", Cause: p.err}
	}
	return p.b, nil
}

func encodeAny(body any) (jsontext.Value, error) {
	b, err := json.Marshal(body, json.WithMarshalers(marshalers))
	if err != nil {
		return nil, &EntryError{Problem: "body cannot be written", Cause: err}
	}
	return b, nil
}

// marshalers and unmarshalers give an intent's expiry the text form of Time.
//
//archtest:immutable both are lists of functions without setters
var (
	marshalers = json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
		b, err := Time{t}.MarshalJSON()
		if err != nil {
			return err
		}
		return enc.WriteValue(b)
	})
	unmarshalers = json.UnmarshalFunc(func(b []byte, t *time.Time) error {
		var read Time
		if err := read.UnmarshalJSON(b); err != nil {
			return err
		}
		*t = read.Time
		return nil
	})
)

// Seal makes the entry that follows prev and returns its bytes and their hash. body is
// one of this package's body structs, of the kind named.
func Seal(account string, seq uint64, prev Hash, at time.Time, fingerprint string, kind Kind, body any) ([]byte, Hash, error) {
	_, b, h, err := SealEntry(account, seq, prev, at, fingerprint, kind, body)
	return b, h, err
}

// SealEntry is Seal for a writer that goes on with the entry: it is what Envelope and
// DecodeBody would read from the bytes. The entry may share memory with the body, which
// must not be changed any more, and its Body shares memory with the bytes.
func SealEntry(account string, seq uint64, prev Hash, at time.Time, fingerprint string, kind Kind, body any) (Entry, []byte, Hash, error) {
	if KindOf(body) != kind {
		return Entry{}, nil, Hash{}, problem("body is not of the kind")
	}
	e := Entry{Account: account, At: At(at), Kind: kind, Limits: fingerprint, Prev: prev, Schema: SchemaVersion, Seq: seq}
	if err := checkEnvelope(&e, ""); err != nil {
		return Entry{}, nil, Hash{}, err
	}
	b, err := appendHead(make([]byte, 0, entryBytesUsual), &e)
	if err != nil {
		return Entry{}, nil, Hash{}, err
	}
	start := len(b)
	if b, err = appendBody(b, body); err != nil {
		return Entry{}, nil, Hash{}, err
	}
	end := len(b)
	b = appendTail(b, &e)
	e.Body = b[start:end:end]
	if err := checkBody(&e); err != nil {
		return Entry{}, nil, Hash{}, err
	}
	if len(b) > EntryBytesMax {
		return Entry{}, nil, Hash{}, problem("longer than an entry may be")
	}
	e.decoded = readBack(body)
	return e, b, HashOf(b), nil
}

// entryBytesUsual is room for an ordinary decision.
const entryBytesUsual = 2048

// checkEnvelope checks the values. known is a fingerprint that was checked before.
func checkEnvelope(e *Entry, known string) error {
	switch {
	case !ValidAccount(e.Account):
		return problem("account name is not valid")
	case e.Seq == 0:
		return problem("seq is not from 1")
	case e.Schema != SchemaVersion:
		return problem("schema version is not " + strconv.Itoa(SchemaVersion))
	case !e.Kind.Known():
		return problem("kind is not known")
	case e.Limits != "" && e.Limits != known && !isFingerprint(e.Limits):
		return problem("fingerprint is not 64 lower-case hex digits")
	}
	return nil
}

func checkBody(e *Entry) error {
	if len(e.Body) < 2 || e.Body[0] != '{' {
		return problem("body is not an object")
	}
	return nil
}

func isFingerprint(text string) bool {
	_, ok := parseHash([]byte(text))
	return ok
}

// Known reports whether this version of the schema has the kind.
func (k Kind) Known() bool {
	switch k {
	case KindGenesis, KindLimits, KindOpen, KindDecision, KindOutcome, KindLatch, KindFill,
		KindExternal, KindMode, KindRefusal, KindReconcile, KindRecovery:
		return true
	}
	return false
}

// KindOf returns the kind of a body struct or a pointer to one; empty for anything else.
func KindOf(body any) Kind {
	switch body.(type) {
	case Genesis, *Genesis:
		return KindGenesis
	case Limits, *Limits:
		return KindLimits
	case Open, *Open:
		return KindOpen
	case Decision, *Decision:
		return KindDecision
	case Outcome, *Outcome:
		return KindOutcome
	case Latch, *Latch:
		return KindLatch
	case Fill, *Fill:
		return KindFill
	case External, *External:
		return KindExternal
	case Mode, *Mode:
		return KindMode
	case Refusal, *Refusal:
		return KindRefusal
	case Reconcile, *Reconcile:
		return KindReconcile
	case Recovery, *Recovery:
		return KindRecovery
	}
	return ""
}

// The envelope's text between its values. An entry is written and read by these very
// bytes, so there is one form of it and reading costs little.
const (
	partAccount = `{"account":"`
	partAt      = `","at":"`
	partBody    = `","body":`
	partKind    = `,"kind":"`
	partLimits  = `","limits":"`
	partPrev    = `","prev":"`
	partSchema  = `","schema":`
	partSeq     = `,"seq":`
)

// appendHead writes what stands before the body.
func appendHead(b []byte, e *Entry) ([]byte, error) {
	b = append(append(b, partAccount...), e.Account...)
	b, err := e.At.AppendText(append(b, partAt...))
	if err != nil {
		return nil, &EntryError{Problem: "time cannot be written", Cause: err}
	}
	return append(b, partBody...), nil
}

// appendTail writes what stands after the body.
func appendTail(b []byte, e *Entry) []byte {
	b = append(append(b, partKind...), e.Kind...)
	b = append(append(b, partLimits...), e.Limits...)
	b, _ = e.Prev.AppendText(append(b, partPrev...))
	b = strconv.AppendInt(append(b, partSchema...), int64(e.Schema), 10)
	b = strconv.AppendUint(append(b, partSeq...), e.Seq, 10)
	return append(b, '}')
}

// Envelope reads an entry's envelope strictly, down to the byte, and leaves the body to
// DecodeBody, which a fold calls anyway. The entry's Body shares memory with b.
func Envelope(b []byte) (Entry, error) { return envelope(b, "", "") }

// Inspect reads an entry as strictly as Decode, and leaves the body as it stands: its
// form is checked, and nothing is made of it. It costs a tenth.
func Inspect(b []byte) (Entry, error) { return inspect(b, "", "") }

// inspect is Inspect for a reader that expects an account and a fingerprint: texts that
// are as expected are not copied.
func inspect(b []byte, account, limits string) (Entry, error) {
	e, err := envelope(b, account, limits)
	if err == nil && canonicalBody(e.Kind, e.Body) {
		e.formed = true
		return e, nil
	}
	// Decode has the last word, and says what is wrong.
	return Decode(b)
}

// same returns known where the bytes are the same, which needs no memory.
func same(known string, b []byte) string {
	if string(b) == known {
		return known
	}
	return string(b)
}

// envelope is Envelope for a reader that expects an account and a fingerprint.
func envelope(b []byte, account, limits string) (Entry, error) {
	if len(b) > EntryBytesMax {
		return Entry{}, problem("longer than an entry may be")
	}
	var e Entry
	head := cutter{rest: b, ok: true}
	head.expect(partAccount)
	e.Account = same(account, head.until('"'))
	head.expect(partAt)
	if !head.ok {
		return Entry{}, problem("not an entry in canonical form")
	}
	at := head.take(len(timeLayout))
	head.expect(partBody)
	end := bodyEnd(head.rest)
	if !head.ok || end < 0 || e.At.UnmarshalText(at) != nil {
		return Entry{}, problem("not an entry in canonical form")
	}
	e.Body = head.rest[:end:end]
	tail := cutter{rest: head.rest[end:], ok: true}
	if !tail.readAfterBody(&e, limits) {
		return Entry{}, problem("not an entry in canonical form")
	}
	if err := checkEnvelope(&e, limits); err != nil {
		return e, err
	}
	return e, checkBody(&e)
}

// tailBytesMax is the longest that an envelope can be from partKind on.
const tailBytesMax = 256

// bodyEnd is where the body ends. The values after the body hold neither quotes nor commas
// of their own, so the last occurrence of partKind is the envelope's; going forward
// through the last bytes is the quicker way to it.
func bodyEnd(b []byte) int {
	from := max(0, len(b)-tailBytesMax)
	end := -1
	for at := from; ; at = end + 1 {
		next := bytes.Index(b[at:], []byte(partKind))
		if next < 0 {
			break
		}
		end = at + next
	}
	if end < 0 {
		return bytes.LastIndex(b, []byte(partKind))
	}
	return end
}

func (c *cutter) readAfterBody(e *Entry, limits string) bool {
	c.expect(partKind)
	e.Kind = kindNamed(c.until('"'))
	c.expect(partLimits)
	e.Limits = same(limits, c.until('"'))
	c.expect(partPrev)
	prev, ok := parseHash(c.until('"'))
	c.expect(partSchema)
	schema, schemaOK := wholeNumber(c.until(','))
	c.expect(partSeq)
	seq, seqOK := wholeNumber(c.until('}'))
	c.expect("}")
	e.Prev, e.Schema, e.Seq = prev, int(schema&0xffff), seq
	return c.ok && ok && schemaOK && seqOK && schema <= 0xffff && len(c.rest) == 0
}

// kindNamed avoids an allocation for each entry read.
func kindNamed(b []byte) Kind {
	switch string(b) {
	case string(KindDecision):
		return KindDecision
	case string(KindOutcome):
		return KindOutcome
	case string(KindFill):
		return KindFill
	case string(KindRefusal):
		return KindRefusal
	}
	return Kind(b)
}

// cutter takes a text apart from its front. Once something was not as expected, ok is
// false and stays so.
type cutter struct {
	rest []byte
	ok   bool
}

func (c *cutter) expect(text string) {
	if !c.ok || len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		c.ok = false
		return
	}
	c.rest = c.rest[len(text):]
}

// until returns the bytes before the next end, which stays.
func (c *cutter) until(end byte) []byte {
	i := bytes.IndexByte(c.rest, end)
	if !c.ok || i < 0 {
		c.ok = false
		return nil
	}
	taken := c.rest[:i]
	c.rest = c.rest[i:]
	return taken
}

func (c *cutter) take(n int) []byte {
	if !c.ok || len(c.rest) < n {
		c.ok = false
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// wholeNumber reads a number from 1 up in its shortest form.
func wholeNumber(b []byte) (uint64, bool) {
	if len(b) == 0 || b[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	return n, err == nil
}

// DecodeBody reads the body of an entry whose kind is T's. Unknown members, duplicate
// names, null, bad UTF-8 and a form that is not canonical are refused.
func DecodeBody[T any](e *Entry) (T, error) {
	if known, ok := e.decoded.(*T); ok {
		return *known, nil
	}
	var body T
	if KindOf(body) != e.Kind {
		return body, problem("body is not of the kind " + string(e.Kind))
	}
	if err := decodeInto(e, &body); err != nil {
		var none T
		return none, fmt.Errorf("%s %d: %w", e.Kind, e.Seq, err)
	}
	e.decoded = &body
	return body, nil
}

func decodeInto(e *Entry, body any) error {
	err := json.Unmarshal(e.Body, body, json.RejectUnknownMembers(true), json.WithUnmarshalers(unmarshalers))
	if err != nil {
		return &EntryError{Problem: "body cannot be read", Cause: err}
	}
	if e.formed {
		return nil
	}
	if err := checkForm(e.Body); err != nil {
		return &EntryError{Problem: "body", Cause: err}
	}
	return nil
}

// Decode reads an entry wholly and strictly: whatever Envelope and DecodeBody refuse,
// and any bytes that writing the entry again does not give. The entry's Body shares
// memory with b.
func Decode(b []byte) (Entry, error) {
	e, err := Envelope(b)
	if err != nil {
		return Entry{}, err
	}
	body, err := decodeAny(&e)
	if err != nil {
		return Entry{}, err
	}
	again, err := EncodeBody(body)
	if err != nil {
		return Entry{}, err
	}
	if !bytes.Equal(again, e.Body) {
		return Entry{}, &EntryError{Problem: "body", Cause: errNotCanonical}
	}
	e.decoded = body
	return e, nil
}

// decodeAny returns a pointer to the body struct of the entry's kind.
func decodeAny(e *Entry) (any, error) {
	var body any
	switch e.Kind {
	case KindGenesis:
		body = new(Genesis)
	case KindLimits:
		body = new(Limits)
	case KindOpen:
		body = new(Open)
	case KindDecision:
		body = new(Decision)
	case KindOutcome:
		body = new(Outcome)
	case KindLatch:
		body = new(Latch)
	case KindFill:
		body = new(Fill)
	case KindExternal:
		body = new(External)
	case KindMode:
		body = new(Mode)
	case KindRefusal:
		body = new(Refusal)
	case KindReconcile:
		body = new(Reconcile)
	case KindRecovery:
		body = new(Recovery)
	default:
		return nil, errors.New("journal entry: kind is not known")
	}
	return body, decodeInto(e, body)
}
