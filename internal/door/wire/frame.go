package wire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a message is.
type Kind uint8

// Kinds. KindNone is no message.
const (
	KindNone         Kind = iota
	KindCall              // has a method and an id: wants an answer
	KindNotification      // has a method and no id
	KindResponse          // answers a call of ours
)

// MethodCallTool is the method that calls a tool.
const MethodCallTool = "tools/call"

const methodInitialize = "initialize"

// Frame is a message that passed, by its envelope.
type Frame struct {
	Kind   Kind
	ID     string // JSON text of the id; empty for a notification
	Method string
	Tool   string // of tools/call: the tool's name, the caller's text
	// PerRequest: the message carries its protocol version itself and needs no handshake
	// (2026-07-28).
	PerRequest bool
	// Answers: the call carries input that its tool is said to have asked for. No tool of
	// ours asks: it is to be refused, but for a protocol suite's.
	Answers bool

	params []byte
}

// Params is the JSON text of the message's params, nil if it has none. It aliases what was
// read.
func (f *Frame) Params() []byte { return f.params }

// Violation is a message that is not handed on, and why. Problem is our own text.
type Violation struct {
	Code    int // JSON-RPC
	Problem string
	// ID is the JSON text of the id to answer with, empty for null. Silent: the protocol
	// gives a notification no answer.
	ID     string
	Silent bool
	// Benign: a well-formed notification that this server does not know. It counts as a
	// message, not as a denial.
	Benign bool
	Method string // the caller's text, possibly empty
	Tool   string // the caller's text, possibly empty
	Bytes  int    // length of the message, as far as it was read
	Raw    []byte // the message, or its beginning; valid until the report returns
}

func (v *Violation) Error() string { return v.Problem }

// Read looks at one message. Exactly one of its results is set.
func Read(raw []byte) (Frame, *Violation) {
	f, v := read(raw)
	if v == nil {
		return f, nil
	}
	v.Bytes, v.Raw = len(raw), raw
	if v.Method == "" {
		v.Method = f.Method
	}
	if v.Tool == "" {
		v.Tool = f.Tool
	}
	if v.ID == "" && !v.Silent {
		v.ID = f.ID
	}
	return Frame{}, v
}

func read(raw []byte) (f Frame, v *Violation) {
	raw = trim(raw)
	switch {
	case len(raw) > FrameBytesMax:
		return f, violation(CodeParse, "the message is too long")
	case len(raw) == 0:
		return f, violation(CodeParse, "the message is empty")
	case raw[0] == '[':
		return f, violation(CodeInvalidRequest, "batches are not accepted; send one message at a time")
	case raw[0] != '{':
		return f, violation(CodeParse, "the message is not a JSON object")
	case deeper(raw, DepthMax):
		return f, violation(CodeParse, "the message is nested too deep")
	}
	env, v := readEnvelope(raw)
	f.ID, f.Method, f.params = env.id, env.method, env.params
	if v != nil {
		return f, v
	}
	if v := env.kind(&f); v != nil {
		return f, v
	}
	if f.Kind == KindResponse {
		return f, nil
	}
	return f, f.readParams()
}

// envelope is the top level of a message.
type envelope struct {
	id, method          string
	params              []byte // nil: absent
	hasID, hasMethod    bool
	hasResult, hasError bool
	hasVersion, nullID  bool
	foldsWith           string
}

func envelopeNames() []string {
	return []string{"jsonrpc", "id", "method", "params", "result", "error"}
}

