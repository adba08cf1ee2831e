package profile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/broker-rails/broker-rails/internal/money"
)

// Outcome is what a reply proves of an order.
type Outcome string

// Outcomes. The zero value proves nothing, as InDoubt does.
const (
	InDoubt             Outcome = "in_doubt"
	Accepted            Outcome = "accepted"
	Rejected            Outcome = "rejected"
	PendingConfirmation Outcome = "pending_confirmation" // not placed before its token is confirmed
	PendingApproval     Outcome = "pending_approval"     // not placed before a person agrees, who may change it
	Drafted             Outcome = "draft"                // kept by the broker, not placed
	CancelRequested     Outcome = "cancel_requested"
	Partial             Outcome = "partial" // of a basket: the items differ
)

// Reply is a tool result as the upstream server sent it.
type Reply struct {
	Structured []byte   // structuredContent; nil: none
	Texts      []string // of the content's text blocks
	Other      bool     // the content holds something that is not text
	IsError    bool
}

// Proof is what a reply proves.
type Proof struct {
	Outcome  Outcome
	OrderID  string // the broker's; may stand beside any outcome
	ClientID string
	Token    string
	Status   string
	Filled   string // quantity, as the broker spells it
	Average  string
	Symbol   string
	Side     string
	Quantity string
	Bound    []Word  // arguments that a confirmation must have, each with its JSON
	Items    []Proof // of a basket
}

// result are the rules that read a tool's replies.
type result struct {
	from  string // structured, json, lines, text
	rules []resultRule
	items string // path of a basket's list
}

type resultRule struct {
	isError  bool
	has      []string
	lacks    []string
	is       []oneOf
	textIs   string
	prefix   string
	outcome  Outcome
	id       string
	clientID string
	token    string
	status   string
	filled   string
	average  string
	symbol   string
	side     string
	quantity string
	each     bool   // for an item of the basket's list
	bind     []Word // argument of the confirmation, path in the reply
	noID     string // why what it accepts has no id
}

// Outcome reads a reply to a call. The first rule that matches decides; none: in doubt.
func (r *Reading) Outcome(reply Reply) Proof {
	if r.rules == nil || r.rules.result == nil {
		return Proof{Outcome: InDoubt}
	}
	return r.rules.result.read(reply)
}

// Outcome reads a reply to a tool by its name alone; not ok for a tool that is not mapped,
// or whose forms are read apart.
func (p *Profile) Outcome(tool string, reply Reply) (Proof, bool) {
	rs := p.ruleset(tool)
	if rs == nil || rs.result == nil {
		return Proof{Outcome: InDoubt}, false
	}
	return rs.result.read(reply), true
}

func (rs *result) read(reply Reply) Proof {
	v, whole, ok := rs.channel(reply)
	if !ok {
		return Proof{Outcome: InDoubt}
	}
	if rs.items != "" {
		if list := v.path(rs.items); list != nil && list.kind == '[' && !reply.IsError {
			return rs.basket(list)
		}
	}
	p := rs.match(v, whole, reply.IsError, false)
	if rs.contradicted(&p, reply, whole) {
		return Proof{Outcome: InDoubt}
	}
	return p
}

// contradicted reports whether the place in the reply that the profile does not read says
// something else by the same rules. Servers put one answer in both; what is only prose says
// nothing here.
func (rs *result) contradicted(p *Proof, reply Reply, whole string) bool {
	var other []byte
	switch {
	case reply.Structured == nil || whole == "" || p.Outcome == InDoubt:
		return false
	case rs.from == "structured":
		other = []byte(whole)
	case rs.from == "json":
		other = reply.Structured
	default:
		return false
	}
	v, refusal := decode(other, ReplyBytesMax)
	if refusal != nil {
		return rs.from == "json" // structured content is JSON
	}
	second := rs.match(v, "", reply.IsError, false)
	return second.Outcome != InDoubt && (second.Outcome != p.Outcome || second.OrderID != p.OrderID || second.Token != p.Token)
}

// channel takes the one place in the reply that the profile reads: text elsewhere in it
// can say what it likes.
func (rs *result) channel(reply Reply) (v *value, whole string, ok bool) {
	if len(reply.Texts) == 1 && !reply.Other {
		whole = reply.Texts[0]
	}
	if len(whole) > ReplyBytesMax {
		return nil, "", false
	}
	var refusal *Refusal
	switch rs.from {
	case "structured":
		if reply.Structured == nil {
			return nil, whole, whole != ""
		}
		v, refusal = decode(reply.Structured, ReplyBytesMax)
	case "json":
		if whole == "" {
			return nil, "", false
		}
		if v, refusal = decode([]byte(whole), ReplyBytesMax); refusal != nil {
			return nil, whole, true // a text: only rules on the text can match
		}
	case "lines":
		return lines(whole), whole, whole != ""
	case "text":
		return nil, whole, whole != ""
	default:
		return nil, "", false
	}
	return v, whole, refusal == nil
}

