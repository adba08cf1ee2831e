package profile

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/broker-rails/broker-rails/internal/money"
	"github.com/broker-rails/broker-rails/internal/strict"
)

// VectorsMax is how many calls, and how many replies, one file of vectors may hold.
const VectorsMax = 1000

// VectorID is our client order id in the vectors.
const VectorID = "rails-0001"

// Vectors are calls and replies with the one answer that a profile must give to each. They
// lie beside the profile, and an operator's own profile can have some too.
type Vectors struct {
	Schema  string        `json:"schema"` // rails.profile_vectors/v1
	Profile string        `json:"profile"`
	Calls   []CallVector  `json:"calls"`
	Replies []ReplyVector `json:"replies"`
}

// CallVector is one call: either Refused with its reason, or everything that it is read as.
type CallVector struct {
	Name      string         `json:"name"`
	Tool      string         `json:"tool"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
	Raw       string         `json:"raw,omitzero"`      // instead of arguments: a text that is no proper JSON
	Position  string         `json:"position,omitzero"` // what is held, for a close
	Refused   Reason         `json:"refused,omitzero"`
	Class     Class          `json:"class,omitzero"`
	Need      Need           `json:"need,omitzero"`
	Order     orderedTexts   `json:"order,omitzero"`
	Judged    bool           `json:"judged,omitzero"` // the gate takes it
	Forward   jsontext.Value `json:"forward,omitzero"`
}

// ReplyVector is one reply to a call of the tool.
type ReplyVector struct {
	Name       string         `json:"name"`
	Tool       string         `json:"tool"`
	Arguments  jsontext.Value `json:"arguments,omitzero"` // of the call that it answers; without, nothing is compared with one
	Structured jsontext.Value `json:"structured,omitzero"`
	Texts      []string       `json:"texts,omitzero"`
	IsError    bool           `json:"is_error,omitzero"`
	Outcome    Outcome        `json:"outcome"`
	OrderID    string         `json:"order_id,omitzero"`
	Token      string         `json:"token,omitzero"`
	Filled     string         `json:"filled,omitzero"`
}

// orderedTexts is an object of texts that keeps its order.
type orderedTexts []Word

// MarshalJSON writes the object.
func (o orderedTexts) MarshalJSON() ([]byte, error) {
	v := &value{kind: '{'}
	for _, w := range o {
		v.set(w.From, text(w.To))
	}
	return v.appendTo(nil), nil
}

// UnmarshalJSON reads an object of texts.
func (o *orderedTexts) UnmarshalJSON(b []byte) error {
	v, refusal := decode(b, ArgumentsBytesMax)
	if refusal != nil || v.kind != '{' {
		return errors.New("is not an object of texts")
	}
	for i, n := range v.names {
		if v.members[i].kind != '"' {
			return errors.New("is not an object of texts")
		}
		*o = append(*o, Word{n, v.members[i].text})
	}
	return nil
}

// LoadVectors reads a file of vectors: no unknown member, no name twice.
func LoadVectors(b []byte) (*Vectors, error) {
	var v Vectors
	if len(b) > strict.TextBytesMax {
		return nil, errors.New("the vectors are larger than " + strconv.Itoa(strict.TextBytesMax) + " bytes")
	}
	if err := json.Unmarshal(b, &v, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	switch {
	case v.Schema != "rails.profile_vectors/v1":
		return nil, errors.New("the schema is not rails.profile_vectors/v1")
	case len(v.Calls)+len(v.Replies) == 0:
		return nil, errors.New("there is no vector")
	case len(v.Calls) > VectorsMax || len(v.Replies) > VectorsMax:
		return nil, errors.New("there are more than " + strconv.Itoa(VectorsMax) + " vectors")
	}
	return &v, nil
}

// Mismatch is a vector to which the profile gives another answer.
type Mismatch struct {
	Vector string `json:"vector"`
	What   string `json:"what"`
	Want   string `json:"want"`
	Got    string `json:"got"`
}

// Run gives every vector to the profile. An empty list: each answer is the expected one.
func (v *Vectors) Run(p *Profile) []Mismatch {
	var out []Mismatch
	note := func(vector, what, want, got string) {
		if want != got {
			out = append(out, Mismatch{vector, what, want, got})
		}
	}
	note("the file", "profile", v.Profile, p.ID)
	for i := range v.Calls {
		v.Calls[i].run(p, note)
	}
	for i := range v.Replies {
		v.Replies[i].run(p, note)
	}
	return out
}

// Answer fills in what the profile makes of the call, in place of what was expected.
func (c *CallVector) Answer(p *Profile) {
	raw := []byte(c.Arguments)
	if c.Raw != "" {
		raw = []byte(c.Raw)
	}
	*c = CallVector{Name: c.Name, Tool: c.Tool, Arguments: c.Arguments, Raw: c.Raw, Position: c.Position}
	r, refusal := p.Read(c.Tool, raw)
	if refusal == nil && c.Position != "" {
		if held, err := money.ParseQuantity(c.Position); err == nil {
			r, refusal = r.Closing(held)
		}
	}
	if refusal != nil {
		c.Refused = refusal.Reason
		return
	}
	c.Class, c.Need, c.Order, c.Forward = r.Class, r.Need, r.Facts(), r.Forward(VectorID)
	_, unjudged := r.Intent()
	c.Judged = unjudged == nil
}

func (c *CallVector) run(p *Profile, note func(vector, what, want, got string)) {
	got := *c
	got.Answer(p)
	note(c.Name, "refused", string(c.Refused), string(got.Refused))
	note(c.Name, "class", string(c.Class), string(got.Class))
	note(c.Name, "need", string(c.Need), string(got.Need))
	note(c.Name, "judged", strconv.FormatBool(c.Judged), strconv.FormatBool(got.Judged))
	note(c.Name, "forward", compact(c.Forward), compact(got.Forward))
	for _, w := range c.Order {
		note(c.Name, w.From, w.To, got.Order.of(w.From))
	}
	for _, w := range got.Order {
		if !slices.ContainsFunc(c.Order, func(x Word) bool { return x.From == w.From }) {
			note(c.Name, w.From, "", w.To)
		}
	}
}

func (o orderedTexts) of(name string) string {
	for _, w := range o {
		if w.From == name {
			return w.To
		}
	}
	return ""
}

func compact(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	out, refusal := decode(v, ArgumentsBytesMax)
	if refusal != nil {
		return string(v)
	}
	return string(out.appendTo(nil))
}

// Answer fills in what the profile makes of the reply, in place of what was expected.
func (v *ReplyVector) Answer(p *Profile) {
	reply := Reply{Structured: v.Structured, Texts: v.Texts, IsError: v.IsError}
	proof := Proof{Outcome: InDoubt}
	if len(v.Arguments) == 0 {
		proof, _ = p.Outcome(v.Tool, reply)
	} else if r, refusal := p.Read(v.Tool, v.Arguments); refusal == nil {
		proof = r.Answer(VectorID, reply)
	}
	v.Outcome, v.OrderID, v.Token, v.Filled = proof.Outcome, proof.OrderID, proof.Token, proof.Filled
}

func (v *ReplyVector) run(p *Profile, note func(vector, what, want, got string)) {
	got := *v
	got.Answer(p)
	note(v.Name, "outcome", string(v.Outcome), string(got.Outcome))
	note(v.Name, "order_id", v.OrderID, got.OrderID)
	note(v.Name, "token", v.Token, got.Token)
	note(v.Name, "filled", v.Filled, got.Filled)
}