// readEnvelope walks the top level. Every value is read whole, which finds duplicate
// names, invalid UTF-8 and lone surrogates at every depth.
func readEnvelope(raw []byte) (env envelope, v *Violation) {
	err := members(raw, func(name string, value jsontext.Value) {
		switch name {
		case "jsonrpc":
			env.hasVersion = string(value) == `"2.0"`
		case "id":
			env.hasID, env.nullID = true, value.Kind() == 'n'
			env.id = idText(value)
		case "method":
			if value.Kind() == '"' {
				env.hasMethod = true
				env.method = text(value)
			}
		case "params":
			env.params = value
		case "result":
			env.hasResult = true
		case "error":
			env.hasError = true
		default:
			if env.foldsWith == "" {
				env.foldsWith = folds(name, envelopeNames())
			}
		}
	})
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		v = violation(CodeParse, "a name stands twice in one object")
	case err != nil:
		v = violation(CodeParse, "the message is not valid JSON in UTF-8")
	case env.foldsWith == "params":
		v = violation(CodeInvalidParams, "a name differs from params only in its letters' form")
	case env.foldsWith != "":
		v = violation(CodeInvalidRequest, "a name differs from "+env.foldsWith+" only in its letters' form")
	case !env.hasVersion:
		v = violation(CodeInvalidRequest, `jsonrpc is not "2.0"`)
	}
	if err != nil {
		env.id, env.method = salvage(raw)
	}
	return env, v
}

// kind says what the message is, from which members it has.
func (env *envelope) kind(f *Frame) *Violation {
	switch {
	case env.hasID && env.id == "":
		v := violation(CodeInvalidRequest, "id is neither text nor a whole number, or is too long")
		if env.nullID {
			v.Problem = "id is null"
		}
		return v
	case env.hasMethod && (env.hasResult || env.hasError):
		return violation(CodeInvalidRequest, "the message is both a call and an answer")
	case !env.hasMethod && env.hasID && env.hasResult != env.hasError:
		f.Kind = KindResponse
		return nil
	case !env.hasMethod:
		return violation(CodeInvalidRequest, "method is missing or not text")
	}
	call, known := Method(env.method)
	switch {
	case !known && env.hasID:
		return violation(CodeNoMethod, "no such method")
	case !known:
		v := silent("no such notification")
		v.Benign = true
		return v
	case call && !env.hasID:
		return silent("a call came as a notification, without an id")
	case !call && env.hasID:
		return violation(CodeInvalidRequest, "a notification came with an id")
	case call:
		f.Kind = KindCall
	default:
		f.Kind = KindNotification
	}
	return nil
}

// Method reports whether a method is one that clients may send, and whether it is a
// call. Tools are not methods.
func Method(name string) (call, known bool) {
	switch name {
	case methodInitialize, "ping", "server/discover", "tools/list", MethodCallTool,
		"prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "completion/complete", "logging/setLevel":
		return true, true
	case "notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return false, true
	}
	return false, false
}

// Names in params that select what is called or how it is read.
func paramNames() []string {
	return []string{"name", "arguments", "_meta", "inputResponses", "requestState"}
}

const metaProtocolVersion = "io.modelcontextprotocol/protocolVersion"

// readParams looks into params: an object, with names that are exactly what they seem.
func (f *Frame) readParams() *Violation {
	isTool := f.Method == MethodCallTool
	params := trim(f.params)
	if len(params) == 0 || string(params) == "null" {
		if isTool {
			return f.refuse("params are missing")
		}
		return nil
	}
	if params[0] != '{' {
		return f.refuse("params are not an object")
	}
	var folded, problem string
	named := false
	err := members(params, func(name string, value jsontext.Value) {
		switch {
		case name == "_meta":
			if value.Kind() != '{' {
				problem = "_meta is not an object"
			}
			f.PerRequest = carriesVersion(value)
		case name == "name" && isTool:
			named = value.Kind() == '"'
			f.Tool = text(value)
		case name == "arguments" && isTool:
			if deeper(value, ArgumentsDepthMax) {
				problem = "arguments are nested too deep"
			}
		case (name == "inputResponses" || name == "requestState") && isTool:
			f.Answers = true
		case folded == "" && (isTool || strings.EqualFold(name, "_meta")):
			folded = folds(name, paramNames())
		}
	})
	switch {
	case err != nil:
		return f.refuse("params are not valid JSON in UTF-8")
	case folded != "":
		v := f.refuse("a name differs from " + folded + " only in its letters' form")
		v.Code = CodeInvalidRequest
		return v
	case problem != "":
		return f.refuse(problem)
	case isTool && !named:
		return f.refuse("name is missing or not text")
	}
	return nil
}