// lines reads "key: value" lines. A key that stands twice makes the whole unreadable.
func lines(s string) *value {
	v := &value{kind: '{'}
	for line := range strings.SplitSeq(s, "\n") {
		key, val, found := strings.Cut(line, ": ")
		if !found || !plain(key, 64) {
			continue
		}
		if v.get(key) != nil || len(v.names) >= 256 {
			return nil
		}
		v.set(key, text(strings.TrimRight(val, "\r")))
	}
	return v
}

func (rs *result) match(v *value, whole string, isError, each bool) Proof {
	for i := range rs.rules {
		r := &rs.rules[i]
		if r.isError != isError || r.each != each || !r.holds(v, whole) {
			continue
		}
		p := Proof{
			Outcome: r.outcome, OrderID: v.word(r.id), ClientID: v.word(r.clientID), Token: v.word(r.token), Status: v.word(r.status),
			Filled: v.word(r.filled), Average: v.word(r.average), Symbol: v.word(r.symbol), Side: v.word(r.side), Quantity: v.word(r.quantity),
		}
		for _, w := range r.bind {
			if at := v.path(w.To); at != nil {
				p.Bound = append(p.Bound, Word{w.From, string(at.appendTo(nil))})
			}
		}
		return r.sound(p)
	}
	return Proof{Outcome: InDoubt}
}

// sound takes back what is not what the rule promises: an acceptance without an id, a
// question without its token, an id that is none. Figures that are no figures are left out.
func (r *resultRule) sound(p Proof) Proof {
	switch {
	case r.id != "" && p.OrderID == "" && r.outcome == Accepted, r.token != "" && p.Token == "", len(p.Bound) < len(r.bind):
		return Proof{Outcome: InDoubt, OrderID: p.OrderID}
	case !label(p.OrderID), !label(p.ClientID), !label(p.Token):
		return Proof{Outcome: InDoubt}
	}
	for _, figure := range []*string{&p.Filled, &p.Average, &p.Quantity} {
		if _, err := money.ParseQuantity(*figure); err != nil {
			*figure = ""
		}
	}
	for _, word := range []*string{&p.Status, &p.Symbol, &p.Side} {
		if !label(*word) {
			*word = ""
		}
	}
	return p
}

// label reports whether a text of a reply can stand in a journal: at most 128 visible ASCII
// characters. The empty text is one.
func label(s string) bool {
	return len(s) <= 128 && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
}

func (r *resultRule) holds(v *value, whole string) bool {
	for _, p := range r.has {
		if at := v.path(p); at == nil || at.kind == 'n' {
			return false
		}
	}
	for _, p := range r.lacks {
		if at := v.path(p); at != nil && at.kind != 'n' {
			return false
		}
	}
	for _, w := range r.is {
		if at := v.path(w.name); at == nil || at.kind == '{' || at.kind == '[' || !slices.Contains(w.words, at.text) {
			return false
		}
	}
	return (r.textIs == "" || whole == r.textIs) && (r.prefix == "" || strings.HasPrefix(whole, r.prefix))
}

// basket reads each item; what they come to together is the weakest that they agree on.
func (rs *result) basket(list *value) Proof {
	p := Proof{}
	for _, m := range list.members {
		item := rs.match(m, "", false, true)
		p.Items = append(p.Items, item)
		switch {
		case p.Outcome == "":
			p.Outcome = item.Outcome
		case item.Outcome == InDoubt || p.Outcome == InDoubt:
			p.Outcome = InDoubt
		case p.Outcome != item.Outcome:
			p.Outcome = Partial
		}
	}
	if p.Outcome == "" {
		p.Outcome = InDoubt
	}
	return p
}

// path finds a value by dotted names and list places.
func (v *value) path(p string) *value {
	for part := range strings.SplitSeq(p, ".") {
		if v == nil {
			return nil
		}
		v = v.member(part)
	}
	return v
}

// member finds a member of an object by its name, or of a list by its place.
func (v *value) member(part string) *value {
	if v == nil || v.kind != '[' {
		return v.get(part)
	}
	i, err := strconv.Atoi(part)
	if err != nil || i < 0 || i >= len(v.members) {
		return nil
	}
	return v.members[i]
}

// word is the text or the literal number at a path; empty for anything else.
func (v *value) word(p string) string {
	if p == "" {
		return ""
	}
	at := v.path(p)
	if at == nil || at.kind != '"' && at.kind != '0' {
		return ""
	}
	return at.text
}