// Unasked is the violation of a call that answers what nobody asked.
func (f *Frame) Unasked() *Violation {
	return f.refuse("the call answers a question that was not asked")
}

// Unserved is the violation of a call of a method that names what a server with tools alone
// does not have; nil of any other. The SDK knows the methods, and its refusals repeat what
// the caller wrote.
func (f *Frame) Unserved() *Violation {
	switch f.Method {
	case "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete":
		return violation(CodeNoMethod, "no such method")
	}
	return nil
}

// refuse is a violation of a message whose envelope was sound.
func (f *Frame) refuse(problem string) *Violation {
	if f.Kind == KindNotification {
		return silent(problem)
	}
	return violation(CodeInvalidParams, problem)
}

func carriesVersion(meta []byte) bool {
	found := false
	if len(meta) > 0 && meta[0] == '{' {
		_ = members(meta, func(name string, value jsontext.Value) {
			found = found || name == metaProtocolVersion && value.Kind() == '"'
		})
	}
	return found
}

// members calls each with the members of the object that raw is, and fails unless raw
// is one strict JSON object and nothing else. The values alias raw.
func members(raw []byte, each func(name string, value jsontext.Value)) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		end := dec.InputOffset()
		each(name, raw[end-int64(len(value)):end])
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

var errTrailing = errors.New("something follows the message")

// salvage finds id and method of a message that is not sound, so that its sender gets
// the answer to the call that it made. Two ids are none.
func salvage(raw []byte) (id, method string) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return "", ""
	}
	ids := 0
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		switch name {
		case "id":
			ids++
			id = idText(value)
		case "method":
			method = text(value)
		}
	}
	if ids != 1 {
		id = ""
	}
	return id, method
}

// idText returns the JSON text of an id that can be echoed exactly: text, or a whole
// number below 2^53, which every JSON library keeps. Empty for any other.
func idText(value jsontext.Value) string {
	if len(value) == 0 || len(value) > IDBytesMax {
		return ""
	}
	switch value.Kind() {
	case '"':
		quoted, err := jsontext.AppendQuote(nil, text(value))
		if err != nil {
			return ""
		}
		return string(quoted)
	case '0':
		digits := strings.TrimPrefix(string(value), "-")
		if len(digits) > 15 || strings.ContainsAny(digits, ".eE") || string(value) == "-0" {
			return ""
		}
		return string(value)
	}
	return ""
}

// text is a string's value; empty for anything else.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	out, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(out)
}

// folds returns the name that another one differs from only in case, or in a letter
// that folds to it (long s, the Kelvin sign): some parsers would take one for the other.
func folds(name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n
		}
	}
	return ""
}

// deeper counts brackets outside strings, before any parser recurses.
func deeper(raw []byte, most int) bool {
	depth, inString, escaped := 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

func violation(code int, problem string) *Violation { return &Violation{Code: code, Problem: problem} }

func silent(problem string) *Violation {
	return &Violation{Code: CodeInvalidRequest, Problem: problem, Silent: true}
}

// AppendError appends the JSON-RPC error that answers a violation, without a line end.
func AppendError(out []byte, v *Violation) []byte {
	id := v.ID
	if id == "" {
		id = "null"
	}
	out = append(out, `{"jsonrpc":"2.0","id":`...)
	out = append(out, id...)
	out = append(out, `,"error":{"code":`...)
	out = strconv.AppendInt(out, int64(v.Code), 10)
	out = append(out, `,"message":`...)
	out, err := jsontext.AppendQuote(out, v.Problem)
	if err != nil { // our own texts are valid UTF-8
		out = append(out, `"refused"`...)
	}
	return append(out, `}}`...)
}
